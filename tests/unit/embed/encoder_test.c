/*
 * encoder_test.c: the forward pass with random weights: the same bits by every path and in every
 * batch, and near a computation with floats.
 */
#include "tests/unit/embed/embed_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TEXTS 9

static struct arena arena;
static struct model model;
static struct tokens texts[TEXTS];

static double cosine(const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < MODEL_WIDE; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return sum;
}

static void embed(const struct model *with, enum linear_path path, float *vectors)
{
    assert_int_equal(encoder_embed(with, path, &arena, texts, TEXTS, vectors), OK);
}

/* Goal: every path gives the same bits, with length 1, and nothing for an empty text. Method: texts
 * of 0 to 128 tokens, so that every remainder of six rows occurs. */
static void test_paths_agree(void **state)
{
    static float best[TEXTS * MODEL_WIDE];
    static float plain[TEXTS * MODEL_WIDE];

    (void)state;
    embed(&model, linear_best_path(), best);
    embed(&model, LINEAR_PLAIN, plain);
    assert_memory_equal(best, plain, sizeof(best));
    for (size_t i = 0; i < TEXTS; i++) {
        const float *vector = best + i * MODEL_WIDE;

        assert_true(fabs(cosine(vector, vector) - (texts[i].count > 0 ? 1 : 0)) < 1e-5);
    }
}

/* Goal: a text's vector does not depend on the texts beside it. Method: each text by itself. */
static void test_batches_change_nothing(void **state)
{
    static float batch[TEXTS * MODEL_WIDE];
    float single[MODEL_WIDE];

    (void)state;
    embed(&model, linear_best_path(), batch);
    for (size_t i = 0; i < TEXTS; i++) {
        assert_int_equal(encoder_embed(&model, linear_best_path(), &arena, &texts[i], 1, single),
                         OK);
        assert_memory_equal(single, batch + i * MODEL_WIDE, sizeof(single));
    }
}

/* Goal: rounding weights to int8 changes little. Method: the same source with floats. */
static void test_rounded_weights_are_near(void **state)
{
    static float rounded[TEXTS * MODEL_WIDE];
    static float exact[TEXTS * MODEL_WIDE];
    struct model floats;

    (void)state;
    (void)fixture_model(&arena, MODEL_FLOAT, &floats);
    embed(&model, linear_best_path(), rounded);
    embed(&floats, LINEAR_PLAIN, exact);
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i].count > 0) {
            assert_true(cosine(rounded + i * MODEL_WIDE, exact + i * MODEL_WIDE) > 0.999);
        }
    }
}

/* Goal: lack of memory is reported. Method: an arena that holds no row. */
static void test_lack_of_memory_is_reported(void **state)
{
    float vector[MODEL_WIDE];
    struct arena small;

    (void)state;
    arena_init(&small, 4096);
    assert_int_equal(encoder_embed(&model, LINEAR_PLAIN, &small, &texts[1], 1, vector), ERR_MEMORY);
    arena_deinit(&small);
}

int encoder_test_run(void)
{
    static const size_t counts[TEXTS] = {0, 1, 2, 3, 4, 5, 13, 40, MODEL_TOKENS_MAX};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_agree),
        cmocka_unit_test(test_batches_change_nothing),
        cmocka_unit_test(test_rounded_weights_are_near),
        cmocka_unit_test(test_lack_of_memory_is_reported),
    };
    int failed = 0;

    arena_init(&arena, FIXTURE_ARENA_BYTES);
    (void)fixture_model(&arena, MODEL_INT8, &model);
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i].count = counts[i];
        for (size_t j = 0; j < counts[i]; j++) {
            texts[i].ids[j] = (uint16_t)((i * 131 + j * 17) % 15);
        }
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_deinit(&arena);
    return failed;
}
