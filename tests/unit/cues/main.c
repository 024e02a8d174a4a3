/*
 * main.c: messages read as feedback on the turn before.
 */
#include "tests/unit/cues/cues_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct arena cues_arena;
const struct cue_lexicon *cues_lexicon;
static struct arena lexicon_arena;

int cues_setup(void **state)
{
    (void)state;
    arena_init(&lexicon_arena, (size_t)16 << 20);
    arena_init(&cues_arena, (size_t)16 << 20);
    return cue_lexicon_new(&lexicon_arena, &cues_lexicon) == OK ? 0 : -1;
}

int cues_teardown(void **state)
{
    (void)state;
    arena_deinit(&cues_arena);
    arena_deinit(&lexicon_arena);
    return 0;
}

const struct reading *cues_read(const struct example *example)
{
    const struct reading_input input = {
        .message = slice_text(example->message),
        .previous_query = slice_text(example->query),
        .previous_response = slice_text(example->response),
    };
    struct reading *reading = NULL;

    arena_reset(&cues_arena);
    reading = arena_calloc(&cues_arena, 1, sizeof(*reading));
    assert_non_null(reading);
    assert_int_equal(reading_of(&cues_arena, cues_lexicon, &input, reading), OK);
    return reading;
}

struct detection cues_detect(const struct example *example)
{
    const struct detect_signals signals = {
        .has_similarity = example->similarity >= 0,
        .similarity = example->similarity,
    };

    return detect_feedback(cues_read(example), &signals);
}

int main(void)
{
    return run_words_tests() + run_difference_tests() + run_detect_tests() + run_veto_tests();
}
