/*
 * model_test.c: invalid model files: every field of the head, a truncated file, tries that would
 * lead outside the file or in a circle.
 */
#include "tests/unit/embed/embed_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;
static struct slice file;

/* Expects the file to be refused with these bytes at this place. */
static void expect_refused(size_t at, const void *bytes, size_t size)
{
    uint8_t *place = (uint8_t *)file.data + at;
    uint8_t kept[16];
    struct model model;

    assert_true(size <= sizeof(kept));
    memcpy(kept, place, size);
    memcpy(place, bytes, size);
    assert_int_equal(model_open(file, &model), ERR_CORRUPT);
    memcpy(place, kept, size);
    assert_int_equal(model_open(file, &model), OK);
}

/* Goal: a file with another head is refused. Method: each field in turn, the extremes too. */
static void test_other_heads_are_refused(void **state)
{
    static const uint32_t numbers[] = {
        0, 2, 5, 100, MODEL_PIECES_MAX + 1, MODEL_NODES_MAX + 1, UINT32_MAX};

    (void)state;
    expect_refused(0, "ERRATAM1", 8);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        expect_refused(offsetof(struct model_head, weights), &numbers[i], 4);
        expect_refused(offsetof(struct model_head, node_count), &numbers[i], 4);
        expect_refused(offsetof(struct model_head, word_count), &numbers[i == 2 ? 3 : i], 4);
    }
    for (size_t at = offsetof(struct model_head, word_count);
         at <= offsetof(struct model_head, antonym_count); at += 4) {
        expect_refused(at, &numbers[6], 4);
    }
    expect_refused(offsetof(struct model_head, piece_count), &numbers[0], 4);
    expect_refused(offsetof(struct model_head, piece_count), &numbers[6], 4);
}

/* Goal: a cut or longer file is refused. Method: no bytes, part of the head, one section less. */
static void test_other_sizes_are_refused(void **state)
{
    const size_t sizes[] = {0, 8, sizeof(struct model_head), file.size - MODEL_ALIGN_BYTES,
                            file.size - 1};
    struct model model;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(model_open(slice_of(file.data, sizes[i]), &model), ERR_CORRUPT);
    }
}

/* Goal: no walk leaves the trie or runs in a circle. Method: a child that is its parent, children
 * beyond the last node, a piece beyond the vocabulary. */
static void test_damaged_tries_are_refused(void **state)
{
    struct model model;
    struct model_node node;

    (void)state;
    assert_int_equal(model_open(file, &model), OK);
    node = model.nodes[0];
    node.first_child = 0;
    expect_refused(sizeof(struct model_head), &node, sizeof(node));
    node.first_child = model.node_count;
    expect_refused(sizeof(struct model_head), &node, sizeof(node));
    node = model.nodes[0];
    node.child_count = UINT16_MAX;
    expect_refused(sizeof(struct model_head), &node, sizeof(node));
    node = model.nodes[0];
    node.piece = (uint16_t)model.piece_count;
    expect_refused(sizeof(struct model_head), &node, sizeof(node));
}

/* Goal: scores must be finite, since sums with others cannot be compared. Method: NaN, infinity. */
static void test_scores_must_be_finite(void **state)
{
    static const float numbers[] = {__builtin_nanf(""), -__builtin_inff()};
    struct model model;

    (void)state;
    assert_int_equal(model_open(file, &model), OK);
    for (size_t i = 0; i < 2; i++) {
        expect_refused((size_t)((const uint8_t *)&model.scores[7] - file.data), &numbers[i],
                       sizeof(float));
        expect_refused((size_t)((const uint8_t *)&model.timescales[7] - file.data), &numbers[i],
                       sizeof(float));
    }
}

/* Goal: no word or pair refers to an entry outside its list. Method: ends beyond the text and before the last end, a
 * scale that is not finite, pairs of words that do not exist. */
static void test_damaged_lists_are_refused(void **state)
{
    static const uint32_t ends[] = {1, UINT32_MAX, 4096};
    const float no_number = __builtin_nanf("");
    const struct model_antonym pairs[] = {{4, 0}, {0, 4}, {UINT16_MAX, UINT16_MAX}};
    struct model model;

    (void)state;
    assert_int_equal(model_open(file, &model), OK);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        expect_refused((size_t)((const uint8_t *)&model.words.ends[2] - file.data), &ends[i],
                       sizeof(ends[i]));
        expect_refused((size_t)((const uint8_t *)&model.antonym_words.ends[2] - file.data),
                       &ends[i], sizeof(ends[i]));
        expect_refused((size_t)((const uint8_t *)&model.antonyms[1] - file.data), &pairs[i],
                       sizeof(pairs[i]));
    }
    expect_refused((size_t)((const uint8_t *)&model.word_scales[1] - file.data), &no_number,
                   sizeof(no_number));
}

int model_test_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_heads_are_refused),
        cmocka_unit_test(test_other_sizes_are_refused),
        cmocka_unit_test(test_damaged_tries_are_refused),
        cmocka_unit_test(test_scores_must_be_finite),
        cmocka_unit_test(test_damaged_lists_are_refused),
    };
    struct model model;
    int failed = 0;

    arena_init(&arena, FIXTURE_ARENA_BYTES);
    file = fixture_model(&arena, MODEL_INT8, &model);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_deinit(&arena);
    return failed;
}
