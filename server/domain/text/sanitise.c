/*
 * sanitise.c: see sanitise.h. Characters that go by themselves go first and can't come back: none of
 * the later rules makes one. Then the rules that can uncover each other's marks run in rounds.
 */
#include "server/domain/text/sanitise.h"

#include "server/domain/text/fold.h"
#include "server/domain/text/marks.h"
#include "store/base/text.h"

#define NEXT_LINE 0x85
#define LINE_SEPARATOR 0x2028
#define PARAGRAPH_SEPARATOR 0x2029

/* Most leaves are numbers, codes and words: nothing in them can be part of a mark. */
static bool is_plain(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if ((byte < 0x20 && byte != '\n') || byte >= 0x7F || byte == '{' || byte == '}' ||
            byte == '<' || byte == '[' || byte == ':') {
            return false;
        }
    }
    return true;
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

/* What most text consists of: it is neither changed nor dropped by itself. */
static bool is_printable_ascii(uint32_t code_point)
{
    return code_point >= 0x20 && code_point < 0x7F;
}

/* What a character becomes: itself, a line feed, a space. False where it leaves no trace. */
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

/* Decodes, drops what leaves no trace, and makes all line ends and tabs one. */
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
    size_t kept = 0;
    size_t at = 0;

    while (at < points->count) {
        bool control = is_control(points->at[at]);
        size_t gone = control ? marks_match_ansi(*points, at) : 0;

        if (gone > 0) {
            at += gone;
            continue;
        }
        if (!control) {
            points->at[kept] = points->at[at];
            kept++;
        }
        at++;
    }
    points->count = kept;
}

/* The length of the mark that begins at `at`, 0 where none does. */
static size_t match_mark(struct points points, size_t at, bool line_start)
{
    size_t size = line_start ? marks_match_role(points, at) : 0;

    if (size > 0 || !marks_may_begin(points.at[at])) {
        return size;
    }
    size = marks_match_template(points, at);
    return size > 0 ? size : marks_match_chat(points, at);
}

/* Takes out the marks that are there now; false where there were none. */
static bool drop_marks(struct points *points)
{
    bool line_start = true;
    size_t kept = 0;
    size_t at = 0;

    while (at < points->count) {
        size_t gone = match_mark(*points, at, line_start);

        if (gone > 0) {
            at += gone;
            continue;
        }
        line_start = points->at[at] == '\n';
        points->at[kept] = points->at[at];
        kept++;
        at++;
    }
    if (kept == points->count) {
        return false;
    }
    points->count = kept;
    return true;
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

enum err sanitise_example(struct arena *arena, struct slice text, struct slice *ret_text)
{
    struct points points = {NULL, 0};

    if (is_plain(text)) {
        *ret_text = text;
        return OK;
    }
    if (!text_is_utf8(text)) {
        *ret_text = slice_of(NULL, 0);
        return OK;
    }
    points.at = arena_alloc(arena, text.size * sizeof(uint32_t));
    if (points.at == NULL) {
        return ERR_MEMORY;
    }
    decode(text, &points);
    drop_controls(&points);
    for (unsigned round = 0; drop_marks(&points); round++) {
        if (round == SANITISE_ROUNDS_MAX) {
            *ret_text = slice_of(NULL, 0);
            return OK;
        }
    }
    return encode(arena, points, text.size, ret_text);
}
