/*
 * jobs_test.c: documents through the jobs, on a real loop and pool with the fake worker: ends, bounds,
 * order, cancellation in each state, and a worker that ends meanwhile.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include "server/jobs/pdf/pdf_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#define ARENA_BYTES ((size_t)8 << 20)
#define DOCUMENTS_MAX 300
#define HEALTH_MAX 16

struct fixture {
    struct programs programs;
    uv_loop_t loop;
    uv_timer_t watchdog;
    struct pool *pool;
    struct pdf_jobs *jobs;
    size_t descriptors;
    size_t done_count;
    bool health[HEALTH_MAX];
    size_t health_count;
    struct clock_manual clock;
};

/* The document of a call. */
struct document {
    struct fixture *fixture;
    struct pdf_job *job;
    const char *late; /* bytes appended in work, or NULL */
    struct arena arena;
    atomic_bool worked;
    size_t done; /* position of its completion, from 1; 0: not done yet */
    enum err result; /* result of done */
    enum err measured; /* result of measure */
    struct sha256_digest sha256;
    uint64_t size_bytes;
    struct pdf_answer answer;
};

static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    fail_msg("nothing happened for %d ms", TEST_WAIT_MS);
}

static void on_health(void *user, bool serving)
{
    struct fixture *fixture = user;

    assert_true(fixture->health_count < HEALTH_MAX);
    fixture->health[fixture->health_count++] = serving;
}

static int set_up(void **state)
{
    static struct fixture fixture;

    /* The pool's threads and their descriptors exist before the count. */
    memset(&fixture, 0, sizeof(fixture));
    assert_int_equal(uv_loop_init(&fixture.loop), 0);
    assert_int_equal(uv_timer_init(&fixture.loop, &fixture.watchdog), 0);
    assert_int_equal(pool_new(&fixture.loop, &fixture.pool), OK);
    programs_init(&fixture.programs);
    clock_manual_init(&fixture.clock, 0);
    *state = &fixture;
    return 0;
}

static void begin(struct fixture *fixture, const char *program, unsigned slots, uint32_t ready_ms)
{
    const struct pdf_jobs_config config = {.loop = &fixture->loop,
                                           .pool = fixture->pool,
                                           .clock = &fixture->clock.clock,
                                           .program = program,
                                           .slots = slots,
                                           .ready_ms = ready_ms,
                                           .restart_ms_max = 2 * PDF_RESTART_MS_MIN,
                                           .on_health = on_health,
                                           .user = fixture};

    fixture->descriptors = open_descriptors();
    assert_int_equal(pdf_jobs_new(&config, &fixture->jobs), OK);
    uv_update_time(&fixture->loop);
    pdf_jobs_start(fixture->jobs);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    pdf_jobs_stop(fixture->jobs);
    uv_close((uv_handle_t *)&fixture->watchdog, NULL);
    (void)uv_run(&fixture->loop, UV_RUN_DEFAULT);
    pdf_jobs_free(fixture->jobs);
    assert_int_equal(open_descriptors(), fixture->descriptors);
    pool_free(fixture->pool);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    programs_deinit(&fixture->programs);
    return 0;
}

static void run_until_done(struct fixture *fixture, size_t count)
{
    assert_int_equal(uv_timer_start(&fixture->watchdog, on_watchdog, TEST_WAIT_MS, 0), 0);
    while (fixture->done_count < count) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    (void)uv_timer_stop(&fixture->watchdog);
}

static void run_until_health(struct fixture *fixture, bool serving)
{
    assert_int_equal(uv_timer_start(&fixture->watchdog, on_watchdog, TEST_WAIT_MS, 0), 0);
    while (fixture->health_count == 0 || fixture->health[fixture->health_count - 1] != serving) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    (void)uv_timer_stop(&fixture->watchdog);
}

static struct uuid org(uint8_t number)
{
    return (struct uuid){{number}};
}

/* Opens a job whose document holds `text`. */
static void open_document(struct fixture *fixture, uint8_t of_org, const char *text,
                          struct document *ret_document)
{
    struct slice bytes = slice_text(text);

    memset(ret_document, 0, sizeof(*ret_document));
    ret_document->fixture = fixture;
    assert_int_equal(pdf_job_open(fixture->jobs, org(of_org), &ret_document->job), OK);
    assert_int_equal(pdf_job_reserve(ret_document->job, bytes.size), OK);
    assert_int_equal(pdf_job_append(ret_document->job, bytes), OK);
}

static void work(void *user)
{
    const struct pdf_job_request request = {.flags = 0};
    struct document *document = user;

    document->worked = true;
    arena_init(&document->arena, ARENA_BYTES);
    if (document->late != NULL) {
        assert_int_equal(pdf_job_append(document->job, slice_text(document->late)), OK);
    }
    document->measured =
        pdf_job_measure(document->job, &request, &document->arena, &document->sha256,
                        &document->size_bytes, &document->answer);
}

static void done(void *user, enum err result)
{
    struct document *document = user;

    assert_int_equal(document->done, 0);
    document->done = ++document->fixture->done_count;
    document->result = result;
    if (document->worked) {
        arena_deinit(&document->arena);
    }
    pdf_job_close(document->job);
}

static void submit(struct document *document)
{
    size_t before = document->fixture->done_count;

    assert_int_equal(pdf_job_submit(document->job, work, done, document), OK);
    assert_int_equal(document->fixture->done_count,
                     before); /* never called inside another function */
}

/* Goal: a document is measured, with the hash and size of the bytes appended in several pieces, in
 * `work`, too, and counted. Method: one that is answered, one refused, one cut, one of no bytes at
 * all. */
static void test_document_is_measured_and_counted(void **state)
{
    struct fixture *fixture = *state;
    struct document documents[4];
    struct sha256_digest expected = sha256(SLICE("text tables"));
    struct pdf_jobs_stats stats;

    begin(fixture, FAKE_WORKER, 2, 0);
    open_document(fixture, 1, "text ", &documents[0]);
    documents[0].late = "tables";
    assert_int_equal(pdf_job_reserve(documents[0].job, 6), OK);
    open_document(fixture, 1, "refuse", &documents[1]);
    open_document(fixture, 2, "text cut", &documents[2]);
    open_document(fixture, 2, "", &documents[3]);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).jobs_live, 4);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).held_bytes, 11 + 6 + 8);
    for (size_t i = 0; i < 4; i++) {
        submit(&documents[i]);
    }
    run_until_done(fixture, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(documents[i].result, OK);
        assert_int_equal(documents[i].measured, OK);
    }
    assert_int_equal(documents[0].answer.reason, PDF_READ);
    assert_int_equal(documents[0].answer.tables.table_count, 1);
    assert_int_equal(documents[0].size_bytes, 11);
    assert_memory_equal(documents[0].sha256.bytes, expected.bytes, SHA256_BYTES);
    assert_int_equal(documents[1].answer.reason, PDF_NO_PAGES);
    assert_int_equal(documents[2].answer.cut, PDF_CUT_RULINGS);
    assert_int_equal(documents[3].answer.reason, PDF_CRASHED);
    assert_int_equal(documents[3].size_bytes, 0);
    stats = pdf_jobs_read_stats(fixture->jobs);
    assert_int_equal(stats.jobs_live, 0);
    assert_int_equal(stats.held_bytes, 0);
    assert_int_equal(stats.measured_total, 2);
    assert_int_equal(stats.refused_total, 2);
    assert_int_equal(stats.cut_total, 1);
    assert_int_equal(stats.failed_total, 0);
    assert_int_equal(stats.cancelled_total, 0);
    assert_int_equal(stats.cpu_us_total, 4 * 1234);
    assert_int_equal(stats.worker_starts_total, 1);
    assert_int_equal(fixture->health_count, 1);
    assert_true(fixture->health[0]);
}

/* Measures one document, from its opening to its end. */
static struct document measure_one(struct fixture *fixture, uint8_t of_org, const char *text)
{
    struct document document;

    fixture->done_count = 0;
    open_document(fixture, of_org, text, &document);
    submit(&document);
    run_until_done(fixture, 1);
    assert_int_equal(document.result, OK);
    return document;
}

/* Goal: a document that was starved of CPU may be sent again once; the second time is final:
 * without a text it is refused, with one it has no tables. Another organisation's is another
 * document, one that was measured meanwhile starts again, and old entries are forgotten. Method:
 * the fake worker reports which job waited for a processor; the clock is manual. */
static void test_document_is_starved_at_most_twice(void **state)
{
    struct fixture *fixture = *state;
    struct document document;

    begin(fixture, FAKE_WORKER, 1, 0);
    assert_int_equal(measure_one(fixture, 1, "server-starved").measured, ERR_UNAVAILABLE);
    assert_int_equal(measure_one(fixture, 1, "text server-starved").measured, ERR_UNAVAILABLE);
    assert_int_equal(measure_one(fixture, 1, "text tables").measured, OK);
    assert_int_equal(measure_one(fixture, 2, "server-starved").measured, ERR_UNAVAILABLE);
    clock_manual_advance(&fixture->clock, PDF_STARVED_KEEP_US);
    document = measure_one(fixture, 1, "server-starved");
    assert_int_equal(document.measured, OK);
    assert_int_equal(document.answer.reason, PDF_WALL_LIMIT);
    document = measure_one(fixture, 1, "text server-starved");
    assert_int_equal(document.measured, OK);
    assert_int_equal(document.answer.reason, PDF_READ);
    assert_int_equal(document.answer.cut, PDF_CUT_LIMIT);
    clock_manual_advance(&fixture->clock, 1);
    assert_int_equal(measure_one(fixture, 2, "server-starved").measured, ERR_UNAVAILABLE);
    clock_manual_advance(&fixture->clock, PDF_STARVED_KEEP_US);
    assert_int_equal(measure_one(fixture, 1, "server-starved").measured, ERR_UNAVAILABLE);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).refused_total, 1);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).cut_total, 1);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).failed_total, 5);
}

/* Goal: a job that does not fit is refused at once, and counted. Method: the jobs of an
 * organisation, and the bytes of a document and of an organisation. */
static void test_job_out_of_bounds_is_refused_and_counted(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_job *jobs[PDF_JOBS_MAX];
    struct pdf_job *other = NULL;
    size_t count = 0;

    begin(fixture, FAKE_WORKER, 1, 0);
    while (count < PDF_JOBS_MAX && pdf_job_open(fixture->jobs, org(1), &jobs[count]) == OK) {
        count++;
    }
    assert_int_equal(count, PDF_JOBS_MAX / 2);
    assert_int_equal(pdf_job_open(fixture->jobs, org(1), &other), ERR_QUOTA);
    assert_int_equal(pdf_job_reserve(jobs[0], PDF_DOCUMENT_BYTES_MAX + 1), ERR_TOO_LARGE);
    assert_int_equal(pdf_job_reserve(jobs[0], PDF_DOCUMENT_BYTES_MAX), OK);
    assert_int_equal(pdf_job_reserve(jobs[0], 1), ERR_TOO_LARGE);
    assert_int_equal(pdf_job_reserve(jobs[1], PDF_DOCUMENT_BYTES_MAX), OK);
    assert_int_equal(pdf_job_reserve(jobs[2], 1), ERR_QUOTA);
    assert_int_equal(pdf_job_open(fixture->jobs, org(2), &other), OK);
    assert_int_equal(pdf_job_reserve(other, PDF_DOCUMENT_BYTES_MAX), OK);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).busy_total, 3);
    pdf_job_close(other);
    while (count > 0) {
        pdf_job_close(jobs[--count]);
    }
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).held_bytes, 0);
}

/* Goal: an organisation with many documents delays another's first one by one document per slot,
 * and its documents keep their order. Method: 100 of one and one of another, on one slot. */
static void test_organisations_take_turns(void **state)
{
    static struct document many[100];
    struct fixture *fixture = *state;
    struct document one;

    begin(fixture, FAKE_WORKER, 1, 0);
    run_until_health(fixture, true);
    for (size_t i = 0; i < 100; i++) {
        open_document(fixture, 1, "refuse", &many[i]);
        submit(&many[i]);
    }
    open_document(fixture, 2, "refuse", &one);
    submit(&one);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).jobs_running, 1);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).jobs_waiting, 100);
    run_until_done(fixture, 101);
    /* The first job already runs; the next one comes from that queue. */
    assert_int_equal(one.done, 3);
    for (size_t i = 1; i < 100; i++) {
        assert_true(many[i].done > many[i - 1].done);
    }
}

/* Goal: a job can be cancelled in any state, and reports it later. Method: one that arrives, one
 * that waits, one that runs and would hang forever, one that has already reported; each twice. */
static void test_job_can_be_cancelled_in_any_state(void **state)
{
    struct fixture *fixture = *state;
    struct document arriving;
    struct document waiting;
    struct document running;
    struct document after;
    struct document unsubmitted;

    begin(fixture, FAKE_WORKER, 1, 0);
    run_until_health(fixture, true);
    open_document(fixture, 1, "text hang", &running);
    open_document(fixture, 1, "text tables", &waiting);
    open_document(fixture, 1, "text tables", &arriving);
    open_document(fixture, 1, "text tables", &after);
    open_document(fixture, 1, "text tables", &unsubmitted);
    submit(&running);
    submit(&waiting);
    submit(&after);
    pdf_job_cancel(unsubmitted.job);
    pdf_job_close(unsubmitted.job);
    pdf_job_cancel(arriving.job);
    submit(&arriving);
    pdf_job_cancel(waiting.job);
    pdf_job_cancel(waiting.job);
    pdf_job_cancel(arriving.job);
    assert_int_equal(fixture->done_count, 0);
    run_until_done(fixture, 2);
    assert_int_equal(arriving.result, ERR_CANCELLED);
    assert_int_equal(waiting.result, ERR_CANCELLED);
    assert_false(arriving.worked || waiting.worked);
    /* If it is cancelled at once, `work` need not run; a while later its child hangs. */
    while (!running.worked) {
        (void)usleep(1000);
    }
    (void)usleep(50000);
    assert_int_equal(running.done, 0);
    pdf_job_cancel(running.job);
    pdf_job_cancel(running.job);
    run_until_done(fixture, 4);
    assert_true(running.worked);
    assert_int_equal(running.result, OK);
    assert_int_equal(running.measured, ERR_CANCELLED);
    assert_int_equal(after.measured, OK);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).cancelled_total, 3);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).measured_total, 1);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).worker_starts_total, 1);
}

static void block(void *user)
{
    uv_sem_wait(user);
}

static void unblocked(void *user, enum err result)
{
    (void)user;
    assert_int_equal(result, OK);
}

/* Goal: a job that has a slot but no thread yet does not start once it is cancelled. Method: all
 * threads of the pool held meanwhile. */
static void test_cancelled_job_without_a_thread_does_not_start(void **state)
{
    struct fixture *fixture = *state;
    struct document document;
    uv_sem_t gate;

    begin(fixture, FAKE_WORKER, 1, 0);
    run_until_health(fixture, true);
    assert_int_equal(uv_sem_init(&gate, 0), 0);
    for (unsigned i = 0; i < POOL_THREADS; i++) {
        assert_int_equal(pool_submit(fixture->pool, block, unblocked, &gate), OK);
    }
    open_document(fixture, 1, "text tables", &document);
    submit(&document);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).jobs_running, 1);
    pdf_job_cancel(document.job);
    for (unsigned i = 0; i < POOL_THREADS; i++) {
        uv_sem_post(&gate);
    }
    run_until_done(fixture, 1);
    assert_int_equal(document.result, ERR_CANCELLED);
    assert_false(document.worked);
    while (pool_count(fixture->pool) > 0) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    uv_sem_destroy(&gate);
}

/* Goal: a fork server that dies fails only the running job; waiting ones are measured by the next,
 * and health reports both changes. Method: a document that kills it, others after it; then one that
 * makes it break the protocol, so that it is replaced. */
static void test_lost_worker_fails_only_the_running_job(void **state)
{
    static const char *const deadly[] = {"server-dies", "server-closes", "server-lies"};
    struct fixture *fixture = *state;
    struct document documents[3][4];
    struct pdf_jobs_stats stats;

    begin(fixture, FAKE_WORKER, 1, 0);
    for (size_t round = 0; round < 3; round++) {
        run_until_health(fixture, true);
        for (size_t i = 0; i < 4; i++) {
            open_document(fixture, 1, i == 0 ? deadly[round] : "text tables", &documents[round][i]);
            submit(&documents[round][i]);
        }
        run_until_done(fixture, 4 * (round + 1));
        assert_int_equal(documents[round][0].result, OK);
        assert_int_equal(documents[round][0].measured, ERR_UNAVAILABLE);
        for (size_t i = 1; i < 4; i++) {
            assert_int_equal(documents[round][i].result, OK);
            assert_int_equal(documents[round][i].measured, OK);
        }
    }
    stats = pdf_jobs_read_stats(fixture->jobs);
    assert_int_equal(stats.failed_total, 3);
    assert_int_equal(stats.measured_total, 9);
    assert_int_equal(stats.worker_starts_total, 4);
    assert_int_equal(fixture->health_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(fixture->health[i], i % 2 == 0);
    }
}

/* Goal: jobs wait for a worker that starts, and end once none is expected; then none is accepted,
 * until one is ready again. Method: a program that is never ready, then a working one under its
 * name. */
static void test_jobs_end_if_no_worker_can_start(void **state)
{
    struct fixture *fixture = *state;
    struct document waiting;
    struct document arriving;
    struct document next;
    struct pdf_job *job = NULL;
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s", programs_make(&fixture->programs, "never-ready"));
    begin(fixture, path, 1, 100);
    open_document(fixture, 1, "text tables", &waiting);
    open_document(fixture, 1, "text tables", &arriving);
    submit(&waiting);
    /* The file goes away, so that it cannot even be started. */
    assert_int_equal(unlink(path), 0);
    run_until_done(fixture, 1);
    assert_int_equal(waiting.result, ERR_UNAVAILABLE);
    assert_false(waiting.worked);
    assert_int_equal(fixture->health_count, 0);
    assert_int_equal(pdf_job_open(fixture->jobs, org(1), &job), ERR_UNAVAILABLE);
    submit(&arriving);
    run_until_done(fixture, 2);
    assert_int_equal(arriving.result, ERR_UNAVAILABLE);
    assert_int_equal(pdf_jobs_read_stats(fixture->jobs).failed_total, 2);
    /* The path refers to a working worker now. */
    assert_int_equal(symlink(FAKE_WORKER, path), 0);
    run_until_health(fixture, true);
    open_document(fixture, 1, "text tables", &next);
    submit(&next);
    run_until_done(fixture, 3);
    assert_int_equal(next.measured, OK);
}

/* Goal: a job that cannot get its descriptors ends without affecting the next. Method: a limit that
 * leaves none, while it is submitted. */
static void test_job_without_descriptors_ends(void **state)
{
    static const rlim_t limits[] = {1, 0}; /* 0 selects the default */
    struct fixture *fixture = *state;
    struct document documents[2];
    struct rlimit usual;

    begin(fixture, FAKE_WORKER, 1, 0);
    run_until_health(fixture, true);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (size_t i = 0; i < 2; i++) {
        struct rlimit limit = {limits[i] != 0 ? limits[i] : usual.rlim_cur, usual.rlim_max};

        open_document(fixture, 1, "text tables", &documents[i]);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        submit(&documents[i]);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
        run_until_done(fixture, i + 1);
    }
    assert_int_equal(documents[0].result, ERR_MEMORY);
    assert_false(documents[0].worked);
    assert_int_equal(documents[1].result, OK);
    assert_int_equal(documents[1].measured, OK);
}

/* Goal: no job is accepted before the start, and jobs that were never started are freed. Method: a
 * job before the start, and one that waits at the end. */
static void test_jobs_before_the_start_are_refused(void **state)
{
    struct fixture *fixture = *state;
    const struct pdf_jobs_config config = {
        .loop = &fixture->loop, .pool = fixture->pool, .program = FAKE_WORKER, .slots = 1};
    struct pdf_job *job = NULL;

    fixture->descriptors = open_descriptors();
    assert_int_equal(pdf_jobs_new(&config, &fixture->jobs), OK);
    assert_int_equal(pdf_job_open(fixture->jobs, org(1), &job), ERR_UNAVAILABLE);
    pdf_jobs_free(NULL);
}

int run_jobs_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_document_is_measured_and_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_document_is_starved_at_most_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_job_out_of_bounds_is_refused_and_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_organisations_take_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_job_can_be_cancelled_in_any_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelled_job_without_a_thread_does_not_start, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_lost_worker_fails_only_the_running_job, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_jobs_end_if_no_worker_can_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_job_without_descriptors_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jobs_before_the_start_are_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
