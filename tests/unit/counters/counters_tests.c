/*
 * counters_tests.c: the counters of analytics: by day and name, and the sums by layout. That they
 * equal a scan of the events is tested where events are stored.
 */
#include "server/domain/counters/counters.h"

#include "tests/support/store/store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/extraction.fields.h>

#define DAY_US INT64_C(86400000000)
#define DAY 20455

static const struct slice no_name = {NULL, 0};

static struct counter_day at_day(uint32_t day)
{
    return (struct counter_day){store_world_org(1), day};
}

static struct store_txn *begin(struct store_world *world)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(world->backend, STORE_WRITE, &txn), OK);
    return txn;
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

static size_t count_rows(struct store_txn *txn, enum store_table table, struct org_id org)
{
    struct key prefix = key_org(org);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t count = 0;

    assert_int_equal(
        store_cursor_init(&cursor, txn, table, key_slice(&prefix), no_name, STORE_ASCENDING), OK);
    while (store_cursor_next(&cursor, &key, &value) == OK) {
        count++;
    }
    store_cursor_deinit(&cursor);
    return count;
}

/* Goal: a day is a UTC day. Method: both sides of midnight, and times before 1970. */
static void test_days(void **state)
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
static void test_adding(void **state)
{
    struct store_world *world = *state;
    struct counter_day at = at_day(DAY);
    struct counter_day next = at_day(DAY + 1);
    struct counter_day other = {store_world_org(2), DAY};
    struct store_txn *txn = begin(world);

    assert_int_equal(counters_add(&world->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 0), OK);
    assert_int_equal(count_rows(txn, TABLE_COUNTER, at.org), 0);
    assert_int_equal(counters_add(&world->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 3), OK);
    assert_int_equal(counters_add(&world->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 4), OK);
    assert_int_equal(counters_add(&world->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 0), OK);
    assert_int_equal(count_of(txn, &at, COUNTER_MAPPING_APPLIED, no_name), 7);
    assert_int_equal(count_of(txn, &next, COUNTER_MAPPING_APPLIED, no_name), 0);
    assert_int_equal(count_of(txn, &other, COUNTER_MAPPING_APPLIED, no_name), 0);
    assert_int_equal(count_of(txn, &at, COUNTER_CONFIDENCE, no_name), 0);
    assert_int_equal(
        counters_add(&world->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, UINT64_MAX - 8), OK);
    assert_true(count_of(txn, &at, COUNTER_MAPPING_APPLIED, no_name) == UINT64_MAX - 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(counters_add(&world->ctx, txn, &at, COUNTER_MAPPING_APPLIED, no_name, 1),
                         OK);
        assert_true(count_of(txn, &at, COUNTER_MAPPING_APPLIED, no_name) == UINT64_MAX);
    }
    store_abort(txn);
}

static void add_field(struct store_world *world, struct store_txn *txn,
                      const struct counter_day *at, enum counter_dimension dimension,
                      unsigned number)
{
    char text[16] = {0};
    int size = snprintf(text, sizeof(text), "f%u", number);

    assert_int_equal(
        counters_add_field(&world->ctx, txn, at, dimension, slice_of(text, (size_t)size)), OK);
}

/* Goal: a day counts 1,000 names in both kinds of corrections together, the rest as `other`; a name
 * that it counts already goes on counting, in the other kind too. Method: 1,300 names on a day, half
 * of each kind, and one on the next day. */
static void test_distinct_fields(void **state)
{
    struct store_world *world = *state;
    struct counter_day at = at_day(DAY);
    struct counter_day next = at_day(DAY + 1);
    struct store_txn *txn = begin(world);

    for (unsigned i = 0; i < COUNTERS_FIELD_NAMES_MAX + 300; i++) {
        add_field(world, txn, &at, i % 2 == 0 ? COUNTER_LINE_FIELD : COUNTER_FIELD_FIELD, i);
    }
    add_field(world, txn, &at, COUNTER_LINE_FIELD, 1);
    add_field(world, txn, &at, COUNTER_LINE_FIELD, 1300);
    add_field(world, txn, &next, COUNTER_LINE_FIELD, 1300);
    assert_int_equal(count_of(txn, &at, COUNTER_FIELD_NAMES, no_name), COUNTERS_FIELD_NAMES_MAX);
    assert_int_equal(count_of(txn, &at, COUNTER_FIELD_FIELD, SLICE("f1")), 1);
    assert_int_equal(count_of(txn, &at, COUNTER_LINE_FIELD, SLICE("f1")), 1);
    assert_int_equal(count_of(txn, &at, COUNTER_LINE_FIELD, SLICE("other")), 151);
    assert_int_equal(count_of(txn, &at, COUNTER_FIELD_FIELD, SLICE("other")), 150);
    assert_int_equal(count_of(txn, &next, COUNTER_LINE_FIELD, SLICE("f1300")), 1);
    assert_int_equal(count_rows(txn, TABLE_COUNTER, at.org), COUNTERS_FIELD_NAMES_MAX + 4 + 2);
    store_abort(txn);
}

static struct counted_extraction extraction_of(const char *layout, uint32_t arm, bool ready,
                                               uint32_t field_count)
{
    return (struct counted_extraction){
        .org = store_world_org(1),
        .layout_fingerprint = slice_text(layout),
        .created_at_us = DAY * DAY_US + 5,
        .confidence_millionths = 250000,
        .arm = arm,
        .layout_ready = ready,
        .field_count = field_count,
    };
}

static struct layout_stats_record sums_of(struct store_txn *txn, const char *layout)
{
    struct layout_stats_record stats;

    assert_int_equal(counters_read_layout(txn, store_world_org(1), slice_text(layout), &stats), OK);
    assert_true(slice_equal(stats.layout_fingerprint, slice_text(layout)));
    return stats;
}

static void check_arm(const struct arm_sums *arm, uint64_t extractions, uint64_t corrected,
                      uint64_t fields, uint64_t corrected_fields)
{
    assert_int_equal(arm->extraction_count, extractions);
    assert_int_equal(arm->corrected_count, corrected);
    assert_int_equal(arm->field_count, fields);
    assert_int_equal(arm->corrected_field_count, corrected_fields);
}

/* Goal: a layout that an event names is listed with zeros, once, and the naming changes no sums. */
static void test_naming(void **state)
{
    struct store_world *world = *state;
    struct counted_extraction extraction = extraction_of("a", EXPERIMENT_ARM_NONE, true, 0);
    struct store_txn *txn = begin(world);

    assert_int_equal(counters_name_layout(&world->ctx, txn, extraction.org, SLICE("a")), OK);
    assert_int_equal(counters_name_layout(&world->ctx, txn, extraction.org, no_name), OK);
    assert_int_equal(count_rows(txn, TABLE_LAYOUT_STATS, extraction.org), 1);
    assert_int_equal(sums_of(txn, "a").extraction_count, 0);
    assert_int_equal(counters_add_extraction(&world->ctx, txn, &extraction), OK);
    assert_int_equal(counters_name_layout(&world->ctx, txn, extraction.org, SLICE("a")), OK);
    assert_int_equal(sums_of(txn, "a").extraction_count, 1);
    assert_int_equal(count_rows(txn, TABLE_LAYOUT_STATS, extraction.org), 2);
    assert_int_equal(sums_of(txn, "never named").extraction_count, 0);
    store_abort(txn);
}

/* Goal: an extraction counts by day, by layout and for the organisation; in an arm only where it is in
 * one and its layout was ready; a correction counts it once and its fields as told. */
static void test_extractions(void **state)
{
    struct store_world *world = *state;
    struct counted_extraction treated = extraction_of("a", EXPERIMENT_ARM_TREATMENT, true, 12);
    struct counted_extraction held_out = extraction_of("a", EXPERIMENT_ARM_CONTROL, true, 0);
    struct counted_extraction early = extraction_of("a", EXPERIMENT_ARM_TREATMENT, false, 9);
    struct counted_extraction armless = extraction_of("b", EXPERIMENT_ARM_NONE, true, 7);
    const struct counted_extraction *all[] = {&treated, &treated, &held_out, &early, &armless};
    struct counter_day at = at_day(DAY);
    struct store_txn *txn = begin(world);
    struct layout_stats_record sums;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(counters_add_extraction(&world->ctx, txn, all[i]), OK);
    }
    assert_int_equal(counters_add_corrected(&world->ctx, txn, &treated, true, 2), OK);
    assert_int_equal(counters_add_corrected(&world->ctx, txn, &treated, false, 1), OK);
    assert_int_equal(counters_add_corrected(&world->ctx, txn, &treated, false, 0), OK);
    assert_int_equal(counters_add_corrected(&world->ctx, txn, &early, true, 4), OK);
    assert_int_equal(counters_add_corrected(&world->ctx, txn, &armless, true, 0), OK);
    sums = sums_of(txn, "a");
    assert_int_equal(sums.extraction_count, 4);
    assert_int_equal(sums.corrected_count, 2);
    check_arm(&sums.treatment, 2, 1, 24, 3);
    check_arm(&sums.control, 1, 0, 0, 0);
    sums = sums_of(txn, "b");
    assert_int_equal(sums.extraction_count, 1);
    check_arm(&sums.treatment, 0, 0, 0, 0);
    sums = sums_of(txn, "");
    assert_int_equal(sums.extraction_count, 5);
    assert_int_equal(sums.corrected_count, 3);
    check_arm(&sums.treatment, 2, 1, 24, 3);
    check_arm(&sums.control, 1, 0, 0, 0);
    assert_int_equal(count_of(txn, &at, COUNTER_EXTRACTIONS, no_name), 5);
    assert_int_equal(count_of(txn, &at, COUNTER_CONFIDENCE, no_name), 1250000);
    assert_int_equal(count_of(txn, &at, COUNTER_CORRECTED, no_name), 3);
    store_abort(txn);
}

/* Goal: a layout's sums stay full. Method: a row that is nearly full, and one correction more than
 * fits. */
static void test_full_sums(void **state)
{
    struct store_world *world = *state;
    struct counted_extraction extraction = extraction_of("a", EXPERIMENT_ARM_CONTROL, true, 5);
    const struct layout_stats_record full = {
        .layout_fingerprint = SLICE("a"),
        .extraction_count = UINT64_MAX,
        .corrected_count = UINT64_MAX - 1,
        .control = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, 9},
    };
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("a"));
    struct key key = key_layout_stats(extraction.org, &fingerprint);
    struct slice value = {NULL, 0};
    struct store_txn *txn = begin(world);
    struct layout_stats_record sums;

    assert_int_equal(record_encode_layout_stats(&world->arena, &full, &value), OK);
    assert_int_equal(store_put(txn, TABLE_LAYOUT_STATS, key_slice(&key), value), OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(counters_add_extraction(&world->ctx, txn, &extraction), OK);
        assert_int_equal(counters_add_corrected(&world->ctx, txn, &extraction, true, 1), OK);
    }
    sums = sums_of(txn, "a");
    assert_true(sums.extraction_count == UINT64_MAX && sums.corrected_count == UINT64_MAX);
    assert_true(sums.control.extraction_count == UINT64_MAX);
    assert_true(sums.control.corrected_count == UINT64_MAX);
    assert_true(sums.control.field_count == UINT64_MAX);
    assert_int_equal(sums.control.corrected_field_count, 11);
    store_abort(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),
        cmocka_unit_test_setup_teardown(test_adding, store_world_set_up, store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_distinct_fields, store_world_set_up,
                                        store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_naming, store_world_set_up, store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_extractions, store_world_set_up,
                                        store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_full_sums, store_world_set_up, store_world_tear_down),
    };

    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
