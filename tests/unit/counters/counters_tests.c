/*
 * counters_tests.c: the counters of analytics, by day and name. The tests of stored events compare
 * them with a scan of the events.
 */
#include "server/domain/counters/counters.h"

#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "server/domain/layouts/keys.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DAY_US INT64_C(86400000000)
#define DAY 20455

static const struct slice no_name = {NULL, 0};

static struct counter_day at_day(uint32_t day)
{
    return (struct counter_day){store_fixture_org(1), day};
}

static uint64_t count_of(struct store_txn *txn, const struct counter_day *at,
                         enum counter_dimension dimension, struct slice name)
{
    struct key key = key_counter(at->org, at->day, dimension, name);
    struct counter_record record = {0};
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_COUNTER, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        return 0;
    }
    assert_int_equal(err, OK);
    assert_int_equal(record_decode_counter(value, &record), OK);
    assert_true(slice_equal(record.name, name));
    return record.count;
}

/* Goal: a day is a UTC day. Method: both sides of midnight, and times before 1970. */
static void test_day_begins_at_midnight_utc(void **state)
{
    (void)state;
    assert_int_equal(counters_day_of(INT64_MIN), 0);
    assert_int_equal(counters_day_of(-1), 0);
    assert_int_equal(counters_day_of(0), 0);
    assert_int_equal(counters_day_of(DAY_US - 1), 0);
    assert_int_equal(counters_day_of(DAY_US), 1);
    assert_int_equal(counters_day_of(DAY * DAY_US), DAY);
    assert_int_equal(counters_day_of(DAY * DAY_US - 1), DAY - 1);
}

/* Goal: adding adds, adding nothing leaves no row, and a full counter stays full. Method: add up to
 * the largest number and beyond. */
static void test_counter_saturates_and_zero_leaves_no_row(void **state)
{
    struct store_fixture *fixture = *state;
    struct counter_day at = at_day(DAY);
    struct counter_day next = at_day(DAY + 1);
    struct counter_day other = {store_fixture_org(2), DAY};
    struct store_txn *txn = store_fixture_begin(fixture);

    assert_int_equal(counters_add(&fixture->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 0),
                     OK);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_COUNTER, at.org), 0);
    assert_int_equal(counters_add(&fixture->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 3),
                     OK);
    assert_int_equal(counters_add(&fixture->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 4),
                     OK);
    assert_int_equal(counters_add(&fixture->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 0),
                     OK);
    assert_int_equal(count_of(txn, &at, COUNTER_MAPPING_APPLIED, no_name), 7);
    assert_int_equal(count_of(txn, &next, COUNTER_MAPPING_APPLIED, no_name), 0);
    assert_int_equal(count_of(txn, &other, COUNTER_MAPPING_APPLIED, no_name), 0);
    assert_int_equal(count_of(txn, &at, COUNTER_CONFIDENCE, no_name), 0);
    assert_int_equal(
        counters_add(&fixture->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, UINT64_MAX - 8),
        OK);
    assert_true(count_of(txn, &at, COUNTER_MAPPING_APPLIED, no_name) == UINT64_MAX - 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(counters_add(&fixture->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 1),
                         OK);
        assert_true(count_of(txn, &at, COUNTER_MAPPING_APPLIED, no_name) == UINT64_MAX);
    }
    store_abort(txn);
}

static void add_field(struct store_fixture *fixture, struct store_txn *txn,
                      const struct counter_day *at, enum counter_dimension dimension,
                      unsigned number)
{
    char text[16] = {0};
    int size = snprintf(text, sizeof(text), "f%u", number);

    assert_int_equal(
        counters_add_field(&fixture->ctx, txn, at, dimension, slice_of(text, (size_t)size)), OK);
}

/* Goal: a day counts 1,000 names in both kinds of corrections together, the rest as `other`; a name
 * that it already counts continues to count, in the other kind, too. Method: 1,300 names on a day,
 * half of each kind, and one on the next day. */
static void test_names_beyond_1000_count_as_other(void **state)
{
    struct store_fixture *fixture = *state;
    struct counter_day at = at_day(DAY);
    struct counter_day next = at_day(DAY + 1);
    struct store_txn *txn = store_fixture_begin(fixture);

    for (unsigned i = 0; i < COUNTERS_FIELD_NAMES_MAX + 300; i++) {
        add_field(fixture, txn, &at, i % 2 == 0 ? COUNTER_LINE_FIELD : COUNTER_FIELD_FIELD, i);
    }
    add_field(fixture, txn, &at, COUNTER_LINE_FIELD, 1);
    add_field(fixture, txn, &at, COUNTER_LINE_FIELD, 1300);
    add_field(fixture, txn, &next, COUNTER_LINE_FIELD, 1300);
    assert_int_equal(count_of(txn, &at, COUNTER_FIELD_NAMES, no_name), COUNTERS_FIELD_NAMES_MAX);
    assert_int_equal(count_of(txn, &at, COUNTER_FIELD_FIELD, SLICE("f1")), 1);
    assert_int_equal(count_of(txn, &at, COUNTER_LINE_FIELD, SLICE("f1")), 1);
    assert_int_equal(count_of(txn, &at, COUNTER_LINE_FIELD, SLICE("other")), 151);
    assert_int_equal(count_of(txn, &at, COUNTER_FIELD_FIELD, SLICE("other")), 150);
    assert_int_equal(count_of(txn, &next, COUNTER_LINE_FIELD, SLICE("f1300")), 1);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_COUNTER, at.org),
                     COUNTERS_FIELD_NAMES_MAX + 4 + 2);
    store_abort(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_day_begins_at_midnight_utc),
        cmocka_unit_test_setup_teardown(test_counter_saturates_and_zero_leaves_no_row,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_names_beyond_1000_count_as_other, store_fixture_set_up,
                                        store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
