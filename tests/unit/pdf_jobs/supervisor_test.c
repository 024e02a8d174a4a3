/*
 * supervisor_test.c: a supervised worker on a real loop: pauses that grow and are reset, whether
 * jobs wait, and one log line per change. Times are only compared from below, so that a slow
 * machine fails nothing.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include "server/jobs/pdf/pdf_jobs.h"
#include "server/jobs/pdf/pdf_supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHANGES_MAX 64

struct fixture {
    struct programs programs;
    uv_loop_t loop;
    uv_timer_t watchdog;
    uv_timer_t caller; /* calls the supervisor in the loop */
    struct pdf_supervisor supervisor;
    size_t descriptors;
    /* The changes that on_change was called with. */
    size_t change_count;
    enum pdf_supervisor_state states[CHANGES_MAX];
    uint64_t times_ms[CHANGES_MAX];
};

static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    fail_msg("nothing happened for %d ms", TEST_WAIT_MS);
}

static void on_change(void *user)
{
    struct fixture *fixture = user;

    assert_true(fixture->change_count < CHANGES_MAX);
    fixture->states[fixture->change_count] = fixture->supervisor.state;
    fixture->times_ms[fixture->change_count] = uv_now(&fixture->loop);
    fixture->change_count++;
}

static int set_up(void **state)
{
    static struct fixture fixture;

    memset(&fixture, 0, sizeof(fixture));
    fixture.descriptors = open_descriptors();
    programs_init(&fixture.programs);
    assert_int_equal(uv_loop_init(&fixture.loop), 0);
    assert_int_equal(uv_timer_init(&fixture.loop, &fixture.watchdog), 0);
    assert_int_equal(uv_timer_init(&fixture.loop, &fixture.caller), 0);
    *state = &fixture;
    return 0;
}

static void begin(struct fixture *fixture, const char *program, uint32_t ready_ms, uint32_t max_ms)
{
    assert_int_equal(pdf_supervisor_init(&fixture->supervisor, program, ready_ms, max_ms), OK);
    uv_update_time(&fixture->loop);
    pdf_supervisor_start(&fixture->supervisor, &fixture->loop, on_change, fixture);
}

/* Runs turns of the loop until this many changes were seen. */
static void run_until(struct fixture *fixture, size_t changes)
{
    assert_int_equal(uv_timer_start(&fixture->watchdog, on_watchdog, TEST_WAIT_MS, 0), 0);
    while (fixture->change_count < changes) {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    (void)uv_timer_stop(&fixture->watchdog);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    pdf_supervisor_stop(&fixture->supervisor);
    uv_close((uv_handle_t *)&fixture->watchdog, NULL);
    uv_close((uv_handle_t *)&fixture->caller, NULL);
    (void)uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    pdf_supervisor_deinit(&fixture->supervisor);
    programs_deinit(&fixture->programs);
    assert_int_equal(open_descriptors(), fixture->descriptors);
    return 0;
}

/* Goal: a worker that dies is started again; jobs wait while its restart is due soon. Method:
 * killed by hand, twice. */
static void test_dead_worker_is_started_again(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_supervisor *supervisor = &fixture->supervisor;

    begin(fixture, FAKE_WORKER, 0, 0);
    assert_true(pdf_supervisor_is_worth_waiting(supervisor));
    assert_false(pdf_supervisor_is_ready(supervisor));
    for (size_t i = 0; i < 2; i++) {
        run_until(fixture, 2 * i + 1);
        assert_true(pdf_supervisor_is_ready(supervisor));
        assert_int_equal(supervisor->starts, i + 1);
        assert_int_equal(kill(supervisor->worker.pid, SIGKILL), 0);
        run_until(fixture, 2 * i + 2);
        assert_int_equal(supervisor->state, PDF_SUPERVISOR_PAUSED);
        assert_true(pdf_supervisor_is_worth_waiting(supervisor));
        assert_int_equal(supervisor->worker.pid, 0);
    }
    run_until(fixture, 5);
    assert_true(fixture->times_ms[2] >= fixture->times_ms[1] + PDF_RESTART_MS_MIN);
    assert_true(fixture->times_ms[4] >= fixture->times_ms[3] + 2 * PDF_RESTART_MS_MIN);
}

/* Goal: a worker that was ready for the greatest pause begins with the smallest one again. Method: a
 * greatest pause that is short, and waiting for it. */
static void test_pause_restarts_after_a_stable_worker(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_supervisor *supervisor = &fixture->supervisor;

    begin(fixture, FAKE_WORKER, 0, 4 * PDF_RESTART_MS_MIN);
    run_until(fixture, 1);
    supervisor->pause_ms = 3 * PDF_RESTART_MS_MIN;
    assert_int_equal(uv_timer_start(&fixture->watchdog, on_watchdog, TEST_WAIT_MS, 0), 0);
    while (uv_now(&fixture->loop) < supervisor->ready_at_ms + supervisor->pause_ms_max) {
        (void)uv_run(&fixture->loop, UV_RUN_NOWAIT);
        (void)usleep(1000);
    }
    assert_int_equal(kill(supervisor->worker.pid, SIGKILL), 0);
    run_until(fixture, 2);
    assert_int_equal(supervisor->pause_ms, 2 * PDF_RESTART_MS_MIN);
    run_until(fixture, 3);
    assert_true(pdf_supervisor_is_ready(supervisor));
}

/* Goal: the pauses of a worker that never becomes ready grow up to the limit, and jobs stop waiting
 * for it. Method: a program that ends at once; the changes' times. */
static void test_pauses_grow_to_the_limit(void **state)
{
    struct fixture *fixture = *state;
    struct pdf_supervisor *supervisor = &fixture->supervisor;
    uint64_t pause_ms = PDF_RESTART_MS_MIN;

    begin(fixture, programs_make(&fixture->programs, "dies-at-start"), 0, 4 * PDF_RESTART_MS_MIN);
    run_until(fixture, 5);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(fixture->states[i], PDF_SUPERVISOR_PAUSED);
        assert_true(fixture->times_ms[i + 1] >= fixture->times_ms[i] + pause_ms);
        pause_ms = pause_ms < 400 ? pause_ms * 2 : pause_ms;
    }
    assert_int_equal(supervisor->starts, 5);
    while (pdf_supervisor_is_worth_waiting(supervisor)) {
        run_until(fixture, fixture->change_count + 1);
    }
    /* The next start would be too late for a waiting job. */
    assert_true(uv_now(&fixture->loop) + supervisor->pause_ms_max >
                supervisor->lost_at_ms + PDF_OUTAGE_MS);
}

/* Goal: a worker that sends nothing, or the wrong message, has only a bounded time to start.
 * Method: one that hangs at its start, and one of another version. */
static void test_worker_that_is_never_ready_is_given_up(void **state)
{
    struct fixture *fixture = *state;

    begin(fixture, programs_make(&fixture->programs, "never-ready"), 100, 0);
    run_until(fixture, 1);
    assert_int_equal(fixture->states[0], PDF_SUPERVISOR_PAUSED);
    assert_string_equal(fixture->supervisor.problem, "the PDF worker was not ready in time");
    pdf_supervisor_stop(&fixture->supervisor);
    (void)uv_run(&fixture->loop, UV_RUN_NOWAIT);
    pdf_supervisor_deinit(&fixture->supervisor);
    memset(&fixture->supervisor, 0, sizeof(fixture->supervisor));
    fixture->change_count = 0;
    begin(fixture, programs_make(&fixture->programs, "other-version"), 0, 0);
    run_until(fixture, 1);
    assert_int_equal(fixture->states[0], PDF_SUPERVISOR_PAUSED);
    assert_non_null(strstr(fixture->supervisor.problem, "has protocol version 4"));
}

/* Returns the number of lines with `text` in a file. */
static unsigned count_lines(int file, const char *text)
{
    static char content[65536];
    ssize_t size = pread(file, content, sizeof(content) - 1, 0);
    unsigned count = 0;

    assert_true(size >= 0);
    content[size] = '\0';
    for (const char *at = strstr(content, text); at != NULL; at = strstr(at + 1, text)) {
        count++;
    }
    return count;
}

/* Goal: a missing program is reported once, no job waits for it, and it is found once it exists.
 * Method: a path at which the program appears later; standard error is redirected to a file. */
static void test_missing_program_is_reported_once(void **state)
{
    struct fixture *fixture = *state;
    int error = dup(STDERR_FILENO);
    int file = memfd_create("log", MFD_CLOEXEC);

    (void)programs_make(&fixture->programs, "worker");
    assert_int_equal(unlink(fixture->programs.path), 0);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
    begin(fixture, fixture->programs.path, 0, 2 * PDF_RESTART_MS_MIN);
    assert_int_equal(fixture->change_count, 1);
    assert_false(pdf_supervisor_is_worth_waiting(&fixture->supervisor));
    run_until(fixture, 3);
    assert_false(pdf_supervisor_is_worth_waiting(&fixture->supervisor));
    (void)programs_make(&fixture->programs, "worker");
    while (!pdf_supervisor_is_ready(&fixture->supervisor)) {
        run_until(fixture, fixture->change_count + 1);
    }
    assert_int_equal(dup2(error, STDERR_FILENO), STDERR_FILENO);
    assert_true(pdf_supervisor_is_worth_waiting(&fixture->supervisor));
    assert_int_equal(count_lines(file, ": No such file or directory"), 1);
    assert_int_equal(count_lines(file, "the PDF worker is ready: Poppler 0.0.0"), 1);
    assert_int_equal(close(error), 0);
    assert_int_equal(close(file), 0);
}

static void on_replace_start(uv_timer_t *timer)
{
    struct fixture *fixture = timer->data;

    pdf_supervisor_replace(&fixture->supervisor);
}

static void on_replace_stopped(uv_timer_t *timer)
{
    struct fixture *fixture = timer->data;
    pid_t pid = fixture->supervisor.worker.pid;

    assert_int_equal(kill(pid, SIGSTOP), 0);
    pdf_supervisor_replace(&fixture->supervisor);
    assert_int_equal(kill(pid, 0), -1);
    assert_true(fixture->supervisor.worker.killed);
    pdf_supervisor_replace(&fixture->supervisor); /* in the pause, after the worker has ended */
}

/* Runs a callback in the loop, as all callers of pdf_supervisor_replace are: a handle that is closed outside of it is
 * still closing if a timer is due first. */
static void run_in_loop(struct fixture *fixture, uv_timer_cb callback)
{
    fixture->caller.data = fixture;
    assert_int_equal(uv_timer_start(&fixture->caller, callback, 0, 0), 0);
}

/* Goal: a replaced worker has ended, and another one starts. Method: a worker that does not end by
 * itself, as it is stopped by a signal. */
static void test_replaced_worker_is_gone(void **state)
{
    struct fixture *fixture = *state;

    begin(fixture, FAKE_WORKER, 0, 0);
    run_in_loop(fixture, on_replace_start);
    run_until(fixture, 2);
    assert_true(pdf_supervisor_is_ready(&fixture->supervisor));
    run_in_loop(fixture, on_replace_stopped);
    run_until(fixture, 4);
    assert_true(pdf_supervisor_is_ready(&fixture->supervisor));
    assert_int_equal(fixture->supervisor.starts, 3);
}

int run_supervisor_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dead_worker_is_started_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pause_restarts_after_a_stable_worker, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_pauses_grow_to_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_worker_that_is_never_ready_is_given_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_missing_program_is_reported_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced_worker_is_gone, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
