/*
 * experiment_tests.c: the arm of a document, and the sums by layout and arm. That sums equal a scan of
 * the events is tested where events are stored.
 */
#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "server/domain/experiment/arm.h"
#include "server/domain/experiment/records.h"
#include "server/domain/experiment/sums.h"
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

static uint64_t count_of(struct store_txn *txn, enum counter_dimension dimension, struct slice name)
{
    struct key key = key_counter(store_fixture_org(1), DAY, dimension, name);
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

static struct counted_extraction extraction_of(const char *layout, uint32_t arm, uint32_t exclusion,
                                               uint32_t field_count)
{
    return (struct counted_extraction){
        .org = store_fixture_org(1),
        .layout_fingerprint = slice_text(layout),
        .created_at_us = DAY * DAY_US + 5,
        .confidence_millionths = 250000,
        .arm = arm,
        .exclusion = exclusion,
        .field_count = field_count,
    };
}

static struct layout_stats_record sums_of(struct store_txn *txn, const char *layout)
{
    struct layout_stats_record stats;

    assert_int_equal(sums_read_layout(txn, store_fixture_org(1), slice_text(layout), &stats), OK);
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
static void test_named_layout_is_listed_with_zeros(void **state)
{
    struct store_fixture *fixture = *state;
    struct counted_extraction extraction =
        extraction_of("a", EXPERIMENT_ARM_NONE, EXPERIMENT_EXCLUSION_NO_HOLDOUT, 0);
    struct store_txn *txn = store_fixture_begin(fixture);

    assert_int_equal(sums_name_layout(&fixture->ctx, txn, extraction.org, SLICE("a")), OK);
    assert_int_equal(sums_name_layout(&fixture->ctx, txn, extraction.org, no_name), OK);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_LAYOUT_STATS, extraction.org), 1);
    assert_int_equal(sums_of(txn, "a").extraction_count, 0);
    assert_int_equal(sums_add_extraction(&fixture->ctx, txn, &extraction), OK);
    assert_int_equal(sums_name_layout(&fixture->ctx, txn, extraction.org, SLICE("a")), OK);
    assert_int_equal(sums_of(txn, "a").extraction_count, 1);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_LAYOUT_STATS, extraction.org), 2);
    assert_int_equal(sums_of(txn, "never named").extraction_count, 0);
    store_abort(txn);
}

static void change(struct store_fixture *fixture, struct store_txn *txn,
                   const struct counted_extraction *extraction, struct counted_corrections before,
                   struct counted_corrections after)
{
    assert_int_equal(sums_change_corrected(&fixture->ctx, txn, extraction, &before, &after), OK);
}

/* Goal: an extraction counts by day, by layout and for the organisation; in an arm, or by the reason why it is in
 * none; a correction counts it once and its fields as reported. Removing all of them leaves only the names of the
 * layouts. */
static void test_extraction_counts_by_day_layout_and_arm(void **state)
{
    struct store_fixture *fixture = *state;
    struct counted_extraction treated = extraction_of("a", EXPERIMENT_ARM_TREATMENT, 0, 12);
    struct counted_extraction held_out = extraction_of("a", EXPERIMENT_ARM_CONTROL, 0, 0);
    struct counted_extraction early =
        extraction_of("a", EXPERIMENT_ARM_TREATMENT, EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY, 9);
    struct counted_extraction armless =
        extraction_of("b", EXPERIMENT_ARM_NONE, EXPERIMENT_EXCLUSION_NO_DOCUMENT, 7);
    const struct counted_extraction *all[] = {&treated, &treated, &held_out, &early, &armless};
    const struct counted_corrections none = {false, 0};
    struct store_txn *txn = store_fixture_begin(fixture);
    struct layout_stats_record sums;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(sums_add_extraction(&fixture->ctx, txn, all[i]), OK);
    }
    change(fixture, txn, &treated, none, (struct counted_corrections){true, 2});
    change(fixture, txn, &treated, (struct counted_corrections){true, 2},
           (struct counted_corrections){true, 3});
    change(fixture, txn, &treated, (struct counted_corrections){true, 3},
           (struct counted_corrections){true, 3});
    change(fixture, txn, &early, none, (struct counted_corrections){true, 4});
    change(fixture, txn, &armless, none, (struct counted_corrections){true, 0});
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
    assert_int_equal(count_of(txn, COUNTER_EXTRACTIONS, no_name), 5);
    assert_int_equal(count_of(txn, COUNTER_CONFIDENCE, no_name), 1250000);
    assert_int_equal(count_of(txn, COUNTER_CORRECTED, no_name), 3);
    assert_int_equal(sums.excluded_count[EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY - 1], 1);
    assert_int_equal(sums.excluded_count[EXPERIMENT_EXCLUSION_NO_DOCUMENT - 1], 1);

    change(fixture, txn, &treated, (struct counted_corrections){true, 3}, none);
    change(fixture, txn, &early, (struct counted_corrections){true, 4}, none);
    change(fixture, txn, &armless, (struct counted_corrections){true, 0}, none);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(sums_remove_extraction(&fixture->ctx, txn, all[i]), OK);
    }
    assert_int_equal(sums_remove_extraction(&fixture->ctx, txn, &treated), ERR_CORRUPT);
    sums = sums_of(txn, "a");
    assert_int_equal(sums.extraction_count, 0);
    check_arm(&sums.treatment, 0, 0, 0, 0);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_LAYOUT_STATS, treated.org), 2);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_COUNTER, treated.org), 0);
    store_abort(txn);
}

/* Goal: a layout's sums saturate. Method: a row that is nearly full, and one correction more than
 * fits. */
static void test_full_sums_stay_full(void **state)
{
    struct store_fixture *fixture = *state;
    struct counted_extraction extraction = extraction_of("a", EXPERIMENT_ARM_CONTROL, 0, 5);
    const struct layout_stats_record full = {
        .layout_fingerprint = SLICE("a"),
        .extraction_count = UINT64_MAX,
        .corrected_count = UINT64_MAX - 1,
        .control = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, 9},
    };
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("a"));
    struct key key = key_layout_stats(extraction.org, &fingerprint);
    struct slice value = {NULL, 0};
    struct store_txn *txn = store_fixture_begin(fixture);
    struct layout_stats_record sums;

    assert_int_equal(record_encode_layout_stats(&fixture->arena, &full, &value), OK);
    assert_int_equal(store_put(txn, TABLE_LAYOUT_STATS, key_slice(&key), value), OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sums_add_extraction(&fixture->ctx, txn, &extraction), OK);
        change(fixture, txn, &extraction, (struct counted_corrections){false, 0},
               (struct counted_corrections){true, 1});
    }
    sums = sums_of(txn, "a");
    assert_true(sums.extraction_count == UINT64_MAX && sums.corrected_count == UINT64_MAX);
    assert_true(sums.control.extraction_count == UINT64_MAX);
    assert_true(sums.control.corrected_count == UINT64_MAX);
    assert_true(sums.control.field_count == UINT64_MAX);
    assert_int_equal(sums.control.corrected_field_count, 11);
    store_abort(txn);
}

/* Goal: an arm depends only on organisation, document and percentage. Method: known cases of the
 * formula, computed by another program, and the ends of the range. */
static void test_arm_depends_only_on_organisation_document_and_percentage(void **state)
{
    struct org_id org;
    size_t held_out_count = 0;

    (void)state;
    memset(org.uuid.bytes, 0x11, UUID_BYTES);
    assert_int_equal(arm_under(org, SLICE(""), 50), EXPERIMENT_ARM_NONE);
    assert_int_equal(arm_under(org, SLICE("document"), 0), EXPERIMENT_ARM_NONE);
    assert_int_equal(arm_under(org, SLICE("document"), 100), EXPERIMENT_ARM_CONTROL);
    assert_int_equal(arm_under(org, SLICE("invoice-1"), 92), EXPERIMENT_ARM_TREATMENT);
    assert_int_equal(arm_under(org, SLICE("invoice-1"), 93), EXPERIMENT_ARM_CONTROL);
    assert_int_equal(arm_under(org, SLICE("invoice-2"), 93), EXPERIMENT_ARM_TREATMENT);
    assert_int_equal(arm_under(org, SLICE("invoice-2"), 94), EXPERIMENT_ARM_CONTROL);
    assert_int_equal(arm_under(org, SLICE("Rechnung/3"), 47), EXPERIMENT_ARM_TREATMENT);
    assert_int_equal(arm_under(org, SLICE("Rechnung/3"), 48), EXPERIMENT_ARM_CONTROL);
    for (int i = 0; i < 1000; i++) {
        char text[16];
        int size = snprintf(text, sizeof(text), "%d", i);

        held_out_count +=
            arm_under(org, slice_of(text, (size_t)size), 20) == EXPERIMENT_ARM_CONTROL ? 1 : 0;
    }
    assert_true(held_out_count > 150 && held_out_count < 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_named_layout_is_listed_with_zeros,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_extraction_counts_by_day_layout_and_arm,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_full_sums_stay_full, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test(test_arm_depends_only_on_organisation_document_and_percentage),
    };

    return cmocka_run_group_tests_name("experiment", tests, NULL, NULL);
}
