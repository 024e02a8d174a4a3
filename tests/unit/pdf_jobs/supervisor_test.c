/*
 * supervisor_test.c: a worker kept running on a real loop: pauses that grow and start over, when
 * waiting makes sense, and one line a change in the log. Times are only compared from below, so
 * that a slow machine fails nothing.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include "server/jobs/pdf/pdf_jobs.h"
#include "server/jobs/pdf/pdf_supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHANGES_MAX 64

struct world {
    struct programs programs;
    uv_loop_t loop;
    uv_timer_t watchdog;
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
    struct world *world = user;

    assert_true(world->change_count < CHANGES_MAX);
    world->states[world->change_count] = world->supervisor.state;
    world->times_ms[world->change_count] = uv_now(&world->loop);
    world->change_count++;
}

static int set_up(void **state)
{
    static struct world world;

    memset(&world, 0, sizeof(world));
    world.descriptors = open_descriptors();
    programs_init(&world.programs);
    assert_int_equal(uv_loop_init(&world.loop), 0);
    assert_int_equal(uv_timer_init(&world.loop, &world.watchdog), 0);
    *state = &world;
    return 0;
}

static void begin(struct world *world, const char *program, uint32_t ready_ms, uint32_t max_ms)
{
    assert_int_equal(pdf_supervisor_init(&world->supervisor, program, ready_ms, max_ms), OK);
    uv_update_time(&world->loop);
    pdf_supervisor_start(&world->supervisor, &world->loop, on_change, world);
}

/* Turns of the loop until so many changes were seen. */
static void run_until(struct world *world, size_t changes)
{
    assert_int_equal(uv_timer_start(&world->watchdog, on_watchdog, TEST_WAIT_MS, 0), 0);
    while (world->change_count < changes) {
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    }
    (void)uv_timer_stop(&world->watchdog);
}

static int tear_down(void **state)
{
    struct world *world = *state;

    pdf_supervisor_stop(&world->supervisor);
    uv_close((uv_handle_t *)&world->watchdog, NULL);
    (void)uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    pdf_supervisor_deinit(&world->supervisor);
    programs_deinit(&world->programs);
    assert_int_equal(open_descriptors(), world->descriptors);
    return 0;
}

/* Goal: a worker that dies is started again; jobs wait while its restart is due soon. Method:
 * killed by hand, twice. */
static void test_dead_worker_is_started_again(void **state)
{
    struct world *world = *state;
    struct pdf_supervisor *supervisor = &world->supervisor;

    begin(world, FAKE_WORKER, 0, 0);
    assert_true(pdf_supervisor_is_worth_waiting(supervisor));
    assert_false(pdf_supervisor_is_ready(supervisor));
    for (size_t i = 0; i < 2; i++) {
        run_until(world, 2 * i + 1);
        assert_true(pdf_supervisor_is_ready(supervisor));
        assert_int_equal(supervisor->starts, i + 1);
        assert_int_equal(kill(supervisor->worker.pid, SIGKILL), 0);
        run_until(world, 2 * i + 2);
        assert_int_equal(supervisor->state, PDF_SUPERVISOR_PAUSED);
        assert_true(pdf_supervisor_is_worth_waiting(supervisor));
        assert_int_equal(supervisor->worker.pid, 0);
    }
    run_until(world, 5);
    assert_true(world->times_ms[2] >= world->times_ms[1] + PDF_RESTART_MS_MIN);
    assert_true(world->times_ms[4] >= world->times_ms[3] + 2 * PDF_RESTART_MS_MIN);
}

/* Goal: a worker that was ready for the greatest pause begins with the smallest one again. Method: a
 * greatest pause that is short, and waiting for it. */
static void test_pause_restarts_after_a_stable_worker(void **state)
{
    struct world *world = *state;
    struct pdf_supervisor *supervisor = &world->supervisor;

    begin(world, FAKE_WORKER, 0, 4 * PDF_RESTART_MS_MIN);
    run_until(world, 1);
    supervisor->pause_ms = 3 * PDF_RESTART_MS_MIN;
    assert_int_equal(uv_timer_start(&world->watchdog, on_watchdog, TEST_WAIT_MS, 0), 0);
    while (uv_now(&world->loop) < supervisor->ready_at_ms + supervisor->pause_ms_max) {
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
        (void)usleep(1000);
    }
    assert_int_equal(kill(supervisor->worker.pid, SIGKILL), 0);
    run_until(world, 2);
    assert_int_equal(supervisor->pause_ms, 2 * PDF_RESTART_MS_MIN);
    run_until(world, 3);
    assert_true(pdf_supervisor_is_ready(supervisor));
}

/* Goal: the pauses of a worker that never becomes ready grow up to the limit, and soon jobs no
 * longer wait for it. Method: a program that ends at once; the changes' times. */
static void test_pauses_grow_to_the_limit(void **state)
{
    struct world *world = *state;
    struct pdf_supervisor *supervisor = &world->supervisor;
    uint64_t pause_ms = PDF_RESTART_MS_MIN;

    begin(world, programs_make(&world->programs, "dies-at-start"), 0, 4 * PDF_RESTART_MS_MIN);
    run_until(world, 5);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(world->states[i], PDF_SUPERVISOR_PAUSED);
        assert_true(world->times_ms[i + 1] >= world->times_ms[i] + pause_ms);
        pause_ms = pause_ms < 400 ? pause_ms * 2 : pause_ms;
    }
    assert_int_equal(supervisor->starts, 5);
    while (pdf_supervisor_is_worth_waiting(supervisor)) {
        run_until(world, world->change_count + 1);
    }
    /* The next start would have come too late. */
    assert_true(uv_now(&world->loop) + supervisor->pause_ms_max >
                supervisor->lost_at_ms + PDF_OUTAGE_MS);
}

/* Goal: a worker that sends nothing, or the wrong message, is waited for only for a bounded time.
 * Method: one that hangs at its start, and one of another version. */
static void test_worker_that_is_never_ready_is_given_up(void **state)
{
    struct world *world = *state;

    begin(world, programs_make(&world->programs, "never-ready"), 100, 0);
    run_until(world, 1);
    assert_int_equal(world->states[0], PDF_SUPERVISOR_PAUSED);
    assert_string_equal(world->supervisor.problem, "the PDF worker was not ready in time");
    pdf_supervisor_stop(&world->supervisor);
    (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    pdf_supervisor_deinit(&world->supervisor);
    memset(&world->supervisor, 0, sizeof(world->supervisor));
    world->change_count = 0;
    begin(world, programs_make(&world->programs, "other-version"), 0, 0);
    run_until(world, 1);
    assert_int_equal(world->states[0], PDF_SUPERVISOR_PAUSED);
    assert_non_null(strstr(world->supervisor.problem, "has protocol version 4"));
}

/* Lines with `text` in a file. */
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
 * Method: a path where the program appears later; standard error in a file meanwhile. */
static void test_missing_program_is_reported_once(void **state)
{
    struct world *world = *state;
    int error = dup(STDERR_FILENO);
    int file = memfd_create("log", MFD_CLOEXEC);

    (void)programs_make(&world->programs, "worker");
    assert_int_equal(unlink(world->programs.path), 0);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
    begin(world, world->programs.path, 0, 2 * PDF_RESTART_MS_MIN);
    assert_int_equal(world->change_count, 1);
    assert_false(pdf_supervisor_is_worth_waiting(&world->supervisor));
    run_until(world, 3);
    assert_false(pdf_supervisor_is_worth_waiting(&world->supervisor));
    (void)programs_make(&world->programs, "worker");
    while (!pdf_supervisor_is_ready(&world->supervisor)) {
        run_until(world, world->change_count + 1);
    }
    assert_int_equal(dup2(error, STDERR_FILENO), STDERR_FILENO);
    assert_true(pdf_supervisor_is_worth_waiting(&world->supervisor));
    assert_int_equal(count_lines(file, ": No such file or directory"), 1);
    assert_int_equal(count_lines(file, "the PDF worker is ready: Poppler 0.0.0"), 1);
    assert_int_equal(close(error), 0);
    assert_int_equal(close(file), 0);
}

/* Goal: a worker that is replaced is gone, and another one starts. Method: a worker that does not
 * end by itself, as it is stopped by a signal. */
static void test_replaced_worker_is_gone(void **state)
{
    struct world *world = *state;
    pid_t pid = 0;

    begin(world, FAKE_WORKER, 0, 0);
    pdf_supervisor_replace(&world->supervisor); /* during the start */
    run_until(world, 2);
    assert_true(pdf_supervisor_is_ready(&world->supervisor));
    pid = world->supervisor.worker.pid;
    assert_int_equal(kill(pid, SIGSTOP), 0);
    pdf_supervisor_replace(&world->supervisor);
    assert_int_equal(kill(pid, 0), -1);
    assert_true(world->supervisor.worker.killed);
    pdf_supervisor_replace(&world->supervisor); /* in the pause: there is no worker */
    run_until(world, 4);
    assert_true(pdf_supervisor_is_ready(&world->supervisor));
    assert_int_equal(world->supervisor.starts, 3);
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
