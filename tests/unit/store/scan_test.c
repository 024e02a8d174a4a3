/*
 * scan_test.c: scans that end at their bound or at the end of their prefix.
 */
#include "tests/unit/store/store_tests.h"

#include "store/scan.h"
#include "tests/support/store/store_fixture.h"

#define ROWS 5

/* Rows (org 2, 1 to ROWS), and one row of each neighbour. */
static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (uint8_t org = 1; org <= 3; org++) {
        for (uint64_t seq = 1; seq <= (org == 2 ? ROWS : 1); seq++) {
            struct key key = key_org_seq(store_fixture_org(org), seq);

            assert_int_equal(store_put(txn, TABLE_EVENT_ID, key_slice(&key), SLICE("row")), OK);
        }
    }
    return txn;
}

struct scan_case {
    enum store_order order;
    uint64_t after; /* sequence number; 0: none */
    uint32_t rows_max;
    uint32_t rows; /* expected */
    uint64_t last; /* sequence number of the last row; 0: none */
    bool is_cut;
};

static void check(struct store_txn *txn, const struct scan_case *expected)
{
    struct key after = key_org_seq(store_fixture_org(2), expected->after);
    const struct scan_range range = {
        .table = TABLE_EVENT_ID,
        .prefix = key_org(store_fixture_org(2)),
        .order = expected->order,
        .after = expected->after != 0 ? key_slice(&after) : slice_of(NULL, 0),
        .rows_max = expected->rows_max,
    };
    struct key last = key_org_seq(store_fixture_org(2), expected->last);
    struct slice last_key = {NULL, 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct scan scan;

    assert_int_equal(scan_init(&scan, txn, &range), OK);
    while (scan_next(&scan, &key, &value) == OK) {
        assert_true(slice_equal(value, SLICE("row")));
        last_key = key;
    }
    assert_int_equal(scan.row_count, expected->rows);
    assert_int_equal(scan.is_cut, expected->is_cut);
    assert_true(slice_equal(last_key, expected->last != 0 ? key_slice(&last) : last_key));
    scan_deinit(&scan);
}

/* Goal: a scan ends at each bound, in both orders. Method: five rows, with a row before and after
 * the prefix; as many rows as the bound, one less, one more; after a row that exists, and after one
 * that does not. */
static void test_scan_ends_at_each_bound(void **state)
{
    static const struct scan_case cases[] = {
        {STORE_ASCENDING, 0, ROWS - 1, ROWS - 1, ROWS - 1, true},
        {STORE_ASCENDING, 0, ROWS, ROWS, ROWS, false},
        {STORE_ASCENDING, 0, ROWS + 1, ROWS, ROWS, false},
        {STORE_DESCENDING, 0, 2, 2, ROWS - 1, true},
        {STORE_DESCENDING, 0, ROWS, ROWS, 1, false},
        {STORE_ASCENDING, 2, 2, 2, 4, true},
        {STORE_ASCENDING, 2, 3, 3, ROWS, false},
        {STORE_DESCENDING, 2, 1, 1, 1, false},
        {STORE_ASCENDING, ROWS, 1, 0, 0, false},
        {STORE_DESCENDING, ROWS + 1, ROWS, ROWS, 1, false},
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(txn, &cases[i]);
    }
    store_abort(txn);
}

/* Goal: a start outside the prefix is refused, and deinit accepts a zeroed scan. Method: another
 * organisation's key. */
static void test_place_outside_of_the_prefix_is_refused(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct key after = key_org_seq(store_fixture_org(3), 1);
    const struct scan_range range = {
        .table = TABLE_EVENT_ID,
        .prefix = key_org(store_fixture_org(2)),
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.row_count = 0};

    scan_deinit(&scan);
    assert_int_equal(scan_init(&scan, txn, &range), ERR_INTERNAL);
    scan_deinit(&scan);
    store_abort(txn);
}

int run_scan_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scan_ends_at_each_bound, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_place_outside_of_the_prefix_is_refused,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
