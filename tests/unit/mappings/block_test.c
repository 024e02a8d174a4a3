/*
 * block_test.c: blocks of similar SKUs: their bytes, and that the sum of rows is never too small.
 */
#include "tests/unit/mappings/mappings_tests.h"

#include "store/base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRIES 600

/* A plain list beside a block. */
struct model {
    struct trigrams sets[ENTRIES];
    uint64_t seqs[ENTRIES];
    size_t count;
};

static void draw_sku(struct fixture *fixture, char text[32])
{
    (void)snprintf(text, 32, "%c%c-%03zu-%c", (int)('a' + fixture_draw(fixture, 4)),
                   (int)('a' + fixture_draw(fixture, 4)), fixture_draw(fixture, 400),
                   (int)('a' + fixture_draw(fixture, 3)));
}

/* Checks that a block agrees with the list, and that no upper bound is below the shared number. */
static void check_block(struct slice bytes, const struct model *model, const struct trigrams *text)
{
    static struct similar_query query;
    struct similar_sums sums;
    struct similar_block block;
    size_t least = TRIGRAMS_MAX;

    assert_int_equal(similar_block_read(bytes, &block), OK);
    assert_int_equal(block.count, model->count);
    similar_query_init(&query, text);
    similar_block_sum(&block, &query, &sums);
    for (size_t i = 0; i < model->count; i++) {
        size_t shared = trigrams_count_shared(text, &model->sets[i]);
        size_t sum = similar_sums_get(&sums, i);

        assert_int_equal(similar_block_seq(&block, i), model->seqs[i]);
        assert_int_equal(similar_block_trigram_count(&block, i), model->sets[i].count);
        assert_int_equal(similar_block_find(&block, model->seqs[i]), i);
        assert_true(sum >= shared && sum <= text->count);
        least = model->sets[i].count < least ? model->sets[i].count : least;
    }
    assert_int_equal(block.least_trigrams, least);
    for (size_t from = 1; from <= text->count + 1; from++) {
        similar_lanes lanes;

        similar_sums_from(&sums, from, &lanes);
        for (size_t i = 0; i < SIMILAR_ENTRIES_MAX; i++) {
            bool expected = i < model->count && similar_sums_get(&sums, i) >= from;

            assert_int_equal(lanes[i / 64] >> i % 64 & 1, expected);
        }
    }
}

/* Goal: after each addition, change and removal the block equals the model, at all its sizes.
 * Method: random steps on both, first with more additions than removals, then with fewer. */
static void test_random_changes_equal_a_plain_list(void **state)
{
    struct fixture fixture;
    struct model *model = calloc(1, sizeof(*model));
    uint8_t bytes[SIMILAR_BLOCK_BYTES_MAX];
    struct slice block = {NULL, 0};
    char text[32];

    (void)state;
    fixture_init(&fixture);
    assert_non_null(model);
    for (size_t step = 0; step < 1400; step++) {
        struct trigrams *set = &model->sets[model->count];
        bool grows = fixture_draw(&fixture, 10) < (step < 900 ? 9 : 2);
        size_t entry = model->count > 0 ? fixture_draw(&fixture, model->count) : 0;

        if (model->count == 0 || (grows && model->count < SIMILAR_ENTRIES_MAX)) {
            draw_sku(&fixture, text);
            trigrams_read(slice_text(text), set);
            model->seqs[model->count] = step + 1;
            model->count++;
            assert_int_equal(similar_block_add(&fixture.arena, block, step + 1, set, &block), OK);
        } else if (step % 3 == 0) {
            model->seqs[entry] = step + 1;
            assert_int_equal(similar_block_replace(&fixture.arena, block, entry, step + 1, &block),
                             OK);
        } else {
            model->count--;
            model->sets[entry] = model->sets[model->count];
            model->seqs[entry] = model->seqs[model->count];
            assert_int_equal(similar_block_remove(&fixture.arena, block, entry, &block), OK);
            assert_int_equal(block.size == 0, model->count == 0);
        }
        assert_true(block.size <= sizeof(bytes));
        memcpy(bytes, block.data, block.size);
        block.data = bytes;
        if (model->count > 0 && step % 37 == 0) {
            draw_sku(&fixture, text);
            trigrams_read(slice_text(text), &model->sets[ENTRIES - 1]);
            check_block(block, model, &model->sets[ENTRIES - 1]);
        }
        fixture_forget(&fixture);
    }
    free(model);
    fixture_deinit(&fixture);
}

/* Goal: a change of a block's bytes is detected. Method: a block of two SKUs, its header, the
 * places of its bits, and the digest of all of it. */
static void test_bytes_of_a_block_never_change(void **state)
{
    static struct trigrams trigrams;
    struct fixture fixture;
    struct slice block = {NULL, 0};
    struct sha256_digest digest;
    char text[2 * SHA256_BYTES + 1] = {0};

    (void)state;
    fixture_init(&fixture);
    trigrams_read(SLICE("ab-1"), &trigrams);
    assert_int_equal(trigrams.count, 5);
    assert_int_equal(similar_block_add(&fixture.arena, block, 2, &trigrams, &block), OK);
    for (size_t i = 0; i < trigrams.count; i++) {
        assert_int_equal(block.data[8 + similar_row_of(trigrams.items[i])], 1);
    }
    trigrams_read(SLICE("ab-12"), &trigrams);
    assert_int_equal(
        similar_block_add(&fixture.arena, block, 0x0102030405060708, &trigrams, &block), OK);
    assert_int_equal(block.size, 8 + 168 + 8 * 2 + 8 * 8);
    assert_memory_equal(block.data, "\2\0\10\0\5\0\0\0", 8);
    assert_memory_equal(block.data + 8 + 168, "\5\0\6\0\0\0", 6);
    assert_memory_equal(block.data + 8 + 168 + 16, "\2\0\0\0\0\0\0\0\10\7\6\5\4\3\2\1", 16);
    digest = sha256(block);
    sha256_format(&digest, text);
    assert_string_equal(text, "b01658a1d06c3dd900490775330b9f32270c1267d6750dab5f228a1a19812e5f");
    fixture_deinit(&fixture);
}

/* Goal: bytes that are not a block are reported. Method: each part of the header, and the
 * length. */
static void test_damaged_block_is_corrupt(void **state)
{
    static struct trigrams trigrams;
    struct fixture fixture;
    struct similar_block read;
    struct slice block = {NULL, 0};
    uint8_t bytes[512] = {0};

    (void)state;
    fixture_init(&fixture);
    trigrams_read(SLICE("ab-1"), &trigrams);
    assert_int_equal(similar_block_add(&fixture.arena, block, 2, &trigrams, &block), OK);
    assert_true(block.size <= sizeof(bytes));
    for (size_t size = 0; size < block.size; size++) {
        assert_int_equal(similar_block_read(slice_of(block.data, size), &read), ERR_CORRUPT);
    }
    for (size_t at = 0; at < 4; at++) {
        memcpy(bytes, block.data, block.size);
        bytes[at] ^= 0x5a;
        assert_int_equal(similar_block_read(slice_of(bytes, block.size), &read), ERR_CORRUPT);
    }
    memcpy(bytes, block.data, block.size);
    bytes[0] = 0;
    assert_int_equal(similar_block_read(slice_of(bytes, block.size), &read), ERR_CORRUPT);
    fixture_deinit(&fixture);
}

int run_block_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_changes_equal_a_plain_list),
        cmocka_unit_test(test_bytes_of_a_block_never_change),
        cmocka_unit_test(test_damaged_block_is_corrupt),
    };

    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
