/*
 * similar_test.c: the search of similar SKUs has the result of a full scan.
 */
#include "tests/unit/mappings/mappings_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Computes the result by comparing each mapping of the customer; numbers are those of their events,
 * all of one organisation. */
static void find_plainly(struct fixture *fixture, struct store_txn *txn,
                         const struct similar_search *search, uint64_t last_seq,
                         struct similar_found *ret_found)
{
    static struct trigrams text;
    static struct trigrams other;

    ret_found->count = 0;
    trigrams_read(search->folded_customer_sku, &text);
    for (uint64_t seq = 1; seq <= last_seq; seq++) {
        struct mapping_pair pair;
        struct mapping_row row;
        size_t shared = 0;

        if (mapping_row_read(txn, fixture->org, seq, &row) != OK ||
            row.record.status != MAPPING_STATUS_CONFIRMED) {
            continue;
        }
        assert_int_equal(mapping_pair_of(&fixture->arena, &row.record, &pair), OK);
        trigrams_read(pair.folded_customer_sku, &other);
        shared = trigrams_count_shared(&text, &other);
        if (trigrams_are_similar(text.count, other.count, shared)) {
            similar_found_add(ret_found, search->limit, &row,
                              trigrams_similarity(text.count, other.count, shared));
        }
    }
}

static void check_same(const struct similar_found *a, const struct similar_found *b)
{
    assert_false(a->is_incomplete);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->items[i].row.seq, b->items[i].row.seq);
        assert_true(a->items[i].similarity == b->items[i].similarity);
    }
}

static void draw_sku(struct fixture *fixture, char text[64])
{
    static const char *const heads[] = {"bolt", "Nut", "washer m8",
                                        "\xc3\x9c"
                                        "ber"};

    (void)snprintf(text, 64, "%s-%zu/%c", heads[fixture_draw(fixture, 4)],
                   fixture_draw(fixture, 3000), (int)('A' + fixture_draw(fixture, 6)));
}

/* Goal: the best candidates are found after any history. Method: 900 random judgements, so that
 * blocks are filled, split and emptied; searches with each kind of limit against a plain scan. */
static void test_best_candidates_are_found(void **state)
{
    static struct similar_found found;
    static struct similar_found plain;
    struct fixture fixture;
    struct store_txn *txn = NULL;
    struct log_head head;
    char text[64];
    char internal[16];
    size_t incomplete_count = 0;

    (void)state;
    fixture_init(&fixture);
    txn = fixture_begin(&fixture, STORE_WRITE);
    log_begin_write(txn, NULL);
    for (size_t i = 0; i < 900; i++) {
        draw_sku(&fixture, text);
        (void)snprintf(internal, sizeof(internal), "I-%zu", fixture_draw(&fixture, 3));
        fixture_judge(&fixture, txn,
                      fixture_draw(&fixture, 8) == 0 ? FEEDBACK_EVENT_TYPE_MAPPING_REJECTED
                                                     : FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
                      text, internal);
    }
    assert_int_equal(log_read_head(txn, fixture.org, &head), OK);
    for (size_t i = 0; i < 150; i++) {
        struct similar_search search = {
            .org = fixture.org,
            .customer_id = SLICE(FIXTURE_CUSTOMER),
            .limit = 1 + i % 5,
        };

        draw_sku(&fixture, text);
        text[i % 3 == 0 ? 4 : strlen(text) - 1] = 'x';
        assert_int_equal(sku_fold(&fixture.arena, slice_text(text), &search.folded_customer_sku),
                         OK);
        assert_int_equal(similar_find(&fixture.arena, txn, &search, &found), OK);
        find_plainly(&fixture, txn, &search, head.last_seq, &plain);
        if (found.is_incomplete) {
            incomplete_count++;
        } else {
            check_same(&found, &plain);
        }
        fixture_forget(&fixture);
    }
    assert_true(incomplete_count < 15);
    store_abort(txn);
    fixture_deinit(&fixture);
}

static void confirm_flanges(struct fixture *fixture, struct store_txn *txn, size_t first,
                            size_t count)
{
    char text[64];

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "flange %zu", first + i);
        fixture_judge(fixture, txn, FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED, text, "X");
    }
}

/* Goal: if there are more equally good candidates than are compared, the result is marked as
 * incomplete; SKUs rejected for the customer's SKU are not returned. Method: 100 SKUs that differ
 * only in their last digits. */
static void test_more_candidates_than_compared_are_incomplete(void **state)
{
    static struct similar_found found;
    struct slice rejected = SLICE("x");
    struct similar_search search = {
        .customer_id = SLICE(FIXTURE_CUSTOMER),
        .folded_customer_sku = SLICE("flange x-y"),
        .limit = 5,
    };
    struct fixture fixture;
    struct store_txn *txn = NULL;

    (void)state;
    fixture_init(&fixture);
    search.org = fixture.org;
    txn = fixture_begin(&fixture, STORE_WRITE);
    log_begin_write(txn, NULL);
    assert_int_equal(similar_find(&fixture.arena, txn, &search, &found), OK);
    assert_int_equal(found.count, 0);
    confirm_flanges(&fixture, txn, 1000, 50);
    assert_int_equal(similar_find(&fixture.arena, txn, &search, &found), OK);
    assert_int_equal(found.count, 5);
    assert_false(found.is_incomplete); /* all were compared */
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(found.items[i].row.seq, i + 1); /* among equal ones, the oldest */
    }
    confirm_flanges(&fixture, txn, 1050, 50);
    search.rejected = &rejected;
    search.rejected_count = 1;
    assert_int_equal(similar_find(&fixture.arena, txn, &search, &found), OK);
    assert_int_equal(found.count, 0);
    assert_true(found.is_incomplete);
    store_abort(txn);
    fixture_deinit(&fixture);
}

int run_similar_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_candidates_are_found),
        cmocka_unit_test(test_more_candidates_than_compared_are_incomplete),
    };

    return cmocka_run_group_tests_name("similar", tests, NULL, NULL);
}
