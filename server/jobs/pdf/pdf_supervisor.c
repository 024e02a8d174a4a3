/*
 * pdf_supervisor.c: implements pdf_supervisor.h. The loop waits for a worker's end only if it is
 * known to be dying or was just killed.
 */
#include "server/jobs/pdf/pdf_supervisor.h"

#include "server/jobs/pdf/pdf_jobs.h"
#include "store/base/assert.h"
#include "store/base/logger.h"

#include <stdlib.h>

/* Time for a worker whose control socket is closed to exit. */
#define DYING_MS 100
/* Memory for the messages of one failure. */
#define MESSAGE_ARENA_BYTES 8192

static void start_worker(struct pdf_supervisor *supervisor);

enum err pdf_supervisor_init(struct pdf_supervisor *supervisor, const char *program,
                             uint32_t ready_ms, uint32_t pause_ms_max)
{
    supervisor->program = strdup(program);
    supervisor->ready_ms = ready_ms != 0 ? ready_ms : PDF_READY_MS;
    supervisor->pause_ms_max = pause_ms_max != 0 ? pause_ms_max : PDF_RESTART_MS_MAX;
    supervisor->pause_ms = PDF_RESTART_MS_MIN;
    return supervisor->program != NULL ? OK : ERR_MEMORY;
}

/* Logs a problem, unless it is the same as the last one. */
static void log_problem(struct pdf_supervisor *supervisor, struct slice problem)
{
    size_t size = problem.size < PDF_SUPERVISOR_PROBLEM_BYTES - 1
                      ? problem.size
                      : PDF_SUPERVISOR_PROBLEM_BYTES - 1;

    if (strlen(supervisor->problem) == size &&
        memcmp(supervisor->problem, problem.data, size) == 0) {
        return;
    }
    memcpy(supervisor->problem, problem.data, size);
    supervisor->problem[size] = '\0';
    logger_printf(LOGGER_WARNING, "%s; documents are refused until it runs again",
                  supervisor->problem);
}

static void on_pause_over(uv_timer_t *timer)
{
    start_worker((struct pdf_supervisor *)timer->data);
}

/* Schedules the next start. The pause of a worker that was ready for long starts at the minimum. */
static void begin_pause(struct pdf_supervisor *supervisor, bool hopeless)
{
    uint64_t now_ms = uv_now(supervisor->loop);
    uint64_t pause_ms = supervisor->pause_ms;

    if (supervisor->state == PDF_SUPERVISOR_READY) {
        supervisor->lost_at_ms = now_ms;
        if (now_ms - supervisor->ready_at_ms >= supervisor->pause_ms_max) {
            pause_ms = PDF_RESTART_MS_MIN;
        }
    }
    if (pause_ms > supervisor->pause_ms_max) {
        pause_ms = supervisor->pause_ms_max;
    }
    supervisor->pause_ms = pause_ms * 2;
    supervisor->given_up = supervisor->given_up || hopeless ||
                           now_ms + pause_ms - supervisor->lost_at_ms > PDF_OUTAGE_MS;
    supervisor->state = PDF_SUPERVISOR_PAUSED;
    ASSERT(uv_timer_start(&supervisor->timer, on_pause_over, pause_ms, 0) == 0);
    supervisor->on_change(supervisor->user);
}

/* Handles a worker that has ended, or must end within `grace_ms`. `problem` is empty if how it
 * ended is sufficient. */
static void lose_worker(struct pdf_supervisor *supervisor, unsigned grace_ms, struct slice problem)
{
    struct arena arena;
    struct slice end;

    uv_close((uv_handle_t *)&supervisor->poll, NULL);
    pdf_worker_stop_within(&supervisor->worker, grace_ms);
    arena_init(&arena, MESSAGE_ARENA_BYTES);
    if (problem.size == 0) {
        end = pdf_worker_end_text(&supervisor->worker, &arena);
        problem = arena_printf(&arena, "the PDF worker %s was lost: %.*s", supervisor->program,
                               (int)end.size, (const char *)end.data);
    }
    log_problem(supervisor, problem);
    arena_deinit(&arena);
    begin_pause(supervisor, false);
}

static void on_late(uv_timer_t *timer)
{
    lose_worker((struct pdf_supervisor *)timer->data, 0,
                SLICE("the PDF worker was not ready in time"));
}

static void become_ready(struct pdf_supervisor *supervisor)
{
    static const char *const sandboxes[] = {
        [PDF_SANDBOX_NONE] = "none (built for tests)",
        [PDF_SANDBOX_LANDLOCK] = "Landlock and seccomp",
        [PDF_SANDBOX_CLOSED] = "seccomp (no Landlock in this kernel: no CMaps)",
    };

    (void)uv_timer_stop(&supervisor->timer);
    supervisor->state = PDF_SUPERVISOR_READY;
    supervisor->ready_at_ms = uv_now(supervisor->loop);
    supervisor->given_up = false;
    supervisor->problem[0] = '\0';
    logger_printf(LOGGER_INFO, "the PDF worker is ready: Poppler %s; sandbox: %s",
                  supervisor->worker.poppler_version, sandboxes[supervisor->worker.sandbox]);
    supervisor->on_change(supervisor->user);
}

static void read_ready(struct pdf_supervisor *supervisor)
{
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    arena_init(&arena, MESSAGE_ARENA_BYTES);
    fault_init(&fault, &arena);
    err = pdf_worker_read_ready(&supervisor->worker, &fault);
    if (err == OK) {
        become_ready(supervisor);
    } else if (err != ERR_NOT_FOUND) {
        lose_worker(supervisor, DYING_MS, fault.message);
    }
    arena_deinit(&arena);
}

/* After READY the worker sends nothing, so a readable socket means that it has ended. */
static void on_control(uv_poll_t *poll, int status, int events)
{
    struct pdf_supervisor *supervisor = (struct pdf_supervisor *)poll->data;

    (void)events;
    if (status == 0 && supervisor->state == PDF_SUPERVISOR_STARTING) {
        read_ready(supervisor);
    } else {
        lose_worker(supervisor, DYING_MS, slice_of(NULL, 0));
    }
}

static bool watch_worker(struct pdf_supervisor *supervisor)
{
    if (uv_poll_init(supervisor->loop, &supervisor->poll, supervisor->worker.control) != 0) {
        return false;
    }
    supervisor->poll.data = supervisor;
    if (uv_poll_start(&supervisor->poll, UV_READABLE | UV_DISCONNECT, on_control) != 0) {
        uv_close((uv_handle_t *)&supervisor->poll, NULL);
        return false;
    }
    return true;
}

static void start_worker(struct pdf_supervisor *supervisor)
{
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    arena_init(&arena, MESSAGE_ARENA_BYTES);
    fault_init(&fault, &arena);
    err = pdf_worker_start(supervisor->program, &fault, &supervisor->worker);
    if (err != OK) {
        log_problem(supervisor, fault.message);
    } else if (!watch_worker(supervisor)) {
        err = ERR_UNAVAILABLE;
        log_problem(supervisor, SLICE("the control socket of the PDF worker cannot be watched"));
        pdf_worker_stop_within(&supervisor->worker, 0);
    }
    arena_deinit(&arena);
    if (err != OK) {
        begin_pause(supervisor, true);
        return;
    }
    supervisor->starts++;
    supervisor->state = PDF_SUPERVISOR_STARTING;
    ASSERT(uv_timer_start(&supervisor->timer, on_late, supervisor->ready_ms, 0) == 0);
}

void pdf_supervisor_start(struct pdf_supervisor *supervisor, uv_loop_t *loop,
                          void (*on_change)(void *user), void *user)
{
    ASSERT(supervisor->state == PDF_SUPERVISOR_STOPPED);
    supervisor->loop = loop;
    supervisor->on_change = on_change;
    supervisor->user = user;
    ASSERT(uv_timer_init(loop, &supervisor->timer) == 0);
    supervisor->timer.data = supervisor;
    supervisor->lost_at_ms = uv_now(loop);
    start_worker(supervisor);
}

void pdf_supervisor_replace(struct pdf_supervisor *supervisor)
{
    if (supervisor->state == PDF_SUPERVISOR_STARTING || supervisor->state == PDF_SUPERVISOR_READY) {
        lose_worker(supervisor, DYING_MS, slice_of(NULL, 0));
    }
}

void pdf_supervisor_stop(struct pdf_supervisor *supervisor)
{
    if (supervisor->state == PDF_SUPERVISOR_STOPPED) {
        return;
    }
    if (supervisor->state != PDF_SUPERVISOR_PAUSED) {
        uv_close((uv_handle_t *)&supervisor->poll, NULL);
    }
    uv_close((uv_handle_t *)&supervisor->timer, NULL);
    supervisor->state = PDF_SUPERVISOR_STOPPED;
    pdf_worker_stop(&supervisor->worker);
}

void pdf_supervisor_deinit(struct pdf_supervisor *supervisor)
{
    ASSERT(supervisor->state == PDF_SUPERVISOR_STOPPED);
    free(supervisor->program);
    supervisor->program = NULL;
}
