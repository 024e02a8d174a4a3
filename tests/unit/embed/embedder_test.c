/*
 * embedder_test.c: n-grams, the joined vectors, the cache and the maps to shown scores.
 */
#include "server/domain/embed/calibration.h"
#include "server/domain/embed/embedder.h"
#include "tests/unit/embed/embed_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct arena arena;
static struct embedder *ngrams;
static struct embedder *with_model;

static float compare(const char *a, const char *b)
{
    const struct slice texts[2] = {slice_text(a), slice_text(b)};
    float vectors[2 * NGRAMS_WIDTH];

    assert_int_equal(embedder_embed(ngrams, &arena, SLICE("org"), texts, 2, vectors), OK);
    return embedder_cosine(vectors, vectors + NGRAMS_WIDTH, NGRAMS_WIDTH);
}

/* Goal: case, punctuation, white space and Unicode's forms do not count. Method: pairs of such. */
static void test_ngrams_ignore_form(void **state)
{
    (void)state;
    assert_true(compare("Cancel my order", "  cancel MY, order!\n") > 0.9999F);
    assert_true(compare("caf\xc3\xa9 noir", "cafe\xcc\x81 NOIR") > 0.9999F);
    assert_true(compare("\xef\xbc\xa1\xef\xbc\xa2\xef\xbc\xa3", "abc") > 0.9999F);
    assert_true(compare("", "") == 0);
    assert_true(compare("!?", "abc") == 0);
}

/* Goal: texts that share more words are nearer. Method: the same question, a part of it, another one. */
static void test_ngrams_order_texts(void **state)
{
    (void)state;
    assert_true(compare("reset my password", "reset the password") >
                compare("reset my password", "change the password"));
    assert_true(compare("reset my password", "change the password") >
                compare("reset my password", "trains to Oslo"));
    assert_true(compare("a", "a") > 0.9999F);
    assert_true(fabsf(compare("Stra\xc3\x9f"
                              "e",
                              "trains to Oslo")) < 0.3F);
}

/* Goal: bytes that are not UTF-8 and overlong texts are embedded. Method: such bytes, 1 MiB. */
static void test_any_bytes_are_embedded(void **state)
{
    size_t size = (size_t)1 << 20;
    char *text = (char *)arena_alloc(&arena, size);
    float vector[NGRAMS_WIDTH];
    struct slice texts[2] = {SLICE("\xff\xfe word \x80"), slice_of(text, size)};

    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(embedder_embed(ngrams, &arena, SLICE("org"), &texts[i], 1, vector), OK);
        assert_true(fabsf(embedder_cosine(vector, vector, NGRAMS_WIDTH) - 1) < 1e-5F);
    }
}

/* Goal: a text is computed once for its organisation, and a vector from the cache is the same. Method:
 * the counts, before and after other texts took all places. */
static void test_cache_keeps_vectors_by_organisation(void **state)
{
    static float first[EMBEDDER_WIDTH_MAX];
    static float again[EMBEDDER_WIDTH_MAX];
    struct slice text = SLICE("ab abc bc");

    (void)state;
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("one"), &text, 1, first), OK);
    assert_int_equal(embedder_read_counts(with_model).cache_hits, 0);
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("one"), &text, 1, again), OK);
    assert_int_equal(embedder_read_counts(with_model).cache_hits, 1);
    assert_memory_equal(first, again, sizeof(first));
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("two"), &text, 1, again), OK);
    assert_int_equal(embedder_read_counts(with_model).cache_hits, 1);
    assert_memory_equal(first, again, sizeof(first));
    for (uint32_t i = 0; i < 16; i++) {
        struct slice other = slice_of(&i, sizeof(i));

        assert_int_equal(embedder_embed(with_model, &arena, SLICE("one"), &other, 1, again), OK);
    }
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("one"), &text, 1, again), OK);
    assert_memory_equal(first, again, sizeof(first));
}

/* Goal: a full cache forgets old vectors, never mixes them. Method: more texts than places, twice. */
static void test_full_cache_forgets(void **state)
{
    static float vector[EMBEDDER_WIDTH_MAX];
    static float expected[EMBEDDER_WIDTH_MAX];
    uint64_t hits = embedder_read_counts(with_model).cache_hits;

    (void)state;
    for (uint32_t i = 0; i < EMBEDDER_CACHE_VECTORS + 200; i++) {
        char text[16];
        struct slice slice = slice_of(text, (size_t)snprintf(text, sizeof(text), "a%u", i % 5 + i));
        struct arena small;

        arena_init(&small, FIXTURE_ARENA_BYTES);
        assert_int_equal(embedder_embed(with_model, &small, SLICE("many"), &slice, 1, vector), OK);
        if (i == 0) {
            memcpy(expected, vector, sizeof(expected));
        }
        arena_deinit(&small);
    }
    assert_true(embedder_read_counts(with_model).cache_hits < hits + EMBEDDER_CACHE_VECTORS);
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("many"), &SLICE("a0"), 1, vector),
                     OK);
    assert_memory_equal(expected, vector, sizeof(expected));
}

/* Goal: the joined vectors have length 1, also of texts without one part; ids differ. Method: texts of
 * letters, of none. */
static void test_joined_vectors_have_length_one(void **state)
{
    const struct slice texts[3] = {SLICE("ab abc"), SLICE("!!"), SLICE("")};
    static float vectors[3 * EMBEDDER_WIDTH_MAX];
    const float wanted[3] = {1, 1, 0};

    (void)state;
    assert_int_equal(embedder_width(with_model), EMBEDDER_WIDTH_MAX);
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("len"), texts, 3, vectors), OK);
    for (size_t i = 0; i < 3; i++) {
        double squares = 0;

        for (size_t j = i * EMBEDDER_WIDTH_MAX; j < (i + 1) * EMBEDDER_WIDTH_MAX; j++) {
            squares += (double)vectors[j] * (double)vectors[j];
        }
        assert_true(fabs(squares - (double)wanted[i]) < 1e-5);
    }
    assert_false(slice_equal(embedder_id(ngrams), embedder_id(with_model)));
    assert_int_equal(embedder_id(ngrams).size, EMBEDDER_ID_BYTES);
    assert_true(embedder_has_model(with_model) && !embedder_has_model(ngrams));
}

/* Goal: a file that is not a model creates no embedder. Method: text, a model cut by one byte. */
static void test_other_files_are_refused(void **state)
{
    struct embedder *embedder = NULL;
    struct model model;
    struct slice file = fixture_model(&arena, MODEL_INT8, &model);

    (void)state;
    assert_int_equal(embedder_new(&arena, slice_of(file.data, file.size - 1), &embedder),
                     ERR_CORRUPT);
    assert_null(embedder);
}

/* Goal: the maps rise from 0 to 1. Method: each profile and kind of embedder, in steps of a thousandth;
 * values outside the range and no number. */
static void test_maps_rise(void **state)
{
    (void)state;
    for (int profile = 0; profile < CALIBRATION_COUNT; profile++) {
        for (int has_model = 0; has_model < 2; has_model++) {
            enum calibration_profile kind = (enum calibration_profile)profile;
            float last = -1;

            for (int i = -1000; i <= 1000; i++) {
                float shown = calibration_show(kind, has_model != 0, (float)i / 1000);

                assert_true(shown >= last && shown >= 0 && shown <= 1);
                last = shown;
            }
            assert_true(last == 1);
            assert_true(calibration_show(kind, has_model != 0, 7) == 1);
            assert_true(calibration_show(kind, has_model != 0, NAN) ==
                        calibration_show(kind, has_model != 0, -1));
        }
    }
    assert_true(fabsf(calibration_show(CALIBRATION_QUERY, true, 0.535F) - 0.8F) < 1e-4F);
    assert_true(fabsf(calibration_show(CALIBRATION_STRICT, false, 0.92F) - 0.8F) < 1e-4F);
}

static bool differ(const char *a, const char *b)
{
    bool result = false;

    assert_int_equal(calibration_compare_numbers(&arena, slice_text(a), slice_text(b), &result),
                     OK);
    return result;
}

/* Goal: texts with other numbers are found, other forms of the same number are not. Method: pairs. */
static void test_numbers_are_compared(void **state)
{
    (void)state;
    assert_false(differ("", "no number"));
    assert_false(differ("from 2 to 12", "12, not 2"));
    assert_false(differ("1,000 items", "1000 items"));
    assert_false(differ("item 007", "item 7."));
    assert_false(differ("\xef\xbc\x91\xef\xbc\x92", "12")); /* full-width digits */
    assert_true(differ("order 12", "order 13"));
    assert_true(differ("order 12", "an order"));
    assert_true(differ("2 and 2", "2"));
    assert_true(differ("version 1.5", "version 15"));
    assert_true(differ("0", "00.1"));
    assert_false(differ("0", "000"));
}

int embedder_test_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ngrams_ignore_form),
        cmocka_unit_test(test_ngrams_order_texts),
        cmocka_unit_test(test_any_bytes_are_embedded),
        cmocka_unit_test(test_cache_keeps_vectors_by_organisation),
        cmocka_unit_test(test_full_cache_forgets),
        cmocka_unit_test(test_joined_vectors_have_length_one),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_maps_rise),
        cmocka_unit_test(test_numbers_are_compared),
    };
    struct model model;
    int failed = 0;

    arena_init(&arena, (size_t)4 * FIXTURE_ARENA_BYTES);
    assert_int_equal(embedder_new(&arena, slice_of(NULL, 0), &ngrams), OK);
    assert_int_equal(embedder_new(&arena, fixture_model(&arena, MODEL_INT8, &model), &with_model),
                     OK);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    embedder_free(ngrams);
    embedder_free(with_model);
    arena_deinit(&arena);
    return failed;
}
