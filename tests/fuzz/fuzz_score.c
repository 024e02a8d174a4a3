/*
 * fuzz_score.c: any bytes as phrases and a text. The lines of the input are phrases, folded as those of rules are; the
 * last line is the text. The automaton finds exactly the phrases that a search for each finds; each line as a pattern is
 * read and has the gates of its words.
 */
#include "server/domain/scoring/phrases.h"
#include "server/domain/scoring/predicate.h"
#include "server/domain/scoring/score.h"
#include "server/domain/text/case_fold.h"
#include "store/base/assert.h"
#include "store/base/text.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define LINES_MAX 200
#define ARENA_BYTES ((size_t)16 << 20)

/* Reads a line as a pattern. */
static void check_pattern(struct arena *arena, struct slice line)
{
    const struct score_context context = {.missing_fields_enabled = true};
    struct predicate predicate;
    struct feature feature = {.kind = JSON_STRING};

    ASSERT(predicate_read(arena, line, &predicate) == OK);
    if (predicate.kind == PREDICATE_COMPARISON) {
        feature.text = predicate.value;
        ASSERT(predicate.name.size + 1 + predicate.value.size == line.size);
        ASSERT(predicate_holds(&predicate, &feature) == (predicate.operator_byte == '='));
    }
    ASSERT(predicate.phrase.size <= line.size * CASE_FOLD_GROWTH_MAX);
    ASSERT(score_weigh(7, score_gates_of(line), &context).suppressed_by == SCORE_GATE_UNSPECIFIED);
}

static void check_phrases(struct arena *arena, const struct slice *lines, size_t count,
                          struct slice text)
{
    bool found[LINES_MAX] = {false};
    struct phrases phrases;

    ASSERT(phrases_build(arena, lines, count, &phrases) == OK);
    phrases_find(&phrases, text, found);
    for (size_t i = 0; i < count; i++) {
        bool occurs =
            text.size > 0 && memmem(text.data, text.size, lines[i].data, lines[i].size) != NULL;

        ASSERT(found[i] == occurs);
    }
}

/* Removes one line from the input. */
static struct slice take_line(struct slice *rest)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;
    struct slice line = slice_of(rest->data, size);

    *rest = slice_after(*rest, end != NULL ? size + 1 : size);
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of(data, size);
    struct slice lines[LINES_MAX];
    struct slice text = {NULL, 0};
    struct arena arena;
    size_t count = 0;

    if (!text_is_utf8(rest)) {
        return 0;
    }
    arena_init(&arena, ARENA_BYTES);
    while (rest.size > 0) {
        struct slice line = take_line(&rest);

        check_pattern(&arena, line);
        ASSERT(case_fold(&arena, line, &text) == OK);
        if (count < LINES_MAX && text.size > 0 && rest.size > 0) {
            lines[count] = text;
            count++;
        }
    }
    check_phrases(&arena, lines, count, text);
    arena_deinit(&arena);
    return 0;
}
