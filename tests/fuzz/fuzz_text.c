/*
 * fuzz_text.c: any bytes as text that is on its way to a prompt (server/domain/text), in each profile.
 * What comes out is UTF-8, bounded, the same when it is done again, and has nothing left that acts: looked
 * for by the independent code of promises.c, and by the sanitiser's own measures. A hint made of it is JSON
 * that says the same; a quotation made of its pieces opens and closes where its notes do. With an odd
 * first byte the input names pieces of a table, so that marks meet each other.
 */
#include "server/domain/text/hint.h"
#include "server/domain/text/marks.h"
#include "server/domain/text/quote.h"
#include "server/domain/text/sanitise.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/text/promises.h"

#include <stdio.h>

#define ARENA_BYTES ((size_t)64 << 20)

static const char *const pieces[] = {"{",
                                     "}",
                                     "{{",
                                     "<",
                                     "|",
                                     ">",
                                     "<|",
                                     "|>",
                                     "im_end",
                                     "[",
                                     "]",
                                     "INST",
                                     "/INST",
                                     "/",
                                     "SYS",
                                     "<<",
                                     "system",
                                     "assistant",
                                     "user",
                                     "human",
                                     ":",
                                     "\n",
                                     " ",
                                     "**",
                                     "#",
                                     "\x1b",
                                     "\x1b[0m",
                                     "\x1b]0;a",
                                     "\x07",
                                     "\r\n",
                                     "\xe2\x80\x8b",
                                     "\xe2\x80\xae",
                                     "\xc2\x9b",
                                     "\xc2\x85",
                                     "\xef\xbd\x9b",
                                     "\xef\xbd\x9c",
                                     "\xcc\x81",
                                     "\xd1\x95",
                                     "tool",
                                     "a",
                                     "\xe2\x80\xa8",
                                     "\xf3\xa0\x81\xa1",
                                     "im_start",
                                     "\\",
                                     "\"",
                                     "5",
                                     "-",
                                     "`",
                                     "```",
                                     "~~",
                                     "~",
                                     "\xef\xbd\x80", /* full-width grave */
                                     "\xcb\x8b", /* a letter like a grave */
                                     "\xe2\x9f\x85", /* the quote marks */
                                     "\xe2\x9f\x86",
                                     "\xef\xac\x86", /* a ligature of s and t */
                                     "\xef\xb7\xba", /* decomposes to 18 */
                                     "\xcd\x84", /* a mark that is two */
                                     "\xcc\xb8", /* a stroke through what is before */
                                     "\xe2\x80\x8d", /* joins emoji */
                                     "\xf0\x9f\x91\xa9",
                                     "\xf0\x9f\x86\x82", /* S in a black frame */
                                     "\xe1\x84\x80", /* Hangul, to be composed */
                                     "\xe1\x85\xa1",
                                     "\xe3\x80\x80", /* a wide space */
                                     "\xef\xbc\x9a", /* a wide colon */
                                     "developer",
                                     "<s>",
                                     "[|",
                                     "|]",
                                     "Honest words are here, and more of them. "};

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

static struct slice build(struct arena *arena, struct slice choices)
{
    struct buffer text;

    buffer_init(&text, arena, choices.size * 4);
    for (size_t i = 0; i < choices.size; i++) {
        buffer_append(&text, slice_text(pieces[choices.data[i] % COUNT_OF(pieces)]));
    }
    ASSERT(buffer_ok(&text));
    return buffer_slice(&text);
}

static struct slice sanitise(struct arena *arena, struct slice text)
{
    struct slice clean = {NULL, 0};

    ASSERT(sanitise_example(arena, text, &clean) == OK);
    return clean;
}

static void expect_nothing(const char *broken)
{
    if (broken != NULL) {
        (void)fprintf(stderr, "%s\n", broken);
    }
    ASSERT(broken == NULL);
}

/* Checks that no mark begins anywhere, by the sanitiser's own functions. */
static void check_marks(struct arena *arena, struct slice text)
{
    struct points points = {arena_calloc(arena, text.size + 1, sizeof(uint32_t)), 0};

    ASSERT(points.at != NULL);
    for (size_t at = 0; at < text.size; points.count++) {
        points.at[points.count] = text_next(text, &at);
    }
    for (size_t i = 0; i < points.count; i++) {
        size_t start = 0;

        ASSERT(marks_match_template(points, i) == 0);
        ASSERT(marks_match_chat(points, i) == 0);
        ASSERT(marks_match_ansi(points, i) == 0);
        ASSERT((i > 0 && points.at[i - 1] != '\n') || marks_match_role(points, i, &start) == 0);
    }
}

/* Checks the guarantees of one profile, and that sanitising again changes nothing. */
static void check_profile(struct arena *arena, enum sanitise_profile profile, struct slice text)
{
    struct sanitised clean = sanitise_text(arena, profile, text);
    struct sanitised again = sanitise_text(arena, profile, clean.text);

    ASSERT(!clean.failed || clean.text.size == 0);
    ASSERT(!again.failed);
    ASSERT(slice_equal(again.text, clean.text));
    ASSERT(profile != SANITISE_EXAMPLE || clean.text.size <= text.size);
    expect_nothing(promises_broken_by(profile, clean.text));
    check_marks(arena, clean.text);
}

/* Checks that the result of a limit equals the result for only the text within the limit. */
static void check_cut(struct arena *arena, struct slice text, size_t characters_max)
{
    struct sanitised cut = sanitise_note(arena, text, characters_max);
    struct sanitised again = sanitise_note(arena, cut.text, characters_max);

    ASSERT(text_first_characters(cut.text, characters_max).size == cut.text.size);
    ASSERT(slice_equal(again.text, cut.text));
    ASSERT(slice_equal(sanitise_text(arena, SANITISE_NOTE, cut.text).text, cut.text));
}

/* The text in pieces, and those that come of them, each as a note. */
static void check_quote(struct arena *arena, struct slice text, size_t piece_bytes)
{
    struct quote quote;
    struct slice rest = text;
    size_t notes = 0;

    quote_init(&quote, arena);
    while (rest.size > 0 && notes < 16) {
        struct slice note =
            text_first_bytes(rest, piece_bytes < rest.size ? piece_bytes : rest.size);

        note = note.size > 0 ? note : rest;
        ASSERT(quote_add(&quote, note) == OK);
        rest = slice_after(rest, note.size);
        notes++;
    }
    expect_nothing(promises_broken_by_quote(buffer_slice(&quote.text), notes));
    /* A quotation within a quotation is one note again. */
    rest = buffer_slice(&quote.text);
    quote_init(&quote, arena);
    ASSERT(quote_add(&quote, rest) == OK);
    expect_nothing(promises_broken_by_quote(buffer_slice(&quote.text), 1));
}

static void check_text(struct arena *arena, struct slice text, size_t number)
{
    check_profile(arena, SANITISE_NOTE, text);
    check_profile(arena, SANITISE_GUIDELINE, text);
    check_profile(arena, SANITISE_EXAMPLE, text);
    check_cut(arena, text, number);
    if (text_is_utf8(text)) {
        check_quote(arena, text, number + 1);
    }
}

/* Checks that no string of a checked text, and no name, needs sanitising. */
static void check_leaves(struct arena *arena, struct slice json)
{
    struct slice text;

    for (size_t at = 0; at < json.size;) {
        size_t end = at + 1;

        if (json.data[at] == '"') {
            end = json_skip_value(json, at);
            ASSERT(json_string(arena, slice_of(json.data + at, end - at), &text) == OK);
            ASSERT(slice_equal(sanitise(arena, text), text));
        }
        at = end;
    }
}

static void check_hint(struct arena *arena, struct slice snippet, struct slice output)
{
    const struct json_rules rules = {.depth_max = JSON_FIELD_DEPTH_MAX};
    const struct json_rules deeper = {.depth_max = JSON_FIELD_DEPTH_MAX + 1};
    struct json_problem problem;
    struct json_value value;
    struct slice piece;

    if (json_check(arena, output, &rules, &value, &problem) != OK || value.kind != JSON_OBJECT) {
        value.text = SLICE("{}");
    }
    ASSERT(hint_make_piece(arena, snippet, value.text, &piece) == OK);
    ASSERT(json_check(arena, piece, &deeper, &value, &problem) == OK);
    ASSERT(value.kind == JSON_OBJECT);
    check_leaves(arena, piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    bool built = (fuzz_take_byte(&input) & 1) != 0;
    size_t snippet = fuzz_take_number(&input, 1);
    struct arena arena;
    struct slice text;

    arena_init(&arena, ARENA_BYTES);
    text = built ? build(&arena, input.rest) : input.rest;
    check_text(&arena, text, snippet);
    if (snippet <= text.size) {
        check_hint(&arena, text_first_bytes(text, snippet), slice_after(text, snippet));
    }
    arena_deinit(&arena);
    return 0;
}
