/*
 * writer_cost_test.c: the cost model of commits (writer_cost.h), and the wait of a batch for the
 * callers that were answered (writer_gather.h). Tests pass the times to both.
 */
#include "tests/unit/store/store_tests.h"

#include "store/work.h"
#include "store/writer_cost.h"
#include "store/writer_gather.h"

#define MS 1000ll
#define SECOND (1000 * MS)

/* Commits of these sizes, in turn, each of `sync_us` and `page_us` for each request. */
static void learn(struct writer_cost *cost, uint32_t small, uint32_t large, int64_t sync_us,
                  int64_t page_us)
{
    for (uint32_t i = 0; i < COST_SAMPLES; i++) {
        uint32_t requests = i % 2 == 0 ? small : large;

        writer_cost_learn_run(cost, requests, 20 * (int64_t)requests);
        writer_cost_learn_commit(cost, requests, sync_us + page_us * requests, 0);
    }
}

/* Goal: the sync and the cost of each request are distinguished. Method: commits of two sizes. */
static void test_sync_and_request_costs_are_distinguished(void **state)
{
    struct writer_cost cost = {0};

    (void)state;
    learn(&cost, 10, 100, 50 * MS, 30);
    assert_int_equal(cost.run_ns, 20000);
    assert_int_equal(cost.page_ns, 30000);
    assert_int_equal(cost.sync_us, 50 * MS);
    assert_int_equal(cost.shortest_us, 50 * MS + 300);
    assert_int_equal(writer_cost_batch_us(&cost, 100, 0), 55 * MS);
    assert_int_equal(writer_cost_batch_requests(&cost), WORK_BATCH_REQUESTS_MAX);
}

/* Goal: a batch has 20 ms of work, more on a disk whose sync takes longer, and at least one request.
 * Method: the same work with syncs of several lengths, and work that is longer than all. */
static void test_batch_has_work_for_its_sync_time(void **state)
{
    static const struct {
        int64_t sync_us;
        int64_t page_us;
        uint32_t requests;
    } cases[] = {
        {0, 480, 40},
        {10 * MS, 480, 40},
        {20 * MS, 480, 40},
        {60 * MS, 480, 120},
        {200 * MS, 480, WORK_BATCH_REQUESTS_MAX},
        {0, 30 * MS, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct writer_cost cost = {0};

        learn(&cost, 4, 40, cases[i].sync_us, cases[i].page_us);
        assert_int_equal(writer_cost_batch_requests(&cost), cases[i].requests);
    }
}

/* Goal: one stall changes nothing; a disk that became slow or fast is detected after half a window
 * and one commit. Method: single commits of 5 s, then commits of 50 ms, then of 1 ms. */
static void test_single_stall_does_not_change_the_estimate(void **state)
{
    struct writer_cost cost = {0};

    (void)state;
    learn(&cost, 10, 100, MS, 30);
    writer_cost_learn_run(&cost, 10, 5 * SECOND);
    writer_cost_learn_commit(&cost, 10, 5 * SECOND, 0);
    assert_int_equal(cost.run_ns, 20000);
    assert_int_equal(cost.sync_us, MS);
    assert_int_equal(writer_cost_batch_requests(&cost), WORK_BATCH_REQUESTS_MAX);
    learn(&cost, 10, 100, MS, 30);
    for (uint32_t i = 0; i < COST_SAMPLES / 2 + 1; i++) {
        writer_cost_learn_commit(&cost, i % 2 == 0 ? 10 : 100, 50 * MS, 0);
    }
    assert_true(cost.sync_us > 45 * MS);
    for (uint32_t i = 0; i < COST_SAMPLES; i++) {
        writer_cost_learn_commit(&cost, i % 2 == 0 ? 10 : 100, MS, 0);
    }
    assert_int_equal(cost.sync_us, MS);
    assert_int_equal(cost.shortest_us, MS);
}

/* Goal: a cost per request that was caused by noise does not keep batches small. Method: large
 * commits are slow at first; then all have the same size. */
static void test_noise_is_forgotten(void **state)
{
    struct writer_cost cost = {0};
    uint32_t limit = 0;

    (void)state;
    learn(&cost, 2, 4, MS, 15 * MS);
    limit = writer_cost_batch_requests(&cost);
    assert_true(limit <= 2);
    for (uint32_t i = 0; i < 60 && limit < 100; i++) {
        writer_cost_learn_run(&cost, limit, 20 * (int64_t)limit);
        writer_cost_learn_commit(&cost, limit, 40 * MS, 0);
        limit = writer_cost_batch_requests(&cost);
    }
    assert_true(limit >= 100);
}

/* Goal: too few commits give no forecast, and a forecast without a commit fades. Method: one commit
 * less than a window; then time passes. */
static void test_forecasts_fade(void **state)
{
    struct writer_cost cost = {0};

    (void)state;
    assert_int_equal(writer_cost_batch_us(&cost, 10, 0), 0);
    for (uint32_t i = 0; i < COST_SAMPLES; i++) {
        assert_int_equal(writer_cost_batch_us(&cost, 1, 0), 0);
        assert_int_equal(writer_cost_wait_us(&cost, 1000, 0), 0);
        assert_int_equal(writer_cost_shortest_us(&cost, 0), 0);
        writer_cost_learn_commit(&cost, 1, 8 * SECOND, SECOND);
    }
    assert_int_equal(writer_cost_batch_us(&cost, 1, SECOND), 8 * SECOND);
    assert_int_equal(writer_cost_shortest_us(&cost, SECOND), 8 * SECOND);
    assert_int_equal(writer_cost_batch_us(&cost, 1, SECOND + COST_HALF_LIFE_US), 4 * SECOND);
    assert_int_equal(writer_cost_wait_us(&cost, 0, SECOND + 3 * COST_HALF_LIFE_US), SECOND);
    assert_int_equal(writer_cost_batch_us(&cost, 1, SECOND + 63 * COST_HALF_LIFE_US), 0);
    assert_int_equal(writer_cost_batch_us(&cost, 1, INT64_MAX), 0);
}

/* Goal: the forecast of a request is the time of the full batches before it and of its own. Method:
 * work of 1 ms with a sync of 10 ms: batches of 20. */
static void test_forecast_counts_full_batches(void **state)
{
    struct writer_cost cost = {0};

    (void)state;
    learn(&cost, 4, 40, 10 * MS, 980);
    assert_int_equal(writer_cost_batch_requests(&cost), 20);
    assert_int_equal(writer_cost_wait_us(&cost, 0, 0), 11 * MS);
    assert_int_equal(writer_cost_wait_us(&cost, 19, 0), 30 * MS);
    assert_int_equal(writer_cost_wait_us(&cost, 20, 0), 41 * MS);
    assert_int_equal(writer_cost_wait_us(&cost, 199, 0), 300 * MS);
}

/* Goal: on a slow disk a batch waits until most callers have sent their next request, for a third of
 * a sync, and at most 20 ms. Method: callers that send again, and some that do not. */
static void test_slow_disk_waits_for_callers(void **state)
{
    struct writer_gather gather = {0};

    (void)state;
    assert_int_equal(writer_gather_wait_us(&gather, 1, 0), 0);
    writer_gather_begin(&gather, 64, 64, 256, 30 * MS, 1000);
    assert_int_equal(writer_gather_wait_us(&gather, 64, 1000), 10 * MS);
    assert_int_equal(writer_gather_wait_us(&gather, 119, 6000), 5 * MS);
    assert_int_equal(writer_gather_wait_us(&gather, 120, 6000), 0);
    assert_int_equal(writer_gather_wait_us(&gather, 64, 1000 + 10 * MS), 0);
    writer_gather_end(&gather, 120);
    assert_int_equal(writer_gather_wait_us(&gather, 1, 6000), 0);
    writer_gather_begin(&gather, 4, 0, 256, 400 * MS, 0);
    assert_int_equal(writer_gather_wait_us(&gather, 3, 0), GATHER_US_MAX);
    assert_int_equal(writer_gather_wait_us(&gather, 4, 0), 0);
    writer_gather_end(&gather, 4);
    writer_gather_begin(&gather, 1, 0, 256, 400 * MS, 0);
    assert_int_equal(writer_gather_wait_us(&gather, 1, 0), 0); /* alone */
    writer_gather_end(&gather, 1);
}

/* Goal: there is no wait on a fast disk, nor if a full batch is already queued. Method: both. */
static void test_fast_disk_does_not_wait_for_callers(void **state)
{
    struct writer_gather gather = {0};

    (void)state;
    writer_gather_begin(&gather, 64, 64, 256, GATHER_SYNC_LEAST_US - 1, 0);
    assert_int_equal(writer_gather_wait_us(&gather, 64, 0), 0);
    writer_gather_begin(&gather, 64, 64, 64, 40 * MS, 0);
    assert_int_equal(writer_gather_wait_us(&gather, 64, 0), 0);
    writer_gather_end(&gather, 64);
}

/* Returns the number of the next commits with a wait, if `back` of ten callers send again during
 * it. */
static uint32_t count_waits(struct writer_gather *gather, uint32_t commits, uint32_t back)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < commits; i++) {
        writer_gather_begin(gather, 10, 10, 256, 40 * MS, 0);
        count += writer_gather_wait_us(gather, 10, 0) > 0;
        writer_gather_end(gather, 10 + back);
    }
    return count;
}

/* Goal: batches do not wait for callers that do not send again. Method: too few callers send again,
 * and waits become rare; then callers send again, and each commit has a wait. */
static void test_useless_waits_become_rare(void **state)
{
    struct writer_gather gather = {0};
    uint32_t waits = 0;

    (void)state;
    assert_int_equal(count_waits(&gather, 100, 5), 100);
    waits = count_waits(&gather, 1000, 4);
    assert_true(waits >= 1000 / (GATHER_SKIP_MAX + 1) && waits <= 25);
    assert_true(count_waits(&gather, 200, 5) >= 200 - GATHER_SKIP_MAX);
}

int run_writer_cost_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sync_and_request_costs_are_distinguished),
        cmocka_unit_test(test_batch_has_work_for_its_sync_time),
        cmocka_unit_test(test_single_stall_does_not_change_the_estimate),
        cmocka_unit_test(test_noise_is_forgotten),
        cmocka_unit_test(test_forecasts_fade),
        cmocka_unit_test(test_forecast_counts_full_batches),
        cmocka_unit_test(test_slow_disk_waits_for_callers),
        cmocka_unit_test(test_fast_disk_does_not_wait_for_callers),
        cmocka_unit_test(test_useless_waits_become_rare),
    };

    return cmocka_run_group_tests_name("writer_cost", tests, NULL, NULL);
}
