/*
 * cursor_contract.c: what a cursor promises: both orders, its prefix and nothing else, its start, and
 * the end that a change to its table is.
 */
#include "tests/contract/contract.h"

/* Expects exactly these names (after the prefix's 16 bytes), in this order; NULL ends them. */
static void expect_walk(struct store_txn *txn, struct slice prefix, struct slice from,
                        enum store_order order, const char *const *names)
{
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    assert_int_equal(store_cursor_init(&cursor, txn, CONTRACT_TABLE, prefix, from, order), OK);
    for (size_t i = 0; names[i] != NULL; i++) {
        assert_int_equal(store_cursor_next(&cursor, &key, &value), OK);
        assert_true(slice_equal(slice_after(key, 16), slice_text(names[i])));
        assert_true(slice_equal(value, slice_text(names[i])));
    }
    assert_int_equal(store_cursor_next(&cursor, &key, &value), ERR_NOT_FOUND);
    store_cursor_deinit(&cursor);
    store_cursor_deinit(&cursor);
}

static void fill(void **state)
{
    static const char *const names[] = {"a", "aa", "ab", "b", "ba", "c"};
    struct store_txn *txn = contract_begin(state, STORE_WRITE);

    for (uint8_t org = 1; org <= 3; org++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            contract_put(txn, org, names[i], names[i]);
        }
    }
    contract_commit(txn);
}

/* Goal: a cursor returns only the prefix's rows, in either order. Method: prefixes at the table's
 * start, middle and end, whole organisations and parts of one. */
static void test_prefix_walk_returns_only_its_rows(void **state)
{
    static const char *const up[] = {"a", "aa", "ab", "b", "ba", "c", NULL};
    static const char *const down[] = {"c", "ba", "b", "ab", "aa", "a", NULL};
    static const char *const part_up[] = {"a", "aa", "ab", NULL};
    static const char *const part_down[] = {"ab", "aa", "a", NULL};
    static const char *const none[] = {NULL};
    struct slice start = {NULL, 0};
    struct store_txn *txn = NULL;

    fill(state);
    txn = contract_begin(state, STORE_READ);
    for (uint8_t org = 1; org <= 3; org++) {
        struct contract_key whole = contract_key(org, "");
        struct contract_key part = contract_key(org, "a");

        expect_walk(txn, contract_slice(&whole), start, STORE_ASCENDING, up);
        expect_walk(txn, contract_slice(&whole), start, STORE_DESCENDING, down);
        expect_walk(txn, contract_slice(&part), start, STORE_ASCENDING, part_up);
        expect_walk(txn, contract_slice(&part), start, STORE_DESCENDING, part_down);
    }
    for (uint8_t org = 0; org <= 4; org = (uint8_t)(org + 4)) {
        struct contract_key empty = contract_key(org, "");

        expect_walk(txn, contract_slice(&empty), start, STORE_ASCENDING, none);
        expect_walk(txn, contract_slice(&empty), start, STORE_DESCENDING, none);
    }
    store_abort(txn);
}

/* Goal: a cursor starts at the given key. Method: an existing key, one between, one at either end,
 * in both orders. */
static void test_walk_starts_at_the_given_key(void **state)
{
    static const char *const from_ab_up[] = {"ab", "b", "ba", "c", NULL};
    static const char *const from_ab_down[] = {"ab", "aa", "a", NULL};
    static const char *const from_az_up[] = {"b", "ba", "c", NULL};
    static const char *const from_z_down[] = {"c", "ba", "b", "ab", "aa", "a", NULL};
    static const char *const none[] = {NULL};
    struct contract_key prefix = contract_key(2, "");
    struct contract_key ab = contract_key(2, "ab");
    struct contract_key az = contract_key(2, "az");
    struct contract_key z = contract_key(2, "z");
    struct contract_key first = contract_key(2, "A");
    struct store_txn *txn = NULL;

    fill(state);
    txn = contract_begin(state, STORE_READ);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&ab), STORE_ASCENDING, from_ab_up);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&ab), STORE_DESCENDING, from_ab_down);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&az), STORE_ASCENDING, from_az_up);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&az), STORE_DESCENDING, from_ab_down);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&z), STORE_ASCENDING, none);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&z), STORE_DESCENDING, from_z_down);
    expect_walk(txn, contract_slice(&prefix), contract_slice(&first), STORE_DESCENDING, none);
    store_abort(txn);
}

/* Goal: a prefix of 0xff bytes, after which no key is possible, has an end, too. Method: rows under
 * such organisations, with nothing and with something after. */
static void test_prefix_of_ff_bytes_has_an_end(void **state)
{
    static const char *const up[] = {"\xff", "\xff\xff", "\xff\xff\xff", NULL};
    static const char *const down[] = {"\xff\xff\xff", "\xff\xff", "\xff", NULL};
    struct contract_key whole = contract_key(0xff, "");
    struct contract_key part = contract_key(0xff, "\xff");
    struct contract_key before = contract_key(0xfe, "\xff");
    struct slice start = {NULL, 0};
    struct store_txn *txn = contract_begin(state, STORE_WRITE);

    for (unsigned org = 0xfe; org <= 0xff; org++) {
        for (size_t i = 0; up[i] != NULL; i++) {
            contract_put(txn, (uint8_t)org, up[i], up[i]);
        }
    }
    contract_commit(txn);
    txn = contract_begin(state, STORE_READ);
    expect_walk(txn, contract_slice(&whole), start, STORE_ASCENDING, up);
    expect_walk(txn, contract_slice(&whole), start, STORE_DESCENDING, down);
    expect_walk(txn, contract_slice(&part), start, STORE_DESCENDING, down);
    expect_walk(txn, contract_slice(&before), start, STORE_ASCENDING, up);
    expect_walk(txn, contract_slice(&before), start, STORE_DESCENDING, down);
    store_abort(txn);
}

/* Goal: a writer's cursor sees its own changes, and a change to the table ends it. Method: put and
 * delete, walk; then put while a cursor is open. */
static void test_writer_cursor_sees_own_changes(void **state)
{
    static const char *const names[] = {"a", "aa", "b", "ba", "bb", "c", NULL};
    struct contract_key prefix = contract_key(1, "");
    struct contract_key gone = contract_key(1, "ab");
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct store_cursor cursor;
    struct store_txn *txn = NULL;

    fill(state);
    txn = contract_begin(state, STORE_WRITE);
    contract_put(txn, 1, "bb", "bb");
    assert_int_equal(store_del(txn, CONTRACT_TABLE, contract_slice(&gone)), OK);
    expect_walk(txn, contract_slice(&prefix), slice_of(NULL, 0), STORE_ASCENDING, names);
    assert_int_equal(store_cursor_init(&cursor, txn, CONTRACT_TABLE, contract_slice(&prefix),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     OK);
    assert_int_equal(store_cursor_next(&cursor, &key, &value), OK);
    assert_int_equal(store_put(txn, TABLE_ENTITY, contract_slice(&gone), SLICE("elsewhere")), OK);
    assert_int_equal(store_cursor_next(&cursor, &key, &value), OK);
    contract_put(txn, 1, "cc", "cc");
    assert_int_equal(store_cursor_next(&cursor, &key, &value), ERR_INTERNAL);
    store_cursor_deinit(&cursor);
    store_abort(txn);
}

/* Goal: several cursors on one table do not move each other. Method: two walks in step, in opposite
 * orders, in a reader that is renewed. */
static void test_cursors_of_one_table_are_independent(void **state)
{
    static const char *const names[] = {"a", "aa", "ab", "b", "ba", "c"};
    const size_t count = sizeof(names) / sizeof(names[0]);
    struct contract_key prefix = contract_key(2, "");
    struct store_txn *txn = NULL;

    fill(state);
    txn = contract_begin(state, STORE_READ);
    for (int round = 0; round < 3; round++) {
        struct store_cursor up;
        struct store_cursor down;
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        assert_int_equal(store_cursor_init(&up, txn, CONTRACT_TABLE, contract_slice(&prefix),
                                           slice_of(NULL, 0), STORE_ASCENDING),
                         OK);
        assert_int_equal(store_cursor_init(&down, txn, CONTRACT_TABLE, contract_slice(&prefix),
                                           slice_of(NULL, 0), STORE_DESCENDING),
                         OK);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(store_cursor_next(&up, &key, &value), OK);
            assert_true(slice_equal(value, slice_text(names[i])));
            assert_int_equal(store_cursor_next(&down, &key, &value), OK);
            assert_true(slice_equal(value, slice_text(names[count - 1 - i])));
        }
        store_cursor_deinit(&up);
        store_cursor_deinit(&down);
        store_reset(txn);
        assert_int_equal(store_renew(txn), OK);
    }
    store_abort(txn);
}

/* Goal: a cursor that could leave its organisation is refused. Method: a short prefix, a start
 * outside of the prefix. */
static void test_cursor_outside_of_an_organisation_is_refused(void **state)
{
    struct contract_key prefix = contract_key(1, "");
    struct contract_key other = contract_key(2, "a");
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct store_txn *txn = NULL;

    fill(state);
    txn = contract_begin(state, STORE_READ);
    assert_int_equal(store_cursor_init(&cursor, txn, CONTRACT_TABLE, slice_of(prefix.bytes, 15),
                                       slice_of(NULL, 0), STORE_ASCENDING),
                     ERR_INTERNAL);
    assert_int_equal(store_cursor_init(&cursor, txn, CONTRACT_TABLE, contract_slice(&prefix),
                                       contract_slice(&other), STORE_ASCENDING),
                     ERR_INTERNAL);
    assert_int_equal(store_cursor_next(&cursor, &key, &value), ERR_INTERNAL);
    store_cursor_deinit(&cursor);
    store_abort(txn);
}

/* Goal: a walk over a whole table visits each organisation once, the zero one first, the last one
 * at the end. Method: rows of some organisations at either end and in the middle, in a reader and
 * in the writer that puts them; another table stays empty. */
static void test_walk_visits_each_organisation_once(void **state)
{
    static const uint8_t orgs[] = {0x00, 0x01, 0x02, 0x7f, 0xfe, 0xff};
    struct store_txn *txn = contract_begin(state, STORE_WRITE);
    struct uuid org;

    assert_int_equal(store_next_org(txn, CONTRACT_TABLE, NULL, &org), ERR_NOT_FOUND);
    for (size_t i = 0; i < sizeof(orgs); i++) {
        contract_put(txn, orgs[i], "", "");
        contract_put(txn, orgs[i], "b", "b");
    }
    for (int access = 0; access < 2; access++) {
        const struct uuid *after = NULL;

        for (size_t i = 0; i < sizeof(orgs); i++) {
            struct contract_key wanted = contract_key(orgs[i], "");

            assert_int_equal(store_next_org(txn, CONTRACT_TABLE, after, &org), OK);
            assert_memory_equal(org.bytes, wanted.bytes, UUID_BYTES);
            after = &org;
        }
        assert_int_equal(store_next_org(txn, CONTRACT_TABLE, after, &org), ERR_NOT_FOUND);
        memset(&org, 0x03,
               sizeof(org)); /* an organisation without rows that precedes one with rows */
        assert_int_equal(store_next_org(txn, CONTRACT_TABLE, &org, &org), OK);
        assert_int_equal(org.bytes[0], 0x7f);
        assert_int_equal(store_next_org(txn, TABLE_PROFILE, NULL, &org), ERR_NOT_FOUND);
        if (access == 0) {
            contract_commit(txn);
            txn = contract_begin(state, STORE_READ);
        }
    }
    store_abort(txn);
}

int contract_run_cursors(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_prefix_walk_returns_only_its_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_walk_starts_at_the_given_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_prefix_of_ff_bytes_has_an_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writer_cursor_sees_own_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cursors_of_one_table_are_independent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cursor_outside_of_an_organisation_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_walk_visits_each_organisation_once, setup, teardown),
    };

    return cmocka_run_group_tests_name("store cursors", tests, NULL, NULL);
}
