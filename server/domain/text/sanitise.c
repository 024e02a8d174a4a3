/*
 * sanitise.c: see sanitise.h. In profile EXAMPLE, single characters are dropped first; no later
 * rule creates such a character. Then the rules whose removals may create marks for other rules run
 * in rounds. For notes and guidelines a round has all rules, including NFKC, and finally the cut. A
 * text that a round leaves unchanged is a fixed point of all rules.
 */
#include "server/domain/text/sanitise.h"

#include "server/domain/text/allowed.h"
#include "server/domain/text/fold.h"
#include "server/domain/text/marks.h"
#include "server/domain/text/normalise.h"
#include "store/base/text.h"

#include <stdatomic.h>
#include <utf8proc.h>

#define NEXT_LINE 0x85
#define LINE_SEPARATOR 0x2028
#define PARAGRAPH_SEPARATOR 0x2029

static _Atomic uint64_t *fallback_counter(void)
{
    static _Atomic uint64_t counter;

    return &counter;
}

uint64_t sanitise_fallback_count(void)
{
    return atomic_load_explicit(fallback_counter(), memory_order_relaxed);
}

/* Returns the result for a text that cannot be made safe. */
static struct sanitised give_up(void)
{
    atomic_fetch_add_explicit(fallback_counter(), 1, memory_order_relaxed);
    return (struct sanitised){.failed = true};
}

/* Bytes that may start a character that changes, or may be part of a mark. */
static const bool stops_plain[256] = {[0 ... '\n' - 1] = true,
                                      ['\n' + 1 ... 0x1F] = true,
                                      [':'] = true,
                                      ['<'] = true,
                                      ['['] = true,
                                      ['{'] = true,
                                      ['}'] = true,
                                      [0x7F ... 0xFF] = true};

/* ASCII characters with which a mark may begin, except a role at the start of a line. */
static const bool begins_mark[0x80] = {
    ['<'] = true, ['['] = true, ['{'] = true, ['}'] = true, ['`'] = true, ['~'] = true};

/* A dash beside a space or at an end may follow a role; one within a word or a number cannot. */
static bool has_dash_apart(struct slice text)
{
    const uint8_t *end = text.data + text.size;
    const uint8_t *dash = memchr(text.data, '-', text.size);

    while (dash != NULL) {
        if (dash == text.data || dash[-1] <= ' ' || dash + 1 == end || dash[1] <= ' ') {
            return true;
        }
        dash = memchr(dash + 1, '-', (size_t)(end - dash) - 1);
    }
    return false;
}

/* Returns whether a leaf cannot contain a part of a mark, as most leaves: numbers, codes and
 * words. */
static bool is_plain(struct slice text)
{
    size_t at = 0;

    while (at < text.size && !stops_plain[text.data[at]]) {
        at++;
    }
    return at == text.size && (text.size == 0 || !has_dash_apart(text));
}

static bool is_line_end(uint32_t code_point)
{
    return (code_point >= '\n' && code_point <= '\r') || code_point == NEXT_LINE ||
           code_point == LINE_SEPARATOR || code_point == PARAGRAPH_SEPARATOR;
}

static bool is_control(uint32_t code_point)
{
    return (code_point < 0x20 && code_point != '\n') || (code_point >= 0x7F && code_point <= 0x9F);
}

/* Returns whether the character is neither changed nor dropped by itself, as in most texts. */
static bool is_printable_ascii(uint32_t code_point)
{
    return code_point >= 0x20 && code_point < 0x7F;
}

/* Decodes a character to itself, a line feed or a space. Returns false if it is dropped. */
static bool decode_one(struct slice text, size_t *at, uint32_t *ret_code_point)
{
    uint32_t code_point = text_next(text, at);

    if (code_point == '\r' && *at < text.size && text.data[*at] == '\n') {
        return false;
    }
    if (is_line_end(code_point)) {
        code_point = '\n';
    } else if (code_point == '\t') {
        code_point = ' ';
    } else if (fold_is_ignorable(code_point)) {
        return false;
    }
    *ret_code_point = code_point;
    return true;
}

/* Decodes the text, drops invisible characters, and normalises line ends and tabs. */
static void decode(struct slice text, struct points *points)
{
    size_t at = 0;
    size_t count = 0;

    while (at < text.size) {
        uint32_t code_point = text.data[at];

        if (is_printable_ascii(code_point)) {
            at++;
        } else if (!decode_one(text, &at, &code_point)) {
            continue;
        }
        points->at[count] = code_point;
        count++;
    }
    points->count = count;
}

static void drop_controls(struct points *points)
{
    const struct points all = *points;
    size_t kept = 0;
    size_t at = 0;

    while (at < all.count) {
        uint32_t code_point = all.at[at];

        if (is_control(code_point)) {
            size_t gone = marks_match_ansi(all, at);

            at += gone > 0 ? gone : 1;
            continue;
        }
        all.at[kept] = code_point;
        kept++;
        at++;
    }
    points->count = kept;
}

/* Returns the length of the mark other than a role that begins at `at`; 0 if there is none. */
static size_t match_mark(struct points points, size_t at, bool fences)
{
    size_t size = fences ? marks_match_fence(points, at) : 0;

    if (size > 0 || !marks_may_begin(points.at[at])) {
        return size;
    }
    size = marks_match_template(points, at);
    return size > 0 ? size : marks_match_chat(points, at);
}

/* Returns whether a role may begin at `at`, on a line that contains only lead characters so far: at
 * its start, or at the first character after a lead and its spaces. */
static bool may_begin_role(struct points points, size_t at)
{
    return at == 0 || points.at[at - 1] == '\n' || !fold_is_space(points.at[at]);
}

/* Removes all present marks; returns false if there were none. */
static bool drop_marks(struct points *points, bool fences)
{
    const struct points all = *points;
    bool after_lead = true;
    size_t no_role_before = 0; /* no role follows the decoration up to here */
    size_t kept = 0;
    size_t at = 0;

    while (at < all.count) {
        uint32_t code_point = all.at[at];
        bool is_role_place = after_lead && at >= no_role_before && may_begin_role(all, at);
        bool may_begin = code_point >= 0x80 || begins_mark[code_point];
        size_t gone = is_role_place ? marks_match_role(all, at, &no_role_before) : 0;

        if (gone == 0 && may_begin) {
            gone = match_mark(all, at, fences);
        }

        if (gone > 0) {
            at += gone;
            continue;
        }
        after_lead = code_point == '\n' || (after_lead && marks_is_lead(all, at));
        all.at[kept] = code_point;
        kept++;
        at++;
    }
    points->count = kept;
    return kept < all.count;
}

static enum err encode(struct arena *arena, struct points points, size_t bytes_max,
                       struct slice *ret_text)
{
    uint8_t *bytes = arena_alloc(arena, bytes_max + 4);
    size_t size = 0;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < points.count; i++) {
        if (is_printable_ascii(points.at[i])) {
            bytes[size] = (uint8_t)points.at[i];
            size++;
        } else {
            size += text_encode(points.at[i], bytes + size);
        }
    }
    *ret_text = slice_of(bytes, size);
    return OK;
}

static enum err sanitise_leaf(struct arena *arena, struct slice text,
                              struct sanitised *ret_sanitised)
{
    struct points points = {NULL, 0};
    unsigned rounds_max = SANITISE_ROUNDS_MAX;

    if (is_plain(text)) {
        *ret_sanitised = (struct sanitised){.text = text};
        return OK;
    }
    if (!text_is_utf8(text)) {
        *ret_sanitised = give_up();
        return OK;
    }
    points.at = arena_alloc(arena, text.size * sizeof(uint32_t));
    if (points.at == NULL) {
        return ERR_MEMORY;
    }
    decode(text, &points);
    drop_controls(&points);
    if (points.count > SANITISE_LONG_CHARACTERS) {
        rounds_max = SANITISE_LONG_ROUNDS_MAX;
    }
    for (unsigned round = 0; drop_marks(&points, false); round++) {
        if (round == rounds_max) {
            *ret_sanitised = give_up();
            return OK;
        }
    }
    ret_sanitised->failed = false;
    return encode(arena, points, text.size, &ret_sanitised->text);
}

/* Drops the characters that notes may not contain, and normalises spaces; returns false if nothing
 * changed. */
static bool keep_allowed(struct points *points)
{
    size_t kept = 0;
    bool changed = false;

    for (size_t at = 0; at < points->count; at++) {
        uint32_t code_point = points->at[at];

        if (allowed_in_field(code_point)) {
            points->at[kept] = code_point;
            kept++;
        } else if (fold_is_space(code_point)) {
            points->at[kept] = ' ';
            kept++;
            changed = true;
        }
    }
    changed = changed || kept < points->count;
    points->count = kept;
    return changed;
}

/* Cuts to `max` code points, at the last boundary of a grapheme cluster; a cluster that is longer
 * than the limit is cut within. */
static bool cut(struct points *points, size_t max)
{
    utf8proc_int32_t state = 0;
    size_t end = 0;

    if (points->count <= max) {
        return false;
    }
    for (size_t at = 1; at <= max; at++) {
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)points->at[at - 1],
                                             (utf8proc_int32_t)points->at[at], &state)) {
            end = at;
        }
    }
    points->count = end > 0 ? end : max;
    return true;
}

/* Applies all rules once, and the cut if they changed nothing; returns false if nothing changed. */
static bool run_round(struct points *points, struct points *spare, size_t characters_max,
                      bool *is_cut)
{
    bool changed = keep_allowed(points);

    changed = normalise_drop_stacked(points) || changed;
    changed = normalise_nfkc(points, spare, SANITISE_FIELD_READ_MAX) || changed;
    changed = drop_marks(points, true) || changed;
    if (!changed && cut(points, characters_max)) {
        *is_cut = true;
        changed = true;
    }
    return changed;
}

/* Returns whether a quick scan shows that no rule changes the text. */
static bool is_plain_field(struct slice text, size_t characters_max)
{
    return text.size <= characters_max && is_plain(text) &&
           memchr(text.data, '`', text.size) == NULL && memchr(text.data, '~', text.size) == NULL;
}

static enum err sanitise_field(struct arena *arena, struct slice text, size_t characters_max,
                               struct sanitised *ret_sanitised)
{
    const size_t bytes = SANITISE_FIELD_READ_MAX * sizeof(uint32_t);
    struct points points = {NULL, 0};
    struct points spare = {NULL, 0};
    struct slice read = text_first_characters(text, SANITISE_FIELD_READ_MAX);
    bool is_cut = read.size < text.size;

    if (text.size == 0 || is_plain_field(text, characters_max)) {
        *ret_sanitised = (struct sanitised){.text = text};
        return OK;
    }
    if (!text_is_utf8(text)) {
        *ret_sanitised = give_up();
        return OK;
    }
    points.at = arena_alloc(arena, bytes);
    spare.at = arena_alloc(arena, bytes);
    if (points.at == NULL || spare.at == NULL) {
        return ERR_MEMORY;
    }
    decode(read, &points);
    (void)normalise_drop_stacked(&points);
    (void)normalise_nfkc(&points, &spare, SANITISE_FIELD_READ_MAX);
    drop_controls(&points);
    for (unsigned round = 0; run_round(&points, &spare, characters_max, &is_cut); round++) {
        if (round == SANITISE_ROUNDS_MAX) {
            *ret_sanitised = give_up();
            return OK;
        }
    }
    *ret_sanitised = (struct sanitised){.is_cut = is_cut};
    return encode(arena, points, points.count * 4, &ret_sanitised->text);
}

struct sanitised sanitise_text(struct arena *arena, enum sanitise_profile profile,
                               struct slice text)
{
    struct sanitised sanitised = {.failed = false};

    switch (profile) {
    case SANITISE_NOTE:
    case SANITISE_GUIDELINE: /* the same, except for the quotes, which are added later */
        return sanitise_note(arena, text, SANITISE_FIELD_CHARACTERS_MAX);
    case SANITISE_EXAMPLE:
        return sanitise_leaf(arena, text, &sanitised) == OK ? sanitised : give_up();
    }
    return give_up();
}

struct sanitised sanitise_note(struct arena *arena, struct slice text, size_t characters_max)
{
    struct sanitised sanitised = {.failed = false};
    size_t max = characters_max < SANITISE_FIELD_CHARACTERS_MAX ? characters_max
                                                                : SANITISE_FIELD_CHARACTERS_MAX;

    return sanitise_field(arena, text, max, &sanitised) == OK ? sanitised : give_up();
}

enum err sanitise_example(struct arena *arena, struct slice text, struct slice *ret_text)
{
    struct sanitised sanitised = {.failed = false};
    enum err err = sanitise_leaf(arena, text, &sanitised);

    if (err == OK) {
        *ret_text = sanitised.text;
    }
    return err;
}
