/*
 * tokens_test.c: the segmentation on a vocabulary of a few pieces, where each rule can be computed by
 * hand, and on bytes that are not a text.
 */
#include "tests/unit/embed/embed_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;
static struct model model;

static void expect(const char *text, const uint16_t *ids, size_t count)
{
    struct tokens tokens = fixture_tokens(&arena, &model, slice_text(text));

    assert_int_equal(tokens.count, count);
    assert_memory_equal(tokens.ids, ids, count * sizeof(ids[0]));
}

#define EXPECT(text, ...)                                                                          \
    expect(text, (const uint16_t[]){__VA_ARGS__},                                                  \
           sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

/* Goal: the segmentation with the highest sum of scores is found. Method: texts with two of them. */
static void test_best_sum_is_found(void **state)
{
    (void)state;
    EXPECT("b", 9, 7);
    EXPECT("bc", 9, 11); /* -4 instead of -6 */
    EXPECT("a", 12); /* -4.5 instead of -5 */
    EXPECT("ab", 9, 8); /* -7 instead of -7.5 */
    expect("", NULL, 0);
}

/* Goal: of equal sums the one with the later start is taken. Method: `abc` as a, bc or ab, c. */
static void test_later_start_wins_ties(void **state)
{
    (void)state;
    /* ▁+ab+c = -10; ▁a+bc = -8.5 */
    EXPECT("abc", 12, 11);
    EXPECT("a  b", 12, 9, 9, 7);
}

/* Goal: spaces become marks, and text is in NFKC. Method: full-width letters, a separate accent. */
static void test_text_is_normalised(void **state)
{
    (void)state;
    EXPECT("\xef\xbd\x82", 9, 7); /* full-width b */
    EXPECT("e\xcc\x81", 9, 13);
    EXPECT("\xc2\xa0", 9, 9); /* a no-break space */
    EXPECT("b b", 9, 7, 9, 7);
}

/* Goal: each run of unknown characters is one token. Method: letters without pieces, invalid UTF-8,
 * an incomplete piece. */
static void test_unknown_runs_are_one_token(void **state)
{
    (void)state;
    EXPECT("zzz", 9, 0);
    EXPECT("zz b", 9, 0, 9, 7);
    EXPECT("\xff\xfe\x80", 9, 0);
    EXPECT("\xe2\x96", 9, 0);
    EXPECT("\xf0\x9f\x98\x80", 9, 0);
    EXPECT("x", 9, 0); /* `xy` begins with it */
    EXPECT("xyb", 9, 0, 7); /* no piece ends before `y`, so it is better unknown */
}

/* Goal: a text is cut at 128 tokens and at the characters that are read. Method: long texts. */
static void test_long_texts_are_cut(void **state)
{
    size_t size = (size_t)1 << 20;
    char *text = (char *)arena_alloc(&arena, size + 1);
    struct tokens tokens;

    (void)state;
    assert_non_null(text);
    memset(text, 'b', size);
    tokens = fixture_tokens(&arena, &model, slice_of(text, size));
    assert_int_equal(tokens.count, MODEL_TOKENS_MAX);
    assert_int_equal(tokens.ids[0], 9);
    assert_int_equal(tokens.ids[MODEL_TOKENS_MAX - 1], 7);
    memset(text, 'z', size);
    tokens = fixture_tokens(&arena, &model, slice_of(text, size));
    assert_int_equal(tokens.count, 2);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        memcpy(text + i, "\xef\xb7\xba", 3); /* becomes 18 characters in NFKC */
    }
    tokens = fixture_tokens(&arena, &model, slice_of(text, size / 3 * 3));
    assert_true(tokens.count <= MODEL_TOKENS_MAX);
}

/* Goal: the memory of a text is bounded. Method: an arena with less than it needs reports it. */
static void test_lack_of_memory_is_reported(void **state)
{
    struct tokens tokens;
    struct arena small;

    (void)state;
    arena_init(&small, 1024);
    assert_int_equal(tokens_of(&model, &small,
                               SLICE("a text that needs more than this: "
                                     "a text that needs more than this"),
                               &tokens),
                     ERR_MEMORY);
    arena_deinit(&small);
}

int tokens_test_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_sum_is_found),
        cmocka_unit_test(test_later_start_wins_ties),
        cmocka_unit_test(test_text_is_normalised),
        cmocka_unit_test(test_unknown_runs_are_one_token),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_lack_of_memory_is_reported),
    };
    int failed = 0;

    arena_init(&arena, FIXTURE_ARENA_BYTES);
    (void)fixture_model(&arena, MODEL_INT8, &model);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_deinit(&arena);
    return failed;
}
