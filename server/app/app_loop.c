/*
 * app_loop.c: the loop's handles, the limits of descriptors, and freeing the parts.
 */
#include "server/app/app.h"
#include "server/app/app_internal.h"

#include "store/base/assert.h"
#include "store/base/logger.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* Maximum descriptors for other uses than connections: the store, documents, the worker's pipes. */
#define OTHER_DESCRIPTORS_MAX 1024
/* The least number of descriptors: about 30 without any connection, and more for starting the PDF
 * worker, a document, a verification. */
#define DESCRIPTORS_MIN 64

bool app_has_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_MIN) {
        return true;
    }
    logger_printf(LOGGER_ERROR,
                  "cannot start: the limit of open files is %llu; expected at least %d, and "
                  "one more for each connection (ulimit -n)",
                  (unsigned long long)limit.rlim_cur, DESCRIPTORS_MIN);
    return false;
}

/* A SIGHUP arrived before the loop handled signals. */
static volatile sig_atomic_t hangup_came;

void app_init(struct app *app, void (*on_writer_async)(uv_async_t *handle))
{
    ASSERT(uv_loop_init(&app->loop) == 0);
    ASSERT(uv_async_init(&app->loop, &app->writer_async, on_writer_async) == 0);
    ASSERT(uv_idle_init(&app->loop, &app->turn_idle) == 0);
    ASSERT(uv_prepare_init(&app->loop, &app->turn_prepare) == 0);
    app->writer_async.data = app;
    app->turn_idle.data = app;
    app->turn_prepare.data = app;
    supervisor_init(&app->supervisor);
    arena_init(&app->arena, APP_ARENA_BYTES_MAX);
    arena_init(&app->start_arena, APP_ARENA_BYTES_MAX);
    fault_init(&app->fault, &app->start_arena);
    app->ctx = (struct ctx){&app->start_arena, clock_system(), random_system(), &app->fault};
}

static void on_abort(int number)
{
    static const char line[] = "erratad: cannot start: aborted, most likely by a lack of memory "
                               "or threads\n";
    ssize_t written = write(STDERR_FILENO, line, strlen(line));

    (void)number;
    (void)written; /* the program ends in either case */
    _exit(APP_EXIT_FAILED);
}

static void on_early_hangup(int number)
{
    (void)number;
    hangup_came = 1;
}

void app_guard_start(void)
{
    (void)signal(SIGABRT, on_abort);
    (void)signal(SIGHUP, on_early_hangup);
}

void app_end_start_guard(void)
{
    (void)signal(SIGABRT, SIG_DFL);
}

static void on_widest_closed(uv_handle_t *handle)
{
    (void)close((int)(intptr_t)handle->data);
}

/* Raises the soft limit of descriptors if necessary and possible; returns the limit. */
static rlim_t allow_descriptors(rlim_t wanted)
{
    struct rlimit limit;
    struct rlimit higher;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return wanted;
    }
    higher = (struct rlimit){wanted < limit.rlim_max ? wanted : limit.rlim_max, limit.rlim_max};
    if (higher.rlim_cur > limit.rlim_cur && setrlimit(RLIMIT_NOFILE, &higher) == 0) {
        limit = higher;
    }
    return limit.rlim_cur;
}

uint32_t app_allow_connections(const struct config *config)
{
    rlim_t wanted = (rlim_t)config->connections_max + OTHER_DESCRIPTORS_MAX + 1;
    rlim_t descriptors = allow_descriptors(wanted);
    /* If there are few descriptors, connections and other uses share them equally. */
    rlim_t allowed = descriptors < (rlim_t)2 * OTHER_DESCRIPTORS_MAX
                         ? descriptors / 2
                         : descriptors - OTHER_DESCRIPTORS_MAX;

    if (descriptors >= wanted || allowed >= config->connections_max) {
        return config->connections_max;
    }
    logger_printf(LOGGER_WARNING,
                  "connections-max: %u exceed what %llu descriptors (ulimit -n) allow; "
                  "reduced to %llu",
                  (unsigned)config->connections_max, (unsigned long long)descriptors,
                  (unsigned long long)allowed);
    return (uint32_t)allowed;
}

/* Returns the highest descriptor that the server may use. */
static int widest_descriptor(const struct app *app)
{
    rlim_t wanted = (rlim_t)app->config->connections_max + OTHER_DESCRIPTORS_MAX;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= wanted) {
        wanted = limit.rlim_cur - 1;
    }
    return (int)wanted;
}

/* Grows libuv's table of descriptors to the largest size that may be needed, since libuv aborts if
 * it cannot grow it later. */
static void grow_watchers(struct app *app)
{
    int low = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int widest = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, widest_descriptor(app));

    if (low >= 0) {
        (void)close(low);
    }
    if (widest < 0) {
        return;
    }
    ASSERT(uv_poll_init(&app->loop, &app->widest_poll, widest) == 0);
    app->widest_poll.data = (void *)(intptr_t)widest;
    ASSERT(uv_poll_start(&app->widest_poll, UV_READABLE, NULL) == 0);
    uv_close((uv_handle_t *)&app->widest_poll, on_widest_closed);
}

static void on_supervisor_timer(uv_timer_t *handle)
{
    const struct app *app = (const struct app *)handle->data;

    supervisor_alive(&app->supervisor);
}

void app_start_handles(struct app *app, void (*on_signal)(uv_signal_t *handle, int number),
                       void (*on_health_timer)(uv_timer_t *handle),
                       void (*on_upkeep_timer)(uv_timer_t *handle))
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        ASSERT(uv_signal_init(&app->loop, &app->signals[i]) == 0);
        app->signals[i].data = app;
        ASSERT(uv_signal_start(&app->signals[i], on_signal, numbers[i]) == 0);
    }
    if (hangup_came) {
        app_reload(app);
    }
    ASSERT(uv_timer_init(&app->loop, &app->health_timer) == 0);
    ASSERT(uv_timer_init(&app->loop, &app->upkeep_timer) == 0);
    ASSERT(uv_timer_init(&app->loop, &app->supervisor_timer) == 0);
    app->health_timer.data = app;
    app->upkeep_timer.data = app;
    app->supervisor_timer.data = app;
    ASSERT(uv_timer_start(&app->health_timer, on_health_timer, APP_HEALTH_CHECK_MS,
                          APP_HEALTH_CHECK_MS) == 0);
    ASSERT(uv_timer_start(&app->upkeep_timer, on_upkeep_timer, APP_UPKEEP_MS, APP_UPKEEP_MS) == 0);
    if (app->supervisor.watchdog_ms != 0) {
        ASSERT(uv_timer_start(&app->supervisor_timer, on_supervisor_timer,
                              app->supervisor.watchdog_ms, app->supervisor.watchdog_ms) == 0);
    }
    app->handles_started = true;
    grow_watchers(app);
}

void app_close_handles(struct app *app)
{
    if (app->handles_closed) {
        return;
    }
    app->handles_closed = true;
    app_pdf_stop(app);
    app_redis_close(app);
    verifier_close(app->verifier);
    backup_close(app->backup);
    uv_close((uv_handle_t *)&app->writer_async, NULL);
    uv_close((uv_handle_t *)&app->turn_idle, NULL);
    uv_close((uv_handle_t *)&app->turn_prepare, NULL);
    if (!app->handles_started) {
        return;
    }
    for (size_t i = 0; i < sizeof(app->signals) / sizeof(app->signals[0]); i++) {
        uv_close((uv_handle_t *)&app->signals[i], NULL);
    }
    (void)signal(SIGHUP,
                 SIG_IGN); /* libuv has restored the default action, which would end the process */
    uv_close((uv_handle_t *)&app->health_timer, NULL);
    uv_close((uv_handle_t *)&app->upkeep_timer, NULL);
    uv_close((uv_handle_t *)&app->supervisor_timer, NULL);
}

void app_deinit(struct app *app)
{
    app_metrics_free(app);
    net_server_free(app->net);
    tls_server_free(app->tls);
    tls_context_unref(app->tls_context);
    http1_server_free(app->http1);
    grpc_server_free(app->grpc);
    http_server_free(app->http);
    call_server_free(app->calls);
    app_redis_free(app);
    proposal_batch_deinit(&app->proposals);
    retention_sweeper_deinit(&app->retention);
    organization_deleter_deinit(app->deleter);
    pipeline_free(app->pipeline);
    writer_free(app->writer);
    auth_free(app->auth);
    pdf_jobs_free(app->pdf);
    verifier_free(app->verifier);
    backup_free(app->backup);
    pool_free(app->pool);
    net_unbind(&app->bound);
    ASSERT(uv_loop_close(&app->loop) == 0);
    app_store_close(app);
    env_deinit(&app->env);
    app_embed_free(app);
    supervisor_deinit(&app->supervisor);
    arena_deinit(&app->arena);
    arena_deinit(&app->start_arena);
}

void app_report_ready(const struct app *app)
{
    char status[NET_ADDRESS_BYTES + 32];

    (void)snprintf(status, sizeof(status), "Serving on %s", app->bound.address);
    supervisor_ready(&app->supervisor, status);
}

void app_log_pressure(struct app *app, int64_t now_us)
{
    const struct net_stats *stats = net_server_stats(app->net);
    struct app_pressure *pressure = &app->pressure;
    const struct logger_field fields[] = {
        LOGGER_NUMBER_FIELD("live", stats->connections_live),
        LOGGER_NUMBER_FIELD("max", app->connections_max),
        LOGGER_NUMBER_FIELD("max_per_address", app->config->address_connections_max),
        LOGGER_NUMBER_FIELD("idle_ended", stats->connections_evicted - pressure->evicted),
        LOGGER_NUMBER_FIELD("refused", stats->connections_refused - pressure->refused),
    };

    if ((stats->connections_evicted == pressure->evicted &&
         stats->connections_refused == pressure->refused) ||
        (pressure->logged_us != 0 && now_us - pressure->logged_us < APP_PRESSURE_LOG_US)) {
        return;
    }
    logger_write(LOGGER_WARNING, "connections refused for lack of room", fields,
                 sizeof(fields) / sizeof(fields[0]));
    *pressure =
        (struct app_pressure){stats->connections_evicted, stats->connections_refused, now_us};
}

void app_log_failure(const struct app *app, const char *what, enum err err)
{
    struct slice why =
        app->fault.message.size != 0 ? app->fault.message : slice_text(err_text(err));

    logger_printf(LOGGER_ERROR, "%s: %.*s", what, (int)why.size, (const char *)why.data);
}
