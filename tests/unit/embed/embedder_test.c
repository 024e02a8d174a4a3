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
#include <time.h>

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

/* Fills a text with as many copies of some bytes as fit. */
static struct slice repeat(struct slice bytes, size_t size)
{
    char *text = (char *)arena_alloc(&arena, size);
    size_t count = size / bytes.size;

    assert_non_null(text);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * bytes.size, bytes.data, bytes.size);
    }
    return slice_of(text, count * bytes.size);
}

static double cpu_seconds(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Goal: no text takes more time or memory than a long ordinary one. Method: 4 MiB of one letter, of combining marks, of
 * right-to-left overrides, of characters that grow in NFKC, of words, apostrophes, digits and invalid bytes, each in an
 * arena of 10 MiB and beside each other; ten times the CPU time of the encoder's most tokens is allowed. */
static void test_hostile_texts_are_bounded(void **state)
{
    static const struct slice seeds[] = {SLICE("x"),
                                         SLICE("\xcc\x81"),
                                         SLICE("e\xcc\x81\xcc\x82"),
                                         SLICE("\xe2\x80\xae"
                                               "a"),
                                         SLICE("\xef\xb7\xba"),
                                         SLICE("on off "),
                                         SLICE("n't'"),
                                         SLICE("1,"),
                                         SLICE("0"),
                                         SLICE("\xff"),
                                         SLICE("\xf0\x9f\x98\x80"),
                                         SLICE(" ")};
    static float vectors[2 * EMBEDDER_WIDTH_MAX];
    struct slice plain[2] = {repeat(SLICE("a b c "), 4096), SLICE("")};
    double from = cpu_seconds();
    double allowed = 0;

    (void)state;
    assert_int_equal(embedder_embed(with_model, &arena, SLICE("plain"), plain, 1, vectors), OK);
    allowed = 10 * (cpu_seconds() - from) + 0.5;
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        const struct slice texts[2] = {repeat(seeds[i], (size_t)4 << 20), SLICE("on 1")};
        struct calibration result;
        struct arena small;

        from = cpu_seconds();
        arena_init(&small, (size_t)10 << 20);
        assert_int_equal(embedder_embed(with_model, &small, SLICE("bad"), texts, 2, vectors), OK);
        assert_int_equal(
            calibration_compare(with_model, &small, CALIBRATION_QUERY, texts,
                                (const float *const[2]){vectors, vectors + EMBEDDER_WIDTH_MAX},
                                &result),
            OK);
        arena_deinit(&small);
        assert_true(result.shown >= 0 && result.shown <= 1);
        assert_true(cpu_seconds() - from < allowed);
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
    assert_int_equal(embedder_kind(with_model), EMBEDDER_WORDS);
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

/* Goal: without words in the model the vectors have two parts. Method: such a model; a text with length 1. */
static void test_model_without_words_has_two_parts(void **state)
{
    struct make_source source = fixture_small_source(&arena);
    struct slice text = SLICE("ab cat");
    static float vector[EMBEDDER_WIDTH_MAX];
    struct embedder *embedder = NULL;
    struct slice file;

    (void)state;
    source.words.count = 0;
    assert_int_equal(make_model(&arena, &source, MODEL_INT8, &file), OK);
    assert_int_equal(embedder_new(&arena, file, &embedder), OK);
    assert_int_equal(embedder_kind(embedder), EMBEDDER_ENCODER);
    assert_int_equal(embedder_width(embedder), MODEL_WIDE + NGRAMS_WIDTH);
    assert_int_equal(embedder_embed(embedder, &arena, SLICE("two"), &text, 1, vector), OK);
    assert_true(fabsf(embedder_cosine(vector, vector, embedder_width(embedder)) - 1) < 1e-5F);
    embedder_free(embedder);
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
 * values outside the range, and NaN. */
static void test_maps_rise(void **state)
{
    (void)state;
    for (int profile = 0; profile < CALIBRATION_COUNT; profile++) {
        for (int kind = 0; kind < EMBEDDER_KINDS; kind++) {
            enum calibration_profile to = (enum calibration_profile)profile;
            enum embedder_kind of = (enum embedder_kind)kind;
            float last = -1;

            for (int i = -1000; i <= 1000; i++) {
                float shown = calibration_show(to, of, (float)i / 1000);

                assert_true(shown >= last && shown >= 0 && shown <= 1);
                last = shown;
            }
            assert_true(last == 1);
            assert_true(calibration_show(to, of, 7) == 1);
            assert_true(calibration_show(to, of, NAN) == calibration_show(to, of, -1));
        }
    }
}

/* Goal: the maps are those that were fitted. Method: the cosines of 0.8, for each profile and kind. */
static void test_maps_have_the_fitted_knots(void **state)
{
    static const float cosines[CALIBRATION_COUNT][EMBEDDER_KINDS] = {
        [CALIBRATION_QUERY] = {0.29F, 0.535F, 0.515F},
        [CALIBRATION_FEEDBACK] = {0.22F, 0.405F, 0.46F},
        [CALIBRATION_STRICT] = {0.92F, 0.93F, 0.93F}};

    (void)state;
    for (int profile = 0; profile < CALIBRATION_COUNT; profile++) {
        for (int kind = 0; kind < EMBEDDER_KINDS; kind++) {
            float shown = calibration_show((enum calibration_profile)profile,
                                           (enum embedder_kind)kind, cosines[profile][kind]);

            assert_true(fabsf(shown - 0.8F) < 1e-4F);
        }
    }
}

/* Goal: a profile's shares weigh the parts. Method: vectors that are equal in one part and at right angles in the
 * others, for each part; a zero vector. */
static void test_profiles_weigh_the_parts(void **state)
{
    static const float query[EMBEDDER_PARTS] = {0.5F, 0.25F, 0.25F};
    static const float feedback[EMBEDDER_PARTS] = {0.45F, 0.35F, 0.2F};
    const struct embedder_part_place *places = embedder_parts(EMBEDDER_WORDS);

    (void)state;
    for (size_t equal = 0; equal < EMBEDDER_PARTS; equal++) {
        float a[EMBEDDER_WIDTH_MAX] = {0};
        float b[EMBEDDER_WIDTH_MAX] = {0};
        float zero[EMBEDDER_WIDTH_MAX] = {0};

        for (size_t part = 0; part < EMBEDDER_PARTS; part++) {
            float size = sqrtf((float)places[part].share / 100);

            a[places[part].from] = size;
            b[places[part].from + (part == equal ? 0 : 1)] = size;
        }
        assert_true(fabsf(calibration_cosine(CALIBRATION_QUERY, EMBEDDER_WORDS, a, b) -
                          query[equal]) < 1e-5F);
        assert_true(fabsf(calibration_cosine(CALIBRATION_FEEDBACK, EMBEDDER_WORDS, a, b) -
                          feedback[equal]) < 1e-5F);
        assert_true(calibration_cosine(CALIBRATION_FEEDBACK, EMBEDDER_WORDS, a, zero) == 0);
    }
}

static struct calibration compare_by(enum calibration_profile profile, const char *a, const char *b)
{
    const struct slice texts[2] = {slice_text(a), slice_text(b)};
    static float vectors[2 * EMBEDDER_WIDTH_MAX];
    struct calibration result;

    assert_int_equal(embedder_embed(with_model, &arena, SLICE("cmp"), texts, 2, vectors), OK);
    assert_int_equal(calibration_compare(
                         with_model, &arena, profile, texts,
                         (const float *const[2]){vectors, vectors + EMBEDDER_WIDTH_MAX}, &result),
                     OK);
    return result;
}

/* Goal: numbers and antonyms limit the score of queries, and of nothing else. Method: texts that are nearly equal. */
static void test_vetoes_limit_the_score_of_queries(void **state)
{
    struct calibration same = compare_by(CALIBRATION_QUERY, "open the door", "Open the door!");
    struct calibration numbers = compare_by(CALIBRATION_QUERY, "open door 1", "open door 2");
    struct calibration opposite =
        compare_by(CALIBRATION_QUERY, "Opened the cat door", "closing the cat door");
    struct calibration strict =
        compare_by(CALIBRATION_STRICT, "opened the cat door 1", "closed the cat door 2");

    (void)state;
    assert_true(same.shown > 0.9F && !same.numbers_differ && !same.antonyms.found);
    assert_true(numbers.numbers_differ && numbers.shown <= CALIBRATION_VETO_SHOWN_MAX);
    assert_true(opposite.antonyms.found && opposite.shown <= CALIBRATION_VETO_SHOWN_MAX);
    assert_true(slice_equal(opposite.antonyms.first, SLICE("open")));
    assert_true(slice_equal(opposite.antonyms.second, SLICE("close")));
    assert_false(strict.numbers_differ || strict.antonyms.found);
    assert_true(strict.shown ==
                calibration_show(CALIBRATION_STRICT, EMBEDDER_WORDS, strict.cosine));
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
        cmocka_unit_test(test_model_without_words_has_two_parts),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_maps_rise),
        cmocka_unit_test(test_maps_have_the_fitted_knots),
        cmocka_unit_test(test_profiles_weigh_the_parts),
        cmocka_unit_test(test_vetoes_limit_the_score_of_queries),
        cmocka_unit_test(test_numbers_are_compared),
        cmocka_unit_test(test_hostile_texts_are_bounded),
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
