/*
 * fuzz_text.c: any bytes as text that is on its way to a prompt (server/domain/text). What comes
 * out is UTF-8, never longer, the same when it is done again, and has nothing left that acts:
 * looked for here by plain comparison, beside the sanitiser's own measures. A hint made of it is
 * JSON that says the same. With an odd first byte the input names pieces of a table, so that marks
 * meet each other.
 */
#include "server/domain/text/hint.h"
#include "server/domain/text/marks.h"
#include "server/domain/text/sanitise.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)64 << 20)

/* What stands in a text nowhere, however it came there. */
static const char
    *const never[] = {"{{",           "}}",           "<|im_start|>", "<|im_end|>", "[INST]",
                      "[/INST]",      "<<SYS>>",      "\x1b",         "\r",         "\t",
                      "\x7f",         "\xe2\x80\xae", /* U+202E: right to left from here */
                      "\xe2\x80\x8b", /* U+200B: a space of no width */
                      "\xc2\x9b" /* U+009B: begins an ANSI escape */};

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
                                     "`"};

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

/* No mark begins anywhere, by the sanitiser's own measures. */
static void check_marks(struct arena *arena, struct slice text)
{
    struct points points = {arena_calloc(arena, text.size + 1, sizeof(uint32_t)), 0};

    ASSERT(points.at != NULL);
    for (size_t at = 0; at < text.size; points.count++) {
        points.at[points.count] = text_next(text, &at);
    }
    for (size_t i = 0; i < points.count; i++) {
        ASSERT(marks_match_template(points, i) == 0);
        ASSERT(marks_match_chat(points, i) == 0);
        ASSERT(marks_match_ansi(points, i) == 0);
        ASSERT((i > 0 && points.at[i - 1] != '\n') || marks_match_role(points, i) == 0);
    }
}

static void check_text(struct arena *arena, struct slice text)
{
    struct slice clean = sanitise(arena, text);

    ASSERT(clean.size <= text.size);
    ASSERT(text_is_utf8(clean));
    ASSERT(slice_equal(sanitise(arena, clean), clean));
    for (size_t i = 0; i < COUNT_OF(never); i++) {
        ASSERT(clean.size == 0 ||
               memmem(clean.data, clean.size, never[i], strlen(never[i])) == NULL);
    }
    check_marks(arena, clean);
}

/* No string of a checked text, and no name, has anything left to take out. */
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
    check_text(&arena, text);
    if (snippet <= text.size) {
        check_hint(&arena, text_first_bytes(text, snippet), slice_after(text, snippet));
    }
    arena_deinit(&arena);
    return 0;
}
