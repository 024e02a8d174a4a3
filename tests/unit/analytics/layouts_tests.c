/*
 * layouts_tests.c: the two lists of layouts: coverage and experiments, over a store in memory whose rows
 * the tests write. Orders and pages of layouts with documents are tested through calls.
 */
#include "server/domain/analytics/coverage.h"
#include "server/domain/analytics/experiments.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"
#include "tests/support/store/store_fixture.h"
#include "tests/unit/analytics/analytics_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/analytics_service.pb-c.h>
#include <errata/v1/extraction.fields.h>

/* Returns the name of the layout with this number. */
struct name {
    char text[16];
    struct slice slice;
};

static void name_layout(struct name *name, unsigned number)
{
    int size = snprintf(name->text, sizeof(name->text), "layout-%u", number);

    name->slice = slice_of(name->text, (size_t)size);
}

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    return txn;
}

/* Goal: a page reads at most 2,000 rows of sums, reports that it continues, and all pages
 * together return each layout without documents once. Method: many layouts, few of them without
 * a profile. */
static void test_coverage_page_reads_a_bounded_number_of_rows(void **state)
{
    enum {
        LAYOUTS = 2 * PAGE_ROWS_MAX + 100,
        UNSEEN_EACH = 500
    };
    struct store_fixture *fixture = *state;
    struct page page;
    struct coverage_list list = {.org = store_fixture_org(1), .page = &page};
    struct store_txn *txn = begin(fixture);
    struct slice after = {NULL, 0};
    size_t pages = 0;
    size_t items = 0;
    bool more = true;

    for (unsigned i = 0; i < LAYOUTS; i++) {
        struct name name;
        struct key_fingerprint fingerprint;
        struct key key;

        name_layout(&name, i);
        fingerprint = key_fingerprint_of(name.slice);
        key = key_profile(list.org, &fingerprint);
        assert_int_equal(sums_name_layout(&fixture->ctx, txn, list.org, name.slice), OK);
        if (i % UNSEEN_EACH != 0) {
            assert_int_equal(store_put(txn, TABLE_PROFILE, key_slice(&key), SLICE("-")), OK);
        }
    }
    while (more) {
        struct layout_coverage_view layout;
        struct buffer body;

        buffer_init(&body, &fixture->arena, 0);
        page_init(&page, 1000, after, &body);
        assert_int_equal(coverage_list_begin(txn, &list), OK);
        while (coverage_list_next(&fixture->ctx, txn, &list, &layout) == OK) {
            layout_coverage_view_put(&layout, 1, &body);
            items++;
        }
        page_deinit(&page);
        pages++;
        assert_true(pages < 10);
        more = page.more;
        assert_true(arena_copy(&fixture->arena, key_slice(&page.last), &after));
    }
    assert_int_equal(pages, 3);
    assert_int_equal(items, (LAYOUTS + UNSEEN_EACH - 1) / UNSEEN_EACH);
    store_abort(txn);
}

/* Records extractions of a layout in an arm, of which the first `corrected` were corrected. */
static void extract(struct store_fixture *fixture, struct store_txn *txn, struct slice layout,
                    uint32_t arm, unsigned count, unsigned corrected)
{
    const struct counted_corrections none = {false, 0};
    const struct counted_corrections two_fields = {true, 2};
    const struct counted_extraction extraction = {
        .org = store_fixture_org(1),
        .layout_fingerprint = layout,
        .created_at_us = STORE_FIXTURE_START_US,
        .confidence_millionths = 900000,
        .arm = arm,
        .exclusion = arm == EXPERIMENT_ARM_NONE ? EXPERIMENT_EXCLUSION_NO_HOLDOUT
                                                : EXPERIMENT_EXCLUSION_UNSPECIFIED,
        .field_count = 10};

    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(sums_add_extraction(&fixture->ctx, txn, &extraction), OK);
        if (i < corrected) {
            assert_int_equal(
                sums_change_corrected(&fixture->ctx, txn, &extraction, &none, &two_fields), OK);
        }
    }
}

static void set_examples(struct store_fixture *fixture, struct store_txn *txn, struct slice layout,
                         uint64_t count)
{
    const struct layout_head_record head = {.feedback_count = count, .example_count = count};
    struct key_fingerprint fingerprint = key_fingerprint_of(layout);
    struct key key = key_layout_head(store_fixture_org(1), &fingerprint);

    assert_int_equal(layout_head_write(&fixture->arena, txn, &key, &head), OK);
}

/* The parts of the response of GetExperimentReport. */
struct report {
    struct experiment_organization organization;
    struct experiment_layout layouts[50];
    size_t layout_count;
};

static struct report report(struct store_fixture *fixture, struct store_txn *txn,
                            uint32_t page_size, struct slice *after, bool *ret_more)
{
    struct page page;
    const struct experiment_list list = {.org = store_fixture_org(1), .page = &page};
    struct report report = {.layout_count = 0};
    struct buffer body;

    assert_int_equal(experiment_read_organization(txn, list.org, &report.organization), OK);
    buffer_init(&body, &fixture->arena, 0);
    page_init(&page, page_size, *after, &body);
    assert_int_equal(experiment_list_begin(txn, &list), OK);
    while (experiment_list_next(&fixture->arena, txn, &list,
                                &report.layouts[report.layout_count]) == OK) {
        buffer_append_byte(&body, 'l');
        report.layout_count++;
    }
    page_deinit(&page);
    *ret_more = page.more;
    assert_true(arena_copy(&fixture->arena, key_slice(&page.last), after));
    return report;
}

/* Goal: both arms are compared, for a layout and for all layouts (SC-005: an improvement of 15% or more is
 * reported). Method: 92 of 100 against 80 of 100, and a layout that has only one arm. */
static void test_experiment_compares_both_arms(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct report found;
    const struct experiment_comparison *both = NULL;
    struct slice after = {NULL, 0};
    bool more = false;

    extract(fixture, txn, SLICE("both"), EXPERIMENT_ARM_TREATMENT, 100, 8);
    extract(fixture, txn, SLICE("both"), EXPERIMENT_ARM_CONTROL, 100, 20);
    extract(fixture, txn, SLICE("both"), EXPERIMENT_ARM_NONE, 50, 50);
    set_examples(fixture, txn, SLICE("both"), 3);
    found = report(fixture, txn, 50, &after, &more);
    assert_false(more);
    assert_int_equal(found.organization.holdout_percent, 0);
    assert_int_equal(found.layout_count, 1);
    assert_true(slice_equal(found.layouts[0].layout_fingerprint, SLICE("both")));
    assert_int_equal(found.layouts[0].example_count, 3);
    both = &found.layouts[0].comparison;
    assert_int_equal(both->treatment.extraction_count, 100);
    assert_int_equal(both->treatment.corrected_count, 8);
    assert_true(both->treatment.accuracy == 0.92);
    assert_int_equal(both->treatment.field_count, 1000);
    assert_int_equal(both->treatment.corrected_field_count, 16);
    assert_true(both->treatment.field_accuracy == 0.984);
    assert_true(both->control.accuracy == 0.8);
    assert_true(both->view.relative_improvement == 0.15 && both->view.target_reached);
    assert_true(both->view.improvement_low > 0 && both->view.improvement_low < 0.15);
    assert_true(both->view.improvement_high > 0.15 && both->view.improvement_high < 0.5);
    assert_true(both->view.p_value > 0.01 && both->view.p_value < 0.05);
    assert_int_equal(found.organization.comparison.treatment.extraction_count, 100);
    assert_true(found.organization.comparison.view.p_value == both->view.p_value);
    store_abort(txn);
}

/* Goal: values that cannot be computed are absent: a rate without extractions, an improvement over
 * nothing. Method: no extraction at all, only one arm, a control that is never correct. */
static void test_uncomputable_values_are_absent(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct report found;
    const struct experiment_comparison *whole = NULL;
    struct slice after = {NULL, 0};
    bool more = false;

    found = report(fixture, txn, 50, &after, &more);
    assert_false(found.organization.comparison.treatment.has_accuracy);
    assert_false(found.organization.comparison.view.has_p_value);
    assert_false(found.organization.comparison.view.has_relative_improvement);
    extract(fixture, txn, SLICE("a"), EXPERIMENT_ARM_TREATMENT, 5, 0);
    after = slice_of(NULL, 0);
    found = report(fixture, txn, 50, &after, &more);
    assert_true(found.organization.comparison.treatment.has_accuracy);
    assert_false(found.organization.comparison.control.has_accuracy);
    assert_false(found.organization.comparison.view.has_p_value);
    extract(fixture, txn, SLICE("a"), EXPERIMENT_ARM_CONTROL, 5, 5);
    after = slice_of(NULL, 0);
    found = report(fixture, txn, 50, &after, &more);
    whole = &found.organization.comparison;
    assert_true(whole->view.has_p_value);
    assert_true(whole->view.p_value < 0.01);
    assert_false(whole->view.has_relative_improvement);
    assert_false(whole->view.has_improvement_low);
    assert_false(whole->view.has_improvement_high);
    assert_false(whole->view.target_reached);
    assert_true(whole->control.accuracy == 0);
    store_abort(txn);
}

/* Goal: layouts with 3 examples and a counted extraction are listed, each once, page by page, in
 * one order; a page examines a bounded number of layouts. Method: layouts of every kind, pages of
 * every size; and many layouts of which none is listed. */
static void test_experiment_lists_each_layout_once(void **state)
{
    enum {
        LISTED = 7,
        OTHERS = 12,
        SILENT = PAGE_ROWS_MAX + 50
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct slice after = {NULL, 0};
    bool more = true;
    struct name name;

    for (unsigned i = 0; i < LISTED + OTHERS; i++) {
        name_layout(&name, i);
        set_examples(fixture, txn, name.slice, i < LISTED ? 3 + i : i % 3);
        extract(fixture, txn, name.slice,
                i % 2 == 0 ? EXPERIMENT_ARM_TREATMENT : EXPERIMENT_ARM_CONTROL, 1, 0);
    }
    name_layout(&name, LISTED + OTHERS);
    set_examples(fixture, txn, name.slice, 9);
    extract(fixture, txn, name.slice, EXPERIMENT_ARM_NONE, 1, 0);
    for (uint32_t page_size = 1; page_size <= LISTED + 1; page_size++) {
        unsigned listed = 0;

        after = slice_of(NULL, 0);
        for (more = true; more;) {
            const struct report found = report(fixture, txn, page_size, &after, &more);

            assert_int_equal(found.organization.comparison.treatment.extraction_count, 10);
            for (size_t i = 0; i < found.layout_count; i++) {
                const struct experiment_layout *layout = &found.layouts[i];

                assert_true(layout->example_count >= 3 && layout->example_count < 3 + LISTED);
                assert_int_equal(listed >> layout->example_count & 1, 0);
                listed |= 1u << layout->example_count;
            }
        }
        assert_int_equal(listed, ((1u << LISTED) - 1) << 3);
    }
    for (unsigned i = 0; i < SILENT; i++) {
        name_layout(&name, 1000 + i);
        assert_int_equal(sums_name_layout(&fixture->ctx, txn, store_fixture_org(1), name.slice),
                         OK);
    }
    after = slice_of(NULL, 0);
    (void)report(fixture, txn, 50, &after, &more);
    assert_true(more);
    (void)report(fixture, txn, 50, &after, &more);
    assert_false(more);
    store_abort(txn);
}

int run_layouts_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_coverage_page_reads_a_bounded_number_of_rows,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_experiment_compares_both_arms, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_uncomputable_values_are_absent, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_experiment_lists_each_layout_once,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("layouts of analytics", tests, NULL, NULL);
}
