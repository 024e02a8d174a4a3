/*
 * learning_tests.c: days, the most frequent fields, and sums over days, over a store in memory whose
 * counters the tests write. The tests of calls compare answers with a scan of events.
 */
#include "server/domain/analytics/learning.h"

#include "server/domain/analytics/days.h"
#include "server/domain/analytics/field_counts.h"
#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "tests/support/store/store_fixture.h"
#include "tests/unit/analytics/analytics_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/analytics_service.pb-c.h>

#define DAY INT64_C(20000)
#define MODEL_FIELDS 200

/* Goal: every day of the calendar is read as it is written, and no other text is a day. Method: all
 * days of 1900 to 2100, and forms that are nearly valid. */
static void test_day_text_round_trips(void **state)
{
    static const char *const wrong[] = {"",           "2026-1-01",  "2026-01-1", "2026-02-30",
                                        "2026-00-01", "2026-01-00", "26-01-01",  "2026-01-01T",
                                        "2026-01+01", "2026 01 01", "-026-01-01"};
    int64_t first = 0;
    int64_t last = 0;

    (void)state;
    assert_true(day_parse(SLICE("1900-01-01"), &first));
    assert_true(day_parse(SLICE("2100-12-31"), &last));
    assert_int_equal(last - first + 1, 201 * 365 + 49);
    for (int64_t day = first; day <= last; day++) {
        char text[DAY_TEXT_BYTES];
        int64_t read = 0;

        day_format(day, text);
        assert_true(day_parse(slice_of(text, sizeof(text)), &read));
        assert_int_equal(read, day);
        assert_int_equal(day_of(day * 86400000000), day);
        assert_int_equal(day_of((day + 1) * 86400000000 - 1), day);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(day_parse(slice_text(wrong[i]), &first));
    }
}

/* Returns the rank of a field among all, computed directly from the definition. */
static size_t rank_of(const struct field_counts *counts, enum field_kind kind,
                      const struct field_count *item)
{
    size_t rank = 0;

    for (size_t i = 0; i < counts->count; i++) {
        const struct field_count *other = &counts->items[i];
        uint64_t of_other = field_count_of(other, kind);
        uint64_t of_item = field_count_of(item, kind);

        rank += of_other > of_item ||
                        (of_other == of_item &&
                         strcmp((const char *)other->name.data, (const char *)item->name.data) < 0)
                    ? 1
                    : 0;
    }
    return rank;
}

/* Goal: the most frequent fields, most frequent first, ties by name, of each kind and both, up to
 * the requested number; more fields than the store's count are damage. Method: random counts with
 * many ties, each item's rank by a plain count. */
static void test_top_fields_are_ordered_by_count_and_name(void **state)
{
    struct store_fixture *fixture = *state;
    const struct field_count *top[MODEL_FIELDS];
    struct field_counts counts;
    char names[MODEL_FIELDS + 1][8];

    assert_int_equal(
        field_counts_init(&counts, &fixture->arena, &fixture->random.random, MODEL_FIELDS), OK);
    for (unsigned i = 0; i < 3 * MODEL_FIELDS; i++) {
        unsigned number = i * 7 % MODEL_FIELDS;
        struct sha256_digest hash;
        struct slice name;

        (void)snprintf(names[number], sizeof(names[number]), "f%u", number);
        name = slice_text(names[number]);
        hash = sha256(name);
        assert_int_equal(field_counts_add(&counts, i % 3 == 0 ? FIELD_OF_HEADER : FIELD_OF_LINE,
                                          hash.bytes, name, i % 5),
                         OK);
    }
    assert_int_equal(counts.count, MODEL_FIELDS);
    for (int kind = FIELD_OF_LINE; kind <= FIELD_OF_BOTH; kind++) {
        for (size_t max = 1; max <= MODEL_FIELDS; max += 1 + max / 3) {
            size_t count = field_counts_top(&counts, (enum field_kind)kind, max, top);

            assert_true(count <= max);
            for (size_t i = 0; i < count; i++) {
                assert_true(field_count_of(top[i], (enum field_kind)kind) > 0);
                assert_int_equal(rank_of(&counts, (enum field_kind)kind, top[i]), i);
            }
        }
    }
    assert_int_equal(field_counts_add(&counts, FIELD_OF_LINE, (const uint8_t *)"0123456789abcdef",
                                      SLICE("one more"), 1),
                     ERR_CORRUPT);
}

static void must_add(struct store_fixture *fixture, struct store_txn *txn, int64_t day,
                     enum counter_dimension dimension, struct slice name, uint64_t amount)
{
    const struct counter_day at = {store_fixture_org(1), (uint32_t)day};

    assert_int_equal(counters_add(&fixture->ctx, txn, &at, dimension, name, amount), OK);
}

static struct learning_report learn(struct store_fixture *fixture, struct store_txn *txn,
                                    struct learning_range range)
{
    const struct learning_query query = {
        .org = store_fixture_org(1), .range = range, .top_fields = 3};
    struct learning_report report;

    assert_int_equal(learning_read(&fixture->ctx, txn, &query, &report), OK);
    return report;
}

/* Goal: a report has means of its sums, days keep their own, and a range includes only its days.
 * Method: three days, the outer ones outside of the range. */
static void test_report_has_the_means_of_its_range(void **state)
{
    static const struct slice no_name = {NULL, 0};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = NULL;
    struct learning_report report;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (int64_t day = DAY - 1; day <= DAY + 2; day++) {
        must_add(fixture, txn, day, COUNTER_EXTRACTIONS, no_name, 4);
        must_add(fixture, txn, day, COUNTER_CONFIDENCE, no_name, 3000000);
        must_add(fixture, txn, day, COUNTER_CORRECTED, no_name, day == DAY ? 1 : 0);
        must_add(fixture, txn, day, COUNTER_MAPPING_APPLIED, no_name, 10);
        must_add(fixture, txn, day, COUNTER_EVENT_TYPE, SLICE("1"), 2);
        must_add(fixture, txn, day, COUNTER_EVENT_TYPE, SLICE("5"), 3);
    }
    report = learn(fixture, txn, (struct learning_range){DAY, DAY + 1});
    assert_int_equal(report.day_count, 2);
    assert_int_equal(report.days[0].extraction_count, 4);
    assert_true(report.days[0].mean_confidence == 0.75);
    assert_int_equal(report.days[0].corrected_count, 1);
    assert_int_equal(report.days[1].corrected_count, 0);
    assert_int_equal(report.extraction_count, 8);
    assert_int_equal(report.corrected_count, 1);
    assert_true(report.correction_rate == 0.125);
    assert_int_equal(report.mapping_applied_count, 20);
    assert_int_equal(report.mapping_confirmed_count, 4);
    assert_int_equal(report.days[0].event_count, 5);
    assert_int_equal(report.type_count, 2);
    assert_int_equal(report.types[0].event_type, 5);
    assert_int_equal(report.types[0].count, 6);
    report = learn(fixture, txn, (struct learning_range){DAY + 3, DAY + 3});
    assert_true(report.correction_rate == 0);
    assert_int_equal(report.extraction_count, 0);
    store_abort(txn);
}

/* Goal: the longest range adds up the names of each day. Method: 366 days with one field in all and
 * one in each, in both kinds. */
static void test_longest_range_adds_the_names_of_each_day(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = NULL;
    struct learning_report report;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (int64_t day = DAY; day < DAY + LEARNING_DAYS_MAX + 5; day++) {
        const struct counter_day at = {store_fixture_org(1), (uint32_t)day};
        char own[16];
        int size = snprintf(own, sizeof(own), "own-%lld", (long long)day);

        for (int kind = COUNTER_LINE_FIELD; kind <= COUNTER_FIELD_FIELD; kind++) {
            enum counter_dimension dimension = (enum counter_dimension)kind;

            assert_int_equal(
                counters_add_field(&fixture->ctx, txn, &at, dimension, SLICE("shared")), OK);
            assert_int_equal(
                counters_add_field(&fixture->ctx, txn, &at, dimension, slice_of(own, (size_t)size)),
                OK);
        }
    }
    report = learn(fixture, txn, (struct learning_range){DAY, DAY + LEARNING_DAYS_MAX - 1});
    assert_int_equal(report.day_count, LEARNING_DAYS_MAX);
    assert_int_equal(report.fields[FIELD_OF_BOTH].count, 3);
    assert_true(slice_equal(report.fields[FIELD_OF_BOTH].items[0].field, SLICE("shared")));
    assert_int_equal(report.fields[FIELD_OF_BOTH].items[0].count, 2 * LEARNING_DAYS_MAX);
    assert_true(slice_equal(report.fields[FIELD_OF_BOTH].items[1].field, SLICE("own-20000")));
    assert_int_equal(report.fields[FIELD_OF_BOTH].items[1].count, 2);
    assert_int_equal(report.fields[FIELD_OF_LINE].items[0].count, LEARNING_DAYS_MAX);
    store_abort(txn);
}

static enum err try_to_learn(struct store_fixture *fixture, struct store_txn *txn)
{
    const struct learning_query query = {
        .org = store_fixture_org(1), .range = {DAY, DAY}, .top_fields = 1};
    struct learning_report report;

    return learning_read(&fixture->ctx, txn, &query, &report);
}

/* Goal: impossible counters are reported as damage. Method: an unknown type, one that is not a
 * number, and more names than the day's count. */
static void test_impossible_counters_are_corrupt(void **state)
{
    static const struct slice no_name = {NULL, 0};
    static const char *const types[] = {"0", "6", "99999999999999999999999", "x", "1x"};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = NULL;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
        must_add(fixture, txn, DAY, COUNTER_EVENT_TYPE, slice_text(types[i]), 1);
        assert_int_equal(try_to_learn(fixture, txn), ERR_CORRUPT);
        store_abort(txn);
    }
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    must_add(fixture, txn, DAY, COUNTER_FIELD_NAMES, no_name, COUNTERS_FIELD_NAMES_MAX + 1);
    assert_int_equal(try_to_learn(fixture, txn), ERR_CORRUPT);
    store_abort(txn);
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    must_add(fixture, txn, DAY, COUNTER_LINE_FIELD, SLICE("other"), 1);
    assert_int_equal(try_to_learn(fixture, txn), OK);
    must_add(fixture, txn, DAY, COUNTER_LINE_FIELD, SLICE("never counted"), 1);
    assert_int_equal(try_to_learn(fixture, txn), ERR_CORRUPT);
    store_abort(txn);
}

/* Goal: a range with more rows than its days can have is reported as damage. Method: a day with as many rows as it
 * can have, and with one more. */
static void test_too_many_rows_are_corrupt(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = NULL;
    char name[16];

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (int row = 1; row <= LEARNING_DAY_ROWS_MAX; row++) {
        (void)snprintf(name, sizeof(name), "%d", row);
        must_add(fixture, txn, DAY, COUNTER_EXTRACTIONS, slice_text(name), 1);
    }
    assert_int_equal(try_to_learn(fixture, txn), OK);
    must_add(fixture, txn, DAY, COUNTER_EXTRACTIONS, SLICE("one more"), 1);
    assert_int_equal(try_to_learn(fixture, txn), ERR_CORRUPT);
    store_abort(txn);
}

int run_learning_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_day_text_round_trips),
        cmocka_unit_test_setup_teardown(test_top_fields_are_ordered_by_count_and_name,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_report_has_the_means_of_its_range,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_longest_range_adds_the_names_of_each_day,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_impossible_counters_are_corrupt, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_rows_are_corrupt, store_fixture_set_up,
                                        store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("learning", tests, NULL, NULL);
}
