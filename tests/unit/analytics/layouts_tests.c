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
#include "tests/support/store/store_world.h"
#include "tests/unit/analytics/analytics_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/analytics_service.pb-c.h>
#include <errata/v1/extraction.fields.h>

/* A layout's name by its number. */
struct name {
    char text[16];
    struct slice slice;
};

static void name_layout(struct name *name, unsigned number)
{
    int size = snprintf(name->text, sizeof(name->text), "layout-%u", number);

    name->slice = slice_of(name->text, (size_t)size);
}

static struct store_txn *begin(struct store_world *world)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(world->backend, STORE_WRITE, &txn), OK);
    return txn;
}

/* Goal: a page looks at 2,000 rows of sums and no more, says that it goes on, and all together give each
 * layout without documents once. Method: many layouts, few of them without a profile. */
static void test_coverage_rows(void **state)
{
    enum {
        LAYOUTS = 2 * COVERAGE_ROWS_MAX + 100,
        UNSEEN_EACH = 500
    };
    struct store_world *world = *state;
    struct coverage_page page = {.org = store_world_org(1),
                                 .page_size = 1000,
                                 .field = LIST_LAYOUT_COVERAGE_RESPONSE_LAYOUT_STATS_FIELD};
    struct store_txn *txn = begin(world);
    size_t pages = 0;
    size_t items = 0;
    bool more = true;

    for (unsigned i = 0; i < LAYOUTS; i++) {
        struct name name;
        struct key_fingerprint fingerprint;
        struct key key;

        name_layout(&name, i);
        fingerprint = key_fingerprint_of(name.slice);
        key = key_profile(page.org, &fingerprint);
        assert_int_equal(sums_name_layout(&world->ctx, txn, page.org, name.slice), OK);
        if (i % UNSEEN_EACH != 0) {
            assert_int_equal(store_put(txn, TABLE_PROFILE, key_slice(&key), SLICE("-")), OK);
        }
    }
    while (more) {
        Errata__V1__ListLayoutCoverageResponse *response = NULL;
        struct buffer body;

        buffer_init(&body, &world->arena, 0);
        assert_int_equal(coverage_write(&world->ctx, txn, &page, &body, &more), OK);
        response = errata__v1__list_layout_coverage_response__unpack(NULL, body.size, body.data);
        assert_non_null(response);
        items += response->n_layout_stats;
        errata__v1__list_layout_coverage_response__free_unpacked(response, NULL);
        pages++;
        assert_true(pages < 10);
        assert_true(arena_copy(&world->arena, key_slice(&page.last), &page.after));
    }
    assert_int_equal(pages, 3);
    assert_int_equal(items, (LAYOUTS + UNSEEN_EACH - 1) / UNSEEN_EACH);
    store_abort(txn);
}

/* Records extractions of a layout in an arm, of which the first `corrected` were corrected. */
static void extract(struct store_world *world, struct store_txn *txn, struct slice layout,
                    uint32_t arm, unsigned count, unsigned corrected)
{
    const struct counted_extraction extraction = {.org = store_world_org(1),
                                                  .layout_fingerprint = layout,
                                                  .created_at_us = STORE_WORLD_START_US,
                                                  .confidence_millionths = 900000,
                                                  .arm = arm,
                                                  .layout_ready = true,
                                                  .field_count = 10};

    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(sums_add_extraction(&world->ctx, txn, &extraction), OK);
        if (i < corrected) {
            assert_int_equal(sums_add_corrected(&world->ctx, txn, &extraction, true, 2), OK);
        }
    }
}

static void set_examples(struct store_world *world, struct store_txn *txn, struct slice layout,
                         uint64_t count)
{
    const struct layout_head_record head = {.feedback_count = count, .example_count = count};
    struct key_fingerprint fingerprint = key_fingerprint_of(layout);
    struct key key = key_layout_head(store_world_org(1), &fingerprint);

    assert_int_equal(layout_head_write(&world->arena, txn, &key, &head), OK);
}

static Errata__V1__GetExperimentReportResponse *report(struct store_world *world,
                                                       struct store_txn *txn, size_t page_size,
                                                       struct slice *after, bool *ret_more)
{
    struct experiment_page page = {
        .org = store_world_org(1), .page_size = page_size, .after = *after};
    Errata__V1__GetExperimentReportResponse *response = NULL;
    struct buffer body;

    buffer_init(&body, &world->arena, 0);
    assert_int_equal(experiments_write(&world->ctx, txn, &page, &body, ret_more), OK);
    assert_true(arena_copy(&world->arena, key_slice(&page.last), after));
    response = errata__v1__get_experiment_report_response__unpack(NULL, body.size, body.data);
    assert_non_null(response);
    return response;
}

/* Goal: arms beside each other, with all that is told of them, for a layout and for all (SC-005: 15%
 * and more is told). Method: 92 of 100 beside 80 of 100, and a layout that has an arm alone. */
static void test_experiment(void **state)
{
    struct store_world *world = *state;
    struct store_txn *txn = begin(world);
    Errata__V1__GetExperimentReportResponse *response = NULL;
    const Errata__V1__ExperimentComparison *both = NULL;
    struct slice after = {NULL, 0};
    bool more = false;

    extract(world, txn, SLICE("both"), EXPERIMENT_ARM_TREATMENT, 100, 8);
    extract(world, txn, SLICE("both"), EXPERIMENT_ARM_CONTROL, 100, 20);
    extract(world, txn, SLICE("both"), EXPERIMENT_ARM_NONE, 50, 50);
    set_examples(world, txn, SLICE("both"), 3);
    response = report(world, txn, 50, &after, &more);
    assert_false(more);
    assert_int_equal(response->holdout_percent, 0);
    assert_int_equal(response->n_layouts, 1);
    assert_string_equal(response->layouts[0]->layout_fingerprint, "both");
    assert_int_equal(response->layouts[0]->example_count, 3);
    both = response->layouts[0]->comparison;
    assert_int_equal(both->treatment->extraction_count, 100);
    assert_int_equal(both->treatment->corrected_count, 8);
    assert_true(both->treatment->accuracy == 0.92);
    assert_int_equal(both->treatment->field_count, 1000);
    assert_int_equal(both->treatment->corrected_field_count, 16);
    assert_true(both->treatment->field_accuracy == 0.984);
    assert_true(both->control->accuracy == 0.8);
    assert_true(both->relative_improvement == 0.15 && both->target_reached);
    assert_true(both->improvement_low > 0 && both->improvement_low < 0.15);
    assert_true(both->improvement_high > 0.15 && both->improvement_high < 0.5);
    assert_true(both->p_value > 0.01 && both->p_value < 0.05);
    assert_int_equal(response->organization->treatment->extraction_count, 100);
    assert_true(response->organization->p_value == both->p_value);
    errata__v1__get_experiment_report_response__free_unpacked(response, NULL);
    store_abort(txn);
}

/* Goal: what can't be told is absent: a rate without extractions, an improvement over nothing. Method:
 * no extraction at all, one arm alone, a control that is never right. */
static void test_absent(void **state)
{
    struct store_world *world = *state;
    struct store_txn *txn = begin(world);
    Errata__V1__GetExperimentReportResponse *response = NULL;
    const Errata__V1__ExperimentComparison *whole = NULL;
    struct slice after = {NULL, 0};
    bool more = false;

    response = report(world, txn, 50, &after, &more);
    assert_int_equal(response->organization->treatment->_accuracy_case, 0);
    assert_int_equal(response->organization->_p_value_case, 0);
    assert_int_equal(response->organization->_relative_improvement_case, 0);
    errata__v1__get_experiment_report_response__free_unpacked(response, NULL);
    extract(world, txn, SLICE("a"), EXPERIMENT_ARM_TREATMENT, 5, 0);
    after = slice_of(NULL, 0);
    response = report(world, txn, 50, &after, &more);
    assert_int_not_equal(response->organization->treatment->_accuracy_case, 0);
    assert_int_equal(response->organization->control->_accuracy_case, 0);
    assert_int_equal(response->organization->_p_value_case, 0);
    errata__v1__get_experiment_report_response__free_unpacked(response, NULL);
    extract(world, txn, SLICE("a"), EXPERIMENT_ARM_CONTROL, 5, 5);
    after = slice_of(NULL, 0);
    response = report(world, txn, 50, &after, &more);
    whole = response->organization;
    assert_int_not_equal(whole->_p_value_case, 0);
    assert_true(whole->p_value < 0.01);
    assert_int_equal(whole->_relative_improvement_case, 0);
    assert_int_equal(whole->_improvement_low_case, 0);
    assert_int_equal(whole->_improvement_high_case, 0);
    assert_false(whole->target_reached);
    assert_true(whole->control->accuracy == 0);
    errata__v1__get_experiment_report_response__free_unpacked(response, NULL);
    store_abort(txn);
}

/* Goal: layouts with 3 examples and a counted extraction are listed, each once, page by page, in one
 * order; a page looks at a bounded number of layouts. Method: layouts of every kind, pages of every
 * size; and many layouts of which none is listed. */
static void test_experiment_pages(void **state)
{
    enum {
        LISTED = 7,
        OTHERS = 12,
        SILENT = EXPERIMENT_ROWS_MAX + 50
    };
    struct store_world *world = *state;
    struct store_txn *txn = begin(world);
    struct slice after = {NULL, 0};
    bool more = true;
    struct name name;

    for (unsigned i = 0; i < LISTED + OTHERS; i++) {
        name_layout(&name, i);
        set_examples(world, txn, name.slice, i < LISTED ? 3 + i : i % 3);
        extract(world, txn, name.slice,
                i % 2 == 0 ? EXPERIMENT_ARM_TREATMENT : EXPERIMENT_ARM_CONTROL, 1, 0);
    }
    name_layout(&name, LISTED + OTHERS);
    set_examples(world, txn, name.slice, 9);
    extract(world, txn, name.slice, EXPERIMENT_ARM_NONE, 1, 0);
    for (size_t page_size = 1; page_size <= LISTED + 1; page_size++) {
        unsigned listed = 0;

        after = slice_of(NULL, 0);
        for (more = true; more;) {
            Errata__V1__GetExperimentReportResponse *response =
                report(world, txn, page_size, &after, &more);

            assert_int_equal(response->organization->treatment->extraction_count, 10);
            for (size_t i = 0; i < response->n_layouts; i++) {
                const Errata__V1__LayoutExperiment *layout = response->layouts[i];

                assert_true(layout->example_count >= 3 && layout->example_count < 3 + LISTED);
                assert_int_equal(listed >> layout->example_count & 1, 0);
                listed |= 1u << layout->example_count;
            }
            errata__v1__get_experiment_report_response__free_unpacked(response, NULL);
        }
        assert_int_equal(listed, ((1u << LISTED) - 1) << 3);
    }
    for (unsigned i = 0; i < SILENT; i++) {
        name_layout(&name, 1000 + i);
        assert_int_equal(sums_name_layout(&world->ctx, txn, store_world_org(1), name.slice), OK);
    }
    after = slice_of(NULL, 0);
    errata__v1__get_experiment_report_response__free_unpacked(report(world, txn, 50, &after, &more),
                                                              NULL);
    assert_true(more);
    errata__v1__get_experiment_report_response__free_unpacked(report(world, txn, 50, &after, &more),
                                                              NULL);
    assert_false(more);
    store_abort(txn);
}

int run_layouts_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_coverage_rows, store_world_set_up,
                                        store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_experiment, store_world_set_up, store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_absent, store_world_set_up, store_world_tear_down),
        cmocka_unit_test_setup_teardown(test_experiment_pages, store_world_set_up,
                                        store_world_tear_down),
    };

    return cmocka_run_group_tests_name("layouts of analytics", tests, NULL, NULL);
}
