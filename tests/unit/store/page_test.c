/*
 * page_test.c: the end of a page by rows, bytes, items or the end of the list, and its
 * continuation.
 */
#include "tests/unit/store/store_tests.h"

#include "store/page.h"
#include "tests/support/store/store_fixture.h"

#define ITEM_BYTES 1024

/* Rows are (org, seq) of a table for which the store has no rules. */
static void put_rows(struct store_txn *txn, uint64_t first, uint64_t last)
{
    for (uint64_t seq = first; seq <= last; seq++) {
        struct key key = key_org_seq(store_fixture_org(1), seq);

        assert_int_equal(store_put(txn, TABLE_EVENT_ID, key_slice(&key), SLICE("row")), OK);
    }
}

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;
    struct key other = key_org_seq(store_fixture_org(2), 1);

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_EVENT_ID, key_slice(&other), SLICE("row")), OK);
    return txn;
}

/* Output of each row: `item_bytes` for every `item_every`th row. */
struct page_case {
    enum store_order order;
    uint32_t page_size;
    uint64_t item_every;
    size_t item_bytes;
    struct slice after;
};

static uint64_t seq_of(const struct key *key)
{
    uint64_t seq = 0;

    for (size_t i = key->size - sizeof(seq); i < key->size; i++) {
        seq = seq << 8 | key->bytes[i];
    }
    return seq;
}

static struct page make_page(struct store_fixture *fixture, struct store_txn *txn,
                             const struct page_case *page_case, struct buffer *body)
{
    const struct scan_range range = {
        .table = TABLE_EVENT_ID,
        .prefix = key_org(store_fixture_org(1)),
        .order = page_case->order,
        .after = page_case->after,
    };
    struct page page;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t row = 0;
    uint8_t *item = arena_calloc(&fixture->arena, 1, page_case->item_bytes + 1);

    assert_non_null(item);
    page_init(&page, page_case->page_size, page_case->after, body);
    assert_int_equal(page_open(&page, txn, &range), OK);
    while (page_next(&page, &key, &value) == OK) {
        assert_true(slice_equal(value, SLICE("row")));
        row++;
        if (body != NULL && row % page_case->item_every == 0) {
            buffer_append(body, slice_of(item, page_case->item_bytes));
        }
    }
    page_deinit(&page);
    return page;
}

/* Goal: a call examines at most PAGE_ROWS_MAX rows, and reports whether there are more. Method: one
 * row less, as many, and one more, none of which is an item; an empty prefix. */
static void test_page_examines_a_bounded_number_of_rows(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct page_case page = {.page_size = 1, .item_every = UINT64_MAX};
    struct buffer body;
    struct page made;

    buffer_init(&body, &fixture->arena, 64);
    made = make_page(fixture, txn, &page, &body);
    assert_true(made.row_count == 0 && made.count == 0 && !made.more && made.last.size == 0);
    for (uint64_t rows = PAGE_ROWS_MAX - 1; rows <= PAGE_ROWS_MAX + 1; rows++) {
        put_rows(txn, rows == PAGE_ROWS_MAX - 1 ? 1 : rows, rows);
        made = make_page(fixture, txn, &page, &body);
        assert_int_equal(made.row_count, rows < PAGE_ROWS_MAX ? rows : PAGE_ROWS_MAX);
        assert_int_equal(made.more, rows > PAGE_ROWS_MAX);
        assert_int_equal(seq_of(&made.last), made.row_count);
        assert_int_equal(made.count, 0);
        assert_int_equal(body.size, 0);
    }
    store_abort(txn);
}

/* Goal: a page of exactly PAGE_BYTES_MAX is whole, one byte more belongs to the next page, and an
 * item that is larger than a page is a page of its own. Method: items that fill a page, in a body
 * that already has bytes. */
static void test_page_has_a_bounded_number_of_bytes(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const uint32_t fitting = PAGE_BYTES_MAX / ITEM_BYTES;
    struct page_case page = {.page_size = 2 * fitting, .item_every = 1, .item_bytes = ITEM_BYTES};
    struct buffer body;
    struct page made;

    put_rows(txn, 1, fitting);
    buffer_init(&body, &fixture->arena, 64);
    buffer_append(&body, SLICE("before"));
    made = make_page(fixture, txn, &page, &body);
    assert_true(made.count == fitting && !made.more);
    assert_int_equal(body.size, PAGE_BYTES_MAX + 6);

    put_rows(txn, fitting + 1, fitting + 1);
    buffer_init(&body, &fixture->arena, 64);
    made = make_page(fixture, txn, &page, &body);
    assert_true(made.count == fitting && made.more);
    assert_int_equal(body.size, PAGE_BYTES_MAX);
    assert_int_equal(seq_of(&made.last), fitting);

    page.item_bytes = PAGE_BYTES_MAX + 1;
    buffer_init(&body, &fixture->arena, 64);
    made = make_page(fixture, txn, &page, &body);
    assert_true(made.count == 1 && made.more);
    assert_int_equal(body.size, PAGE_BYTES_MAX + 1);
    assert_int_equal(seq_of(&made.last), 1);
    store_abort(txn);
}

/* Goal: a page continues from one range of rows to the next with the same bounds. Method: as many
 * rows as a page may examine, split between two ranges, and one more. */
static void test_page_continues_in_the_next_range(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct scan_range range = {.table = TABLE_EVENT_ID, .prefix = key_org(store_fixture_org(1))};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct buffer body;
    struct page page;

    put_rows(txn, 1, PAGE_ROWS_MAX / 2 + 1);
    buffer_init(&body, &fixture->arena, 64);
    page_init(&page, 10, slice_of(NULL, 0), &body);
    for (unsigned part = 0; part < 2; part++) {
        assert_int_equal(page_open(&page, txn, &range), OK);
        while (page_next(&page, &key, &value) == OK) {
        }
        assert_int_equal(page.more, part == 1);
    }
    assert_int_equal(page.row_count, PAGE_ROWS_MAX);
    assert_int_equal(seq_of(&page.last), PAGE_ROWS_MAX / 2 - 1);
    page_deinit(&page);
    store_abort(txn);
}

/* Goal: rows without an item do not count, and pages without a body count rows. Method: every third
 * row is an item; the same walk without a body. */
static void test_rows_without_an_item_do_not_count(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct page_case page = {.page_size = 3, .item_every = 3, .item_bytes = 1};
    struct buffer body;
    struct page made;

    put_rows(txn, 1, 9);
    buffer_init(&body, &fixture->arena, 64);
    made = make_page(fixture, txn, &page, &body);
    assert_true(made.count == 3 && made.row_count == 9 && !made.more);
    put_rows(txn, 10, 10);
    buffer_init(&body, &fixture->arena, 64);
    made = make_page(fixture, txn, &page, &body);
    assert_true(made.count == 3 && made.row_count == 10 && made.more);
    made = make_page(fixture, txn, &page, NULL);
    assert_true(made.count == 3 && made.row_count == 4 && made.more);
    store_abort(txn);
}

/* Goal: a list continues after the last place of the page before, in both orders, even if rows were
 * added and removed meanwhile. Method: rows before and after the place, and the place's own row
 * removed. */
static void test_list_continues_after_its_place(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct page_case page = {.page_size = 2, .item_every = 1, .item_bytes = 1};
    struct key key = key_org_seq(store_fixture_org(1), 40);
    struct page made;

    put_rows(txn, 10, 10);
    put_rows(txn, 40, 40);
    put_rows(txn, 60, 60);
    made = make_page(fixture, txn, &page, NULL);
    assert_true(seq_of(&made.last) == 40 && made.more);
    put_rows(txn, 20, 20);
    put_rows(txn, 50, 50);
    assert_true(arena_copy(&fixture->arena, key_slice(&made.last), &page.after));
    made = make_page(fixture, txn, &page, NULL);
    assert_true(made.count == 2 && seq_of(&made.last) == 60 && !made.more);

    assert_int_equal(store_del(txn, TABLE_EVENT_ID, key_slice(&key)), OK);
    made = make_page(fixture, txn, &page, NULL);
    assert_true(made.count == 2 && seq_of(&made.last) == 60 && !made.more);

    page.order = STORE_DESCENDING;
    made = make_page(fixture, txn, &page, NULL);
    assert_true(made.count == 2 && seq_of(&made.last) == 10 && !made.more);
    page.after = (struct slice){NULL, 0};
    made = make_page(fixture, txn, &page, NULL);
    assert_true(made.count == 2 && seq_of(&made.last) == 50 && made.more);
    store_abort(txn);
}

int run_page_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page_examines_a_bounded_number_of_rows,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_page_has_a_bounded_number_of_bytes,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_page_continues_in_the_next_range, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_rows_without_an_item_do_not_count,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_list_continues_after_its_place, store_fixture_set_up,
                                        store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
