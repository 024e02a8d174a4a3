/*
 * backtest_tests.c: a stream that works on the pool (LearningService/Backtest): its parts, and the end of a stream
 * whose caller has disconnected. The pool is the fixture's list of jobs, of which a test runs one at a time.
 */
#include "server/domain/backtest/backtest.h"
#include "server/domain/verdicts/verdicts.h"
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PATH "errata.v1.LearningService/Backtest"
#define COVERAGE "errata.v1.AnalyticsService/ListLayoutCoverage"

static void open_backtest(struct exchange *exchange, struct fixture *fixture, const char *token)
{
    Errata__V1__BacktestRequest request = ERRATA__V1__BACKTEST_REQUEST__INIT;
    Errata__V1__ProposedRule rule = ERRATA__V1__PROPOSED_RULE__INIT;
    const struct exchange_start start = {.path = PATH, .authorization = token};

    rule.rule_type = ERRATA__V1__LEARNED_RULE_TYPE__LEARNED_RULE_TYPE_MISSED_INDICATOR;
    rule.pattern = (char *)(uintptr_t) "font";
    request.subject_case = ERRATA__V1__BACKTEST_REQUEST__SUBJECT_CANDIDATE;
    request.candidate = &rule;
    exchange_open(exchange, fixture, &start);
    exchange_send(exchange, &request.base);
}

static void open_read(struct exchange *exchange, struct fixture *fixture)
{
    Errata__V1__ListLayoutCoverageRequest request = ERRATA__V1__LIST_LAYOUT_COVERAGE_REQUEST__INIT;
    const struct exchange_start start = {.path = COVERAGE, .authorization = fixture->admin};

    exchange_open(exchange, fixture, &start);
    exchange_send(exchange, &request.base);
}

/* Runs the oldest of the pool's jobs. */
static void run_job(struct fixture *fixture)
{
    struct fixture_job job = fixture->jobs[0];

    assert_true(fixture->job_count > 0);
    fixture->job_count--;
    memmove(&fixture->jobs[0], &fixture->jobs[1], fixture->job_count * sizeof(fixture->jobs[0]));
    job.work(job.job);
    job.done(job.job, OK);
}

static Errata__V1__BacktestResponse *next(struct exchange *exchange)
{
    return exchange_read(exchange, &errata__v1__backtest_response__descriptor);
}

/* Stores submissions that confirm an indicator. */
static void submit(struct fixture *fixture, const char *org_id, int count)
{
    struct verdict_input *input = arena_calloc(&fixture->arena, 1, sizeof(*input));
    struct verdict_request request = {
        .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
        .input = input,
    };
    struct store_txn *txn = NULL;

    assert_true(uuid_parse(slice_text(org_id), &request.org.uuid));
    input->receipt_id = SLICE("receipt");
    input->original_verdict = VERDICT_REAL;
    input->correct_verdict = VERDICT_FAKE;
    input->has_original_score = true;
    input->original_score = 0.38;
    input->confirmed.items[0] = SLICE("font");
    input->confirmed.count = 1;
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    for (int i = 0; i < count; i++) {
        struct work_result result = {.first_seq = 0};
        struct arena arena;
        struct ctx ctx = fixture->ctx;

        arena_init(&arena, SIZE_MAX);
        ctx.arena = &arena;
        log_begin_write(txn, NULL);
        assert_int_equal(verdict_submit(&ctx, txn, &request, &result), OK);
        arena_deinit(&arena);
    }
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: a long backtest works in parts, releases its slot between two, and reports all of it. Method: more submissions
 * than a part has; another long read that waits is served between the parts. */
static void test_work_is_done_in_parts(void **state)
{
    struct fixture fixture;
    struct exchange backtests[2];
    struct exchange read;
    Errata__V1__BacktestResponse *response = NULL;
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org = NULL;

    (void)state;
    fixture_init(&fixture);
    org = fixture_make_org(&fixture, "one", admin);
    submit(&fixture, org, BACKTEST_STEP_MAX + 1);
    open_backtest(&backtests[0], &fixture, admin);
    open_backtest(&backtests[1], &fixture, admin);
    open_read(&read, &fixture);
    assert_int_equal(fixture.job_count, PIPELINE_POOL_READS_MAX);
    assert_null(next(&backtests[0]));
    run_job(&fixture);
    assert_int_equal(fixture.job_count, 2); /* jobs of the other backtest, and of the read */
    fixture_run(&fixture);
    assert_true(read.ended);
    assert_int_equal(read.code, STATUS_OK);
    exchange_close(&read);
    for (size_t i = 0; i < 2; i++) {
        response = next(&backtests[i]);
        assert_int_equal(response->result_case, ERRATA__V1__BACKTEST_RESPONSE__RESULT_PROGRESS);
        assert_int_equal(response->progress->submission_count, BACKTEST_STEP_MAX);
        response = next(&backtests[i]);
        assert_int_equal(response->result_case, ERRATA__V1__BACKTEST_RESPONSE__RESULT_REPORT);
        assert_int_equal(response->report->submission_count, BACKTEST_STEP_MAX + 1);
        assert_int_equal(response->report->total->hit_count, BACKTEST_STEP_MAX + 1);
        assert_int_equal(response->report->total->other_flip_count, BACKTEST_STEP_MAX + 1);
        assert_null(next(&backtests[i]));
        assert_true(backtests[i].ended);
        assert_int_equal(backtests[i].code, STATUS_OK);
        exchange_close(&backtests[i]);
    }
    fixture_deinit(&fixture);
}

/* Goal: a caller that disconnects ends its stream: at once while it waits for a slot, and after its part while it
 * works. Method: three backtests for two slots; the last one goes first, then one whose job runs afterwards. */
static void test_stream_ends_with_its_caller(void **state)
{
    struct fixture fixture;
    struct exchange backtests[3];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        open_backtest(&backtests[i], &fixture, fixture.admin);
    }
    assert_int_equal(fixture.job_count, 2);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 3);
    exchange_close(&backtests[2]);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 2);
    exchange_close(&backtests[0]);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 2);
    run_job(&fixture);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 1);
    fixture_run(&fixture);
    assert_int_equal(next(&backtests[1])->result_case,
                     ERRATA__V1__BACKTEST_RESPONSE__RESULT_REPORT);
    assert_true(backtests[1].ended);
    exchange_close(&backtests[1]);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 0);
    fixture_deinit(&fixture);
}

/* Goal: a full pool and an unknown rule end the stream with their error, and its memory is freed. */
static void test_failed_work_ends_the_stream(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    Errata__V1__BacktestRequest request = ERRATA__V1__BACKTEST_REQUEST__INIT;
    struct exchange_start start = {.path = PATH};

    (void)state;
    fixture_init(&fixture);
    fixture.pool_is_full = true;
    open_backtest(&exchange, &fixture, fixture.admin);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_UNAVAILABLE);
    exchange_close(&exchange);
    fixture.pool_is_full = false;
    request.subject_case = ERRATA__V1__BACKTEST_REQUEST__SUBJECT_RULE_ID;
    request.rule_id = (char *)(uintptr_t) "01890000-0000-7000-8000-000000000000";
    start.authorization = fixture.admin;
    exchange_open(&exchange, &fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(&fixture);
    assert_true(exchange.ended);
    assert_int_equal(exchange.code, STATUS_NOT_FOUND);
    assert_true(slice_has(exchange.message, "rule_id"));
    exchange_close(&exchange);
    fixture_deinit(&fixture);
}

int run_backtest_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_done_in_parts),
        cmocka_unit_test(test_stream_ends_with_its_caller),
        cmocka_unit_test(test_failed_work_ends_the_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
