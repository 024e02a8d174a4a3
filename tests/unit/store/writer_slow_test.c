/*
 * writer_slow_test.c: the writer on a disk with slow syncs: all waiting requests share the time of a
 * sync, and a request that would be answered too late is refused. Time is simulated.
 */
#include "tests/unit/store/store_tests.h"

#include "store/writer_cost.h"
#include "tests/unit/store/writer_fixture.h"

#define MS 1000ll
#define CALLERS_MAX 128
#define ROUNDS 60

/* Callers that each have one request in flight. Callers that one batch answered send their next
 * request while the following batch runs, like callers across a network. */
struct callers {
    struct writer_fixture *fixture;
    uint32_t waiting[CALLERS_MAX]; /* callers that have an answer and will send again */
    uint32_t waiting_count;
    uint32_t answered;
};

static void submit_at(struct writer_fixture *fixture, uint32_t number, int64_t deadline_us,
                      enum err wanted)
{
    struct put_request *put = writer_fixture_put(fixture, number, 1);

    put->request.deadline_us = deadline_us;
    assert_int_equal(writer_submit(fixture->writer, &put->request), wanted);
}

static void send_waiting(struct callers *callers)
{
    for (uint32_t i = 0; i < callers->waiting_count; i++) {
        submit_at(callers->fixture, callers->waiting[i], INT64_MAX, OK);
    }
    callers->waiting_count = 0;
}

static size_t run_round(struct callers *callers, uint32_t caller_count)
{
    struct writer_fixture *fixture = callers->fixture;
    size_t taken = writer_step(fixture->writer);

    send_waiting(callers);
    writer_complete(fixture->writer);
    for (uint32_t i = 0; i < caller_count; i++) {
        if (fixture->puts[i].dones > 0) {
            assert_int_equal(fixture->puts[i].result, OK);
            fixture->puts[i].dones = 0;
            callers->waiting[callers->waiting_count++] = i;
        }
    }
    callers->answered += (uint32_t)taken;
    return taken;
}

/* Returns the number of answered requests per second of virtual time. */
static double measure_rate(struct writer_fixture *fixture, uint32_t caller_count)
{
    struct callers callers = {.fixture = fixture};
    int64_t start_us = 0;

    for (uint32_t i = 0; i < caller_count; i++) {
        callers.waiting[i] = i;
    }
    callers.waiting_count = (caller_count + 1) / 2;
    send_waiting(&callers);
    for (uint32_t i = (caller_count + 1) / 2; i < caller_count; i++) {
        callers.waiting[callers.waiting_count++] = i;
    }
    start_us = fixture->store.clock.monotonic_us;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        (void)run_round(&callers, caller_count);
    }
    start_us = fixture->store.clock.monotonic_us - start_us;
    send_waiting(&callers);
    writer_fixture_run(fixture);
    return (double)callers.answered * 1e6 / (double)start_us;
}

/* Goal: on any disk a group commit is shared by all waiting requests. Method: 4, 32 and 128
 * callers, syncs of 0 to 200 ms, work of 50 us for each request: at least .45 of the rate of one
 * batch of them all (half of them wait for the next batch). */
static void test_slow_syncs_are_shared(void **state)
{
    static const int64_t syncs_us[] = {0, 10 * MS, 20 * MS, 50 * MS, 200 * MS};
    static const uint32_t caller_counts[] = {4, 32, 128};
    struct writer_fixture *fixture = *state;

    fixture->run_us = 20;
    fixture->page_us = 30;
    for (size_t s = 0; s < sizeof(syncs_us) / sizeof(syncs_us[0]); s++) {
        fixture->sync_us = syncs_us[s];
        for (size_t c = 0; c < sizeof(caller_counts) / sizeof(caller_counts[0]); c++) {
            double callers = (double)caller_counts[c];
            double work_us = callers * (double)(fixture->run_us + fixture->page_us);
            double ideal = callers * 1e6 / ((double)fixture->sync_us + work_us);

            assert_true(measure_rate(fixture, caller_counts[c]) >= .45 * ideal);
        }
    }
}

/* The writer learns that a commit of one request takes 100 ms. */
static void learn_slow_disk(struct writer_fixture *fixture)
{
    fixture->sync_us = 100 * MS;
    for (uint32_t i = 0; i < COST_SAMPLES; i++) {
        assert_int_equal(writer_fixture_submit(fixture, i, 1), OK);
        writer_fixture_run(fixture);
    }
}

/* Goal: a request that cannot be answered within its deadline is refused at once, others are not. Method:
 * commits of 100 ms; requests with deadlines around that, first of an empty queue, then of one of more
 * than a batch. */
static void test_request_that_misses_its_deadline_is_refused_at_once(void **state)
{
    struct writer_fixture *fixture = *state;
    int64_t now_us = fixture->store.clock.monotonic_us;

    submit_at(fixture, 0, now_us + 10 * MS, OK); /* nothing is known about the duration */
    writer_fixture_run(fixture);
    learn_slow_disk(fixture);
    now_us = fixture->store.clock.monotonic_us;
    submit_at(fixture, 0, now_us + 99 * MS, ERR_BUSY);
    submit_at(fixture, 1, now_us, OK); /* the deadline has passed: its batch sets the reason */
    submit_at(fixture, 0, now_us + 100 * MS, OK);
    for (uint32_t i = 2; i < WORK_BATCH_REQUESTS_MAX; i++) {
        submit_at(fixture, i, INT64_MAX, OK);
    }
    submit_at(fixture, 1000, now_us + 199 * MS, ERR_BUSY);
    submit_at(fixture, 1000, now_us + 200 * MS, OK);
    clock_manual_advance(&fixture->store.clock, 1);
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[1].result, ERR_DEADLINE);
    assert_int_equal(fixture->puts[1000].dones, 1);
}

/* Goal: the forecast is fair: an organisation with nothing queued does not wait for all requests of
 * another one. Method: one has more than a batch queued, and a newcomer has the deadline of one
 * commit. */
static void test_forecast_is_fair(void **state)
{
    struct writer_fixture *fixture = *state;
    int64_t now_us = 0;
    struct put_request *put = NULL;

    learn_slow_disk(fixture);
    now_us = fixture->store.clock.monotonic_us;
    for (uint32_t i = 0; i < 2 * WORK_BATCH_REQUESTS_MAX; i++) {
        submit_at(fixture, i, INT64_MAX, OK);
    }
    submit_at(fixture, 1000, now_us + 150 * MS, ERR_BUSY);
    put = writer_fixture_put(fixture, 1001, 2);
    put->request.deadline_us = now_us + 150 * MS;
    assert_int_equal(writer_submit(fixture->writer, &put->request), OK);
    assert_int_equal(writer_step(fixture->writer), WORK_BATCH_REQUESTS_MAX);
    writer_complete(fixture->writer);
    assert_int_equal(put->dones, 1);
    assert_int_equal(put->result, OK);
    writer_fixture_run(fixture);
}

/* Goal: a request whose deadline no commit can meet is not started. Method: it waits until 50 ms
 * are left of it. */
static void test_request_without_time_for_a_commit_is_not_started(void **state)
{
    struct writer_fixture *fixture = *state;

    learn_slow_disk(fixture);
    submit_at(fixture, 0, fixture->store.clock.monotonic_us + 150 * MS, OK);
    submit_at(fixture, 1, INT64_MAX, OK);
    clock_manual_advance(&fixture->store.clock, 100 * MS);
    fixture->puts[0].runs = 0;
    writer_fixture_run(fixture);
    assert_int_equal(fixture->puts[0].runs, 0);
    assert_int_equal(fixture->puts[0].result, ERR_BUSY);
    assert_int_equal(fixture->puts[1].result, OK);
}

/* Goal: a wrong forecast does not refuse callers permanently. Method: the disk becomes fast; all
 * requests have short deadlines; without a commit they are accepted again after seconds, and the
 * next ones at once. */
static void test_wrong_forecast_recovers(void **state)
{
    struct writer_fixture *fixture = *state;
    enum err err = ERR_BUSY;
    uint32_t seconds = 0;

    learn_slow_disk(fixture);
    fixture->sync_us = 0;
    for (; err == ERR_BUSY && seconds < 10; seconds++) {
        struct put_request *put = writer_fixture_put(fixture, 0, 1);

        clock_manual_advance(&fixture->store.clock, 1000 * MS);
        put->request.deadline_us = fixture->store.clock.monotonic_us + 10 * MS;
        err = writer_submit(fixture->writer, &put->request);
    }
    assert_int_equal(err, OK);
    assert_true(seconds > 1 && seconds < 6);
    for (uint32_t i = 1; i < COST_SAMPLES; i++) {
        writer_fixture_run(fixture);
        submit_at(fixture, i, fixture->store.clock.monotonic_us + 10 * MS, OK);
    }
    writer_fixture_run(fixture);
}

int run_writer_slow_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_slow_syncs_are_shared, writer_fixture_set_up,
                                        writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_request_that_misses_its_deadline_is_refused_at_once,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_forecast_is_fair, writer_fixture_set_up,
                                        writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_request_without_time_for_a_commit_is_not_started,
                                        writer_fixture_set_up, writer_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_forecast_recovers, writer_fixture_set_up,
                                        writer_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("writer_slow", tests, NULL, NULL);
}
