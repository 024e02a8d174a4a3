/*
 * long_read_tests.c: reads that run on the pool: their replies, their order, refusals, and the end
 * of reads whose caller has disconnected. The pool is the fixture's list of jobs, of which a test
 * runs one at a time.
 */
#include "server/domain/analytics/days.h"
#include "server/domain/analytics/learning.h"
#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "tests/rpc/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errata/v1/analytics_service.handlers.h>

#define LEARNING "errata.v1.AnalyticsService/GetLearningAnalytics"
#define COVERAGE "errata.v1.AnalyticsService/ListLayoutCoverage"
#define ORG_WAITING_MAX (PIPELINE_POOL_READS_WAITING_MAX / 2)

static void open_learning(struct exchange *exchange, struct fixture *fixture, const char *token)
{
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    const struct exchange_start start = {.path = LEARNING, .authorization = token};

    exchange_open(exchange, fixture, &start);
    exchange_send(exchange, &request.base);
}

static void open_coverage(struct exchange *exchange, struct fixture *fixture, const char *token,
                          int64_t timeout_us)
{
    Errata__V1__ListLayoutCoverageRequest request = ERRATA__V1__LIST_LAYOUT_COVERAGE_REQUEST__INIT;
    const struct exchange_start start = {
        .path = COVERAGE, .authorization = token, .timeout_us = timeout_us};

    exchange_open(exchange, fixture, &start);
    exchange_send(exchange, &request.base);
}

/* Runs one of the pool's jobs. */
static void run_job(struct fixture *fixture, size_t index)
{
    struct fixture_job job = {NULL, NULL, NULL};

    assert_true(index < fixture->job_count);
    job = fixture->jobs[index];
    fixture->job_count--;
    memmove(&fixture->jobs[index], &fixture->jobs[index + 1],
            (fixture->job_count - index) * sizeof(fixture->jobs[0]));
    job.work(job.job);
    job.done(job.job, OK);
}

static void expect_end(struct exchange *exchange, enum status_code code)
{
    assert_true(exchange->ended);
    assert_int_equal(exchange->code, code);
    exchange_close(exchange);
}

/* Returns the response of the method, executed directly. */
static struct slice read_learning(struct fixture *fixture, struct org_id org)
{
    const Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    int64_t today = day_of(fixture->clock.wall_us);
    struct learning_query query = {
        .org = org, .range = {today - 29, today}, .top_fields = LEARNING_TOP_FIELDS_DEFAULT};
    struct buffer body;
    struct analytics_service_get_learning_analytics_call call = {
        .ctx = &fixture->ctx,
        .org = org,
        .request = &request,
        .prepared = &query,
        .body = &body,
    };
    struct slice whole;

    buffer_init(&body, &fixture->arena, 0);
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &call.txn), OK);
    assert_int_equal(analytics_service_get_learning_analytics_read(&call), OK);
    assert_true(arena_copy(&fixture->arena, buffer_slice(&body), &whole));
    store_abort(call.txn);
    return whole;
}

static struct org_id org_of(const char *id)
{
    struct org_id org;

    assert_true(uuid_parse(slice_text(id), &org.uuid));
    return org;
}

/* Goal: a read on the pool returns the reply of the same read on the loop, and sees everything
 * committed before it arrived: its snapshot is at least as new. Method: a capture before it, its bytes
 * beside those of the method's own function; both ways to request the pool. */
static void test_pool_read_equals_a_read_on_the_loop(void **state)
{
    struct fixture fixture;
    struct exchange exchange;
    struct slice reply = {NULL, 0};
    struct slice wanted = {NULL, 0};
    char admin[FIXTURE_TOKEN_BYTES];
    const char *org = NULL;

    (void)state;
    fixture_init(&fixture);
    org = fixture_make_org(&fixture, "one", admin);
    (void)fixture_capture(&fixture, admin, NULL, "layout");
    open_learning(&exchange, &fixture, admin);
    assert_int_equal(fixture.job_count, 1);
    assert_false(exchange.ended);
    wanted = read_learning(&fixture, org_of(org));
    fixture_run(&fixture);
    assert_true(exchange_read_bytes(&exchange, &reply));
    assert_true(slice_equal(reply, wanted));
    assert_true(slice_has(reply, "qty") && slice_has(reply, "layout"));
    expect_end(&exchange, STATUS_OK);

    open_coverage(&exchange, &fixture, admin, 0);
    assert_int_equal(fixture.job_count, 1);
    fixture_run(&fixture);
    assert_true(exchange_read_bytes(&exchange, &reply));
    assert_true(slice_has(reply, "layout"));
    expect_end(&exchange, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a read that arrives after a commit sees it, even after a long wait. Method: reads that
 * arrive before and after a capture, run in the order of the queue. */
static void test_waiting_read_sees_earlier_commits(void **state)
{
    struct fixture fixture;
    struct exchange reads[2];
    struct slice reply = {NULL, 0};

    (void)state;
    fixture_init(&fixture);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "first");
    open_coverage(&reads[0], &fixture, fixture.admin, 0);
    open_coverage(&reads[1], &fixture, fixture.admin, 0);
    run_job(&fixture, 1);
    assert_true(exchange_read_bytes(&reads[1], &reply));
    assert_true(slice_has(reply, "first") && !slice_has(reply, "second"));
    expect_end(&reads[1], STATUS_OK);
    (void)fixture_capture(&fixture, fixture.admin, NULL,
                          "second"); /* runs the other read before it writes */
    assert_true(exchange_read_bytes(&reads[0], &reply));
    assert_true(slice_has(reply, "first") && !slice_has(reply, "second"));
    expect_end(&reads[0], STATUS_OK);
    open_coverage(&reads[0], &fixture, fixture.admin, 0);
    fixture_run(&fixture);
    assert_true(exchange_read_bytes(&reads[0], &reply));
    assert_true(slice_has(reply, "first") && slice_has(reply, "second"));
    expect_end(&reads[0], STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: two run at once, the others wait, and the next is of an organisation that has none running,
 * else the oldest. Method: five reads of one organisation, then two of another. */
static void test_next_read_is_of_an_idle_organisation(void **state)
{
    struct fixture fixture;
    struct exchange reads[7];
    char other[FIXTURE_TOKEN_BYTES];

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "other", other);
    for (size_t i = 0; i < 7; i++) {
        open_coverage(&reads[i], &fixture, i < 5 ? fixture.admin : other, 0);
        assert_int_equal(fixture.job_count, i < 2 ? i + 1 : PIPELINE_POOL_READS_MAX);
    }
    run_job(&fixture, 0);
    expect_end(&reads[0], STATUS_OK);
    run_job(&fixture, 1); /* the other organisation's first read was served before */
    expect_end(&reads[5], STATUS_OK);
    run_job(&fixture, 1);
    expect_end(&reads[6], STATUS_OK);
    run_job(&fixture, 0);
    expect_end(&reads[1], STATUS_OK);
    run_job(&fixture, 0);
    expect_end(&reads[2], STATUS_OK);
    assert_int_equal(fixture.job_count, 2);
    fixture_run(&fixture);
    expect_end(&reads[3], STATUS_OK);
    expect_end(&reads[4], STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: an organisation gets at most half of the queue, all together the whole, and refused callers
 * get a retry delay. Method: three organisations that request more than that. */
static void test_queue_of_reads_is_bounded(void **state)
{
    static struct exchange reads[3][ORG_WAITING_MAX + 2];
    struct fixture fixture;
    struct exchange more;
    char tokens[3][FIXTURE_TOKEN_BYTES];

    (void)state;
    fixture_init(&fixture);
    for (size_t org = 0; org < 3; org++) {
        char name[] = {'o', (char)('0' + org), '\0'};

        (void)fixture_make_org(&fixture, name, tokens[org]);
    }
    for (size_t org = 0; org < 2; org++) {
        size_t count = org == 0 ? ORG_WAITING_MAX + PIPELINE_POOL_READS_MAX : ORG_WAITING_MAX;

        for (size_t i = 0; i < count; i++) {
            open_coverage(&reads[org][i], &fixture, tokens[org], 0);
            assert_false(reads[org][i].ended);
        }
        open_coverage(&more, &fixture, tokens[org], 0);
        assert_true(slice_has(more.details, "google.rpc.RetryInfo"));
        assert_true(slice_has(more.message, "long reads"));
        expect_end(&more, STATUS_UNAVAILABLE);
    }
    open_coverage(&more, &fixture, tokens[2], 0);
    expect_end(&more, STATUS_UNAVAILABLE);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 2 * ORG_WAITING_MAX + 2);
    fixture_run(&fixture);
    for (size_t org = 0; org < 2; org++) {
        for (size_t i = 0; i < ORG_WAITING_MAX + (org == 0 ? 2 : 0); i++) {
            expect_end(&reads[org][i], STATUS_OK);
        }
    }
    fixture_deinit(&fixture);
}

/* Goal: a full pool refuses the read with a retry delay. */
static void test_full_pool_gives_a_retry_delay(void **state)
{
    struct fixture fixture;
    struct exchange exchange;

    (void)state;
    fixture_init(&fixture);
    fixture.pool_is_full = true;
    open_learning(&exchange, &fixture, fixture.admin);
    assert_true(slice_has(exchange.details, "google.rpc.RetryInfo"));
    expect_end(&exchange, STATUS_UNAVAILABLE);
    fixture.pool_is_full = false;
    open_learning(&exchange, &fixture, fixture.admin);
    fixture_run(&fixture);
    expect_end(&exchange, STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a peer that disconnects removes its read from the queue at once; a running one ends with
 * its job, and the queue continues. Method: peers of each kind, the first of the queue and its
 * last. */
static void test_cancelled_read_leaves_the_queue(void **state)
{
    struct fixture fixture;
    struct exchange reads[6];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 6; i++) {
        open_coverage(&reads[i], &fixture, fixture.admin, 0);
    }
    exchange_close(&reads[5]);
    exchange_close(&reads[2]);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 4);
    exchange_close(&reads[0]);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 4);
    run_job(&fixture, 0);
    assert_int_equal(pipeline_live_count(fixture.pipeline), 3);
    fixture_run(&fixture);
    expect_end(&reads[1], STATUS_OK);
    expect_end(&reads[3], STATUS_OK);
    expect_end(&reads[4], STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: a deadline ends a waiting read at once, a running one with its job; one whose deadline
 * passed before its job began is not started. Method: the calls' timers, and a job that starts
 * late. */
static void test_deadline_ends_a_waiting_read(void **state)
{
    struct fixture fixture;
    struct exchange reads[4];

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        open_coverage(&reads[i], &fixture, fixture.admin, i == 0 ? 0 : 100000);
    }
    clock_manual_advance(&fixture.clock, 200000);
    call_server_tick(fixture.calls, clock_monotonic_us(fixture.ctx.clock));
    assert_int_equal(pipeline_live_count(fixture.pipeline), 2);
    expect_end(&reads[2], STATUS_DEADLINE_EXCEEDED);
    open_coverage(&reads[3], &fixture, fixture.admin, 100000);
    run_job(&fixture, 1);
    expect_end(&reads[1], STATUS_DEADLINE_EXCEEDED);
    clock_manual_advance(&fixture.clock, 200000);
    fixture_run(&fixture);
    expect_end(&reads[3], STATUS_DEADLINE_EXCEEDED);
    expect_end(&reads[0], STATUS_OK);
    fixture_deinit(&fixture);
}

/* Goal: draining answers running and waiting reads, and accepts no more. */
static void test_drain_answers_queued_reads(void **state)
{
    struct fixture fixture;
    struct exchange reads[3];
    struct exchange late;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        open_coverage(&reads[i], &fixture, fixture.admin, 0);
    }
    pipeline_drain(fixture.pipeline);
    open_coverage(&late, &fixture, fixture.admin, 0);
    expect_end(&late, STATUS_UNAVAILABLE);
    fixture_run(&fixture);
    for (size_t i = 0; i < 3; i++) {
        expect_end(&reads[i], STATUS_OK);
    }
    fixture_deinit(&fixture);
}

/* Goal: an answer that exceeds a read's memory is refused, and the next read is answered. Method:
 * corrected fields with names so long that a few hundred exceed it, put bypassing the writer; a
 * request for all of them, then for one. */
static void test_answer_above_the_memory_limit_is_refused(void **state)
{
    enum {
        NAME_BYTES = 200000,
        NAMES = 150
    };
    struct fixture fixture;
    struct exchange exchange;
    struct store_txn *txn = NULL;
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    struct exchange_start start = {.path = LEARNING};
    char admin[FIXTURE_TOKEN_BYTES];
    struct counter_record record = {.count = NAMES};
    struct slice value = {NULL, 0};
    struct key key;
    struct org_id org;
    uint32_t day = 0;
    char *name = NULL;

    (void)state;
    fixture_init(&fixture);
    org = org_of(fixture_make_org(&fixture, "one", admin));
    day = (uint32_t)day_of(fixture.clock.wall_us);
    name = arena_alloc(&fixture.arena, NAME_BYTES);
    assert_non_null(name);
    memset(name, 'x', NAME_BYTES);
    assert_int_equal(store_begin(fixture.backend, STORE_WRITE, &txn), OK);
    key = key_counter(org, day, COUNTER_FIELD_NAMES, slice_of(NULL, 0));
    assert_int_equal(record_encode_counter(&fixture.arena, &record, &value), OK);
    assert_int_equal(store_put(txn, TABLE_COUNTER, key_slice(&key), value), OK);
    for (int i = 0; i < NAMES; i++) {
        name[i] = 'y';
        record.name = slice_of(name, NAME_BYTES);
        key = key_counter(org, day, COUNTER_LINE_FIELD, record.name);
        assert_int_equal(record_encode_counter(&fixture.arena, &record, &value), OK);
        assert_int_equal(store_put(txn, TABLE_COUNTER, key_slice(&key), value), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    start.authorization = admin;
    for (int top_fields = NAMES; top_fields >= 1; top_fields -= NAMES - 1) {
        request.top_fields = top_fields;
        exchange_open(&exchange, &fixture, &start);
        exchange_send(&exchange, &request.base);
        fixture_run(&fixture);
        expect_end(&exchange, top_fields == 1 ? STATUS_OK : STATUS_INTERNAL);
    }
    fixture.is_damaged = true;
    fixture_deinit(&fixture);
}

int run_long_read_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_read_equals_a_read_on_the_loop),
        cmocka_unit_test(test_waiting_read_sees_earlier_commits),
        cmocka_unit_test(test_next_read_is_of_an_idle_organisation),
        cmocka_unit_test(test_queue_of_reads_is_bounded),
        cmocka_unit_test(test_full_pool_gives_a_retry_delay),
        cmocka_unit_test(test_cancelled_read_leaves_the_queue),
        cmocka_unit_test(test_deadline_ends_a_waiting_read),
        cmocka_unit_test(test_drain_answers_queued_reads),
        cmocka_unit_test(test_answer_above_the_memory_limit_is_refused),
    };

    return cmocka_run_group_tests_name("long reads", tests, NULL, NULL);
}
