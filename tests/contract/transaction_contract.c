/*
 * transaction_contract.c: what a transaction promises: its own writes, all or nothing, snapshots.
 */
#include "tests/contract/contract.h"

#include <stdio.h>
#include <stdlib.h>

/* Goal: stored rows are found, deleted ones are not. Method: each call, in one transaction and the
 * next. */
static void test_stored_rows_are_found_and_deleted_ones_are_not(void **state)
{
    struct store_txn *txn = contract_begin(state, STORE_WRITE);
    struct contract_key key = contract_key(1, "a");

    contract_expect(txn, 1, "a", NULL);
    assert_int_equal(store_del(txn, CONTRACT_TABLE, contract_slice(&key)), ERR_NOT_FOUND);
    contract_put(txn, 1, "a", "first");
    contract_expect(txn, 1, "a", "first");
    contract_put(txn, 1, "a", "a second, longer value");
    contract_expect(txn, 1, "a", "a second, longer value");
    contract_put(txn, 1, "b", "");
    contract_expect(txn, 1, "b", "");
    contract_commit(txn);

    txn = contract_begin(state, STORE_WRITE);
    contract_expect(txn, 1, "a", "a second, longer value");
    contract_expect(txn, 1, "b", "");
    contract_expect(txn, 2, "a", NULL);
    assert_int_equal(store_del(txn, CONTRACT_TABLE, contract_slice(&key)), OK);
    contract_expect(txn, 1, "a", NULL);
    contract_commit(txn);

    txn = contract_begin(state, STORE_READ);
    contract_expect(txn, 1, "a", NULL);
    contract_expect(txn, 1, "b", "");
    store_abort(txn);
}

/* Goal: tables do not share keys. Method: one key in each, with a different value. */
static void test_tables_do_not_share_keys(void **state)
{
    struct store_txn *txn = contract_begin(state, STORE_WRITE);
    struct contract_key key = contract_key(1, "same");

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        uint8_t value = (uint8_t)i;

        assert_int_equal(
            store_put(txn, (enum store_table)i, contract_slice(&key), slice_of(&value, 1)), OK);
    }
    contract_commit(txn);
    txn = contract_begin(state, STORE_READ);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        struct slice value = {NULL, 0};

        assert_int_equal(store_get(txn, (enum store_table)i, contract_slice(&key), &value), OK);
        assert_int_equal(value.size, 1);
        assert_int_equal(value.data[0], i);
    }
    store_abort(txn);
}

/* Goal: an aborted transaction leaves nothing. Method: change, delete and add, then abort. */
static void test_abort_leaves_nothing(void **state)
{
    struct contract_key key = contract_key(1, "deleted");
    struct store_txn *txn = contract_begin(state, STORE_WRITE);

    contract_put(txn, 1, "kept", "as it was");
    contract_put(txn, 1, "deleted", "still here");
    contract_commit(txn);
    txn = contract_begin(state, STORE_WRITE);
    contract_put(txn, 1, "kept", "changed");
    contract_put(txn, 1, "added", "never");
    assert_int_equal(store_del(txn, CONTRACT_TABLE, contract_slice(&key)), OK);
    store_abort(txn);
    store_abort(NULL);
    txn = contract_begin(state, STORE_READ);
    contract_expect(txn, 1, "kept", "as it was");
    contract_expect(txn, 1, "deleted", "still here");
    contract_expect(txn, 1, "added", NULL);
    store_abort(txn);
}

/* Goal: a reader sees one snapshot. Method: readers begun before, between and after two commits,
 * read again at the end; slices borrowed at first are unchanged. */
static void test_readers_see_a_snapshot(void **state)
{
    struct contract_key key = contract_key(1, "row");
    struct store_txn *before = contract_begin(state, STORE_READ);
    struct store_txn *between = NULL;
    struct store_txn *after = NULL;
    struct slice borrowed = {NULL, 0};
    struct store_txn *txn = contract_begin(state, STORE_WRITE);

    contract_put(txn, 1, "row", "one");
    contract_expect(before, 1, "row", NULL);
    contract_commit(txn);
    between = contract_begin(state, STORE_READ);
    assert_int_equal(store_get(between, CONTRACT_TABLE, contract_slice(&key), &borrowed), OK);
    txn = contract_begin(state, STORE_WRITE);
    contract_put(txn, 1, "row", "two");
    contract_commit(txn);
    txn = contract_begin(state, STORE_WRITE);
    assert_int_equal(store_del(txn, CONTRACT_TABLE, contract_slice(&key)), OK);
    contract_commit(txn);
    after = contract_begin(state, STORE_READ);
    contract_expect(before, 1, "row", NULL);
    contract_expect(between, 1, "row", "one");
    assert_true(slice_equal(borrowed, SLICE("one")));
    contract_expect(after, 1, "row", NULL);
    store_abort(before);
    store_abort(between);
    store_abort(after);
}

static void expect_lag(void **state, uint64_t commits)
{
    struct store_stats stats = {0};

    assert_int_equal(store_stats(((struct contract *)*state)->backend, &stats), OK);
    assert_int_equal(stats.reader_lag_commits, commits);
}

/* Goal: a kept snapshot is reported, since pages freed after it cannot be reused. Method: readers of
 * several ages over commits; the oldest counts, and one that is reset holds nothing. */
static void test_oldest_kept_snapshot_is_reported(void **state)
{
    struct store_txn *old = contract_begin(state, STORE_READ);
    struct store_txn *young = NULL;
    struct store_txn *txn = NULL;

    expect_lag(state, 0);
    for (uint64_t commits = 1; commits <= 5; commits++) {
        txn = contract_begin(state, STORE_WRITE);
        contract_put(txn, 1, "row", commits % 2 == 0 ? "even" : "odd");
        contract_commit(txn);
        expect_lag(state, commits);
        if (commits == 3) {
            young = contract_begin(state, STORE_READ);
        }
    }
    store_reset(old);
    expect_lag(state, 2);
    assert_int_equal(store_renew(old), OK);
    expect_lag(state, 2);
    store_abort(young);
    expect_lag(state, 0);
    store_abort(old);
}

/* Goal: a kept reader sees the newest commit after each renew. Method: reset and renew around
 * commits, with a lookup and a walk each time. */
static void test_renewed_reader_sees_the_newest_commit(void **state)
{
    struct store_txn *reader = contract_begin(state, STORE_READ);

    for (int i = 0; i < 50; i++) {
        struct contract_key prefix = contract_key(1, "");
        struct store_cursor cursor;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        struct store_txn *txn = contract_begin(state, STORE_WRITE);
        char text[16];

        (void)snprintf(text, sizeof(text), "%d", i);
        contract_put(txn, 1, "row", text);
        contract_commit(txn);
        store_reset(reader);
        store_reset(reader); /* A second call is allowed. */
        assert_int_equal(store_renew(reader), OK);
        assert_int_equal(store_renew(reader), OK);
        contract_expect(reader, 1, "row", text);
        assert_int_equal(store_cursor_init(&cursor, reader, CONTRACT_TABLE, contract_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        assert_int_equal(store_cursor_next(&cursor, &key, &value), OK);
        assert_true(slice_equal(value, slice_text(text)));
        store_cursor_deinit(&cursor);
    }
    store_reset(reader);
    store_abort(reader);
}

/* Goal: the largest key and value are read back whole. Method: sizes around pages and at the
 * limits. */
static void test_largest_key_and_value_are_read_back(void **state)
{
    static const size_t sizes[] = {1, 2000, 4095, 4096, 4097, 65536, STORE_VALUE_BYTES_MAX};
    uint8_t *bytes = malloc(STORE_VALUE_BYTES_MAX);
    struct contract_key key = contract_key(1, "");
    struct store_txn *txn = contract_begin(state, STORE_WRITE);

    assert_non_null(bytes);
    key.size = STORE_KEY_BYTES_MAX;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        key.bytes[STORE_KEY_BYTES_MAX - 1] = (uint8_t)i;
        memset(bytes, (int)i + 1, sizes[i]);
        assert_int_equal(
            store_put(txn, CONTRACT_TABLE, contract_slice(&key), slice_of(bytes, sizes[i])), OK);
    }
    contract_commit(txn);
    txn = contract_begin(state, STORE_READ);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct slice value = {NULL, 0};

        key.bytes[STORE_KEY_BYTES_MAX - 1] = (uint8_t)i;
        memset(bytes, (int)i + 1, sizes[i]);
        assert_int_equal(store_get(txn, CONTRACT_TABLE, contract_slice(&key), &value), OK);
        assert_true(slice_equal(value, slice_of(bytes, sizes[i])));
    }
    store_abort(txn);
    free(bytes);
}

/* Goal: keys and values out of bounds never reach a back end. Method: one on either side of each. */
static void test_keys_and_values_out_of_bounds_are_refused(void **state)
{
    static uint8_t bytes[STORE_VALUE_BYTES_MAX + 1];
    struct store_txn *txn = contract_begin(state, STORE_WRITE);
    struct slice value = {NULL, 0};
    struct slice key = slice_of(bytes, 16);
    struct slice bad[] = {slice_of(bytes, 15), slice_of(bytes, STORE_KEY_BYTES_MAX + 1)};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(store_put(txn, CONTRACT_TABLE, bad[i], SLICE("x")), ERR_INTERNAL);
        assert_int_equal(store_append(txn, CONTRACT_TABLE, bad[i], SLICE("x")), ERR_INTERNAL);
        assert_int_equal(store_del(txn, CONTRACT_TABLE, bad[i]), ERR_INTERNAL);
        assert_int_equal(store_get(txn, CONTRACT_TABLE, bad[i], &value), ERR_INTERNAL);
    }
    assert_int_equal(store_put(txn, CONTRACT_TABLE, key, slice_of(bytes, sizeof(bytes))),
                     ERR_INTERNAL);
    assert_int_equal(store_get(txn, CONTRACT_TABLE, key, &value), ERR_NOT_FOUND);
    store_abort(txn);
}

/* Goal: append equals put for keys that grow within an organisation. Method: two organisations by
 * turns, read back in order. */
static void test_append_keeps_order_within_an_organisation(void **state)
{
    struct store_txn *txn = contract_begin(state, STORE_WRITE);

    for (uint8_t i = 0; i < 200; i++) {
        for (uint8_t org = 1; org <= 2; org++) {
            struct contract_key key = contract_key(org, "");

            key.bytes[key.size++] = i;
            assert_int_equal(
                store_append(txn, CONTRACT_TABLE, contract_slice(&key), slice_of(&i, 1)), OK);
        }
    }
    contract_commit(txn);
    txn = contract_begin(state, STORE_READ);
    for (uint8_t org = 1; org <= 2; org++) {
        struct contract_key prefix = contract_key(org, "");
        struct store_cursor cursor;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        assert_int_equal(store_cursor_init(&cursor, txn, CONTRACT_TABLE, contract_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        for (uint8_t i = 0; i < 200; i++) {
            assert_int_equal(store_cursor_next(&cursor, &key, &value), OK);
            assert_int_equal(value.data[0], i);
        }
        assert_int_equal(store_cursor_next(&cursor, &key, &value), ERR_NOT_FOUND);
        store_cursor_deinit(&cursor);
    }
    store_abort(txn);
}

int contract_run_transactions(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stored_rows_are_found_and_deleted_ones_are_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_tables_do_not_share_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_abort_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_readers_see_a_snapshot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_oldest_kept_snapshot_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(test_renewed_reader_sees_the_newest_commit, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_largest_key_and_value_are_read_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys_and_values_out_of_bounds_are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_append_keeps_order_within_an_organisation, setup,
                                        teardown),
    };

    return cmocka_run_group_tests_name("store transactions", tests, NULL, NULL);
}
