/*
 * app.c: assembles the server. Parts are created from the bottom up and freed from the top down.
 * Work that waits between them (completions of the writer, jobs of the pool, streams with output)
 * is signalled to the loop by handles, which are all closed at the end.
 */
#include "server/app/app.h"

#include "server/app/app_damage.h"
#include "server/app/app_internal.h"
#include "server/app/files.h"
#include "server/auth/first_token.h"
#include "server/auth/token.h"
#include "server/connect/connect.h"
#include "server/grpc_web/grpc_web.h"
#include "server/rest/rest.h"
#include "store/base/assert.h"
#include "store/base/heap.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Allows only valid transitions. */
static void move_to(struct app *app, enum app_state state)
{
    ASSERT(state == app->state + 1 || (app->state == APP_STARTING && state == APP_CLOSING));
    app->state = state;
}

/* Notifies the loop that completions wait. Called on any thread. */
static void writer_wake(void *user)
{
    struct app *app = (struct app *)user;

    (void)uv_async_send(&app->writer_async);
}

/* Ends the server if the store refuses everything: the result of the last batch is unknown, and
 * only a restart can determine it. */
static void end_if_broken(struct app *app)
{
    if (app_store_is_broken(app)) {
        logger_printf(LOGGER_ERROR,
                      "the store refuses every transaction; ending with %d so that a "
                      "supervisor starts the server again",
                      APP_EXIT_STORE);
        _exit(APP_EXIT_STORE);
    }
}

static void on_writer_async(uv_async_t *handle)
{
    struct app *app = (struct app *)handle->data;

    writer_complete(app->writer);
    end_if_broken(app);
    app_close_if_idle(app);
}

static void on_turn(uv_idle_t *handle)
{
    struct app *app = (struct app *)handle->data;

    if (!pipeline_turn(app->pipeline)) {
        (void)uv_idle_stop(handle);
    }
}

static void on_turn_end(uv_prepare_t *handle)
{
    struct app *app = (struct app *)handle->data;

    pipeline_end_turn(app->pipeline);
}

static void pipeline_want_turn(void *user)
{
    struct app *app = (struct app *)user;

    (void)uv_idle_start(&app->turn_idle, on_turn);
}

enum err app_run_on_pool(void *user, void (*work)(void *job),
                         void (*done)(void *job, enum err result), void *job)
{
    struct app *app = (struct app *)user;

    return pool_submit(app->pool, work, done, job);
}

_Static_assert(PDF_SLOTS_MAX + PIPELINE_POOL_READS_MAX <= POOL_JOBS_KEPT,
               "there are kept places for all of them");

static enum err pipeline_run_read(void *user, void (*work)(void *job),
                                  void (*done)(void *job, enum err result), void *job)
{
    struct app *app = (struct app *)user;

    return pool_submit_kept(app->pool, work, done, job);
}

static void on_net_tick(void *user, int64_t now_us)
{
    struct app *app = (struct app *)user;

    call_server_tick(app->calls, now_us);
    app_log_pressure(app, now_us);
    app_tls_log(app, now_us);
}

/* Listens and publishes the address: the server is ready. */
static enum err listen_and_publish(struct app *app)
{
    enum err err = net_server_listen(app->net, &app->bound, &app->fault);

    if (err == OK) {
        err = app_metrics_listen(app);
    }
    if (err == OK) {
        app->address =
            (struct address_file){.data = app->config->data, .address = app->bound.address};
        err = address_file_write(&app->address, &app->fault);
    }
    if (err != OK) {
        return err;
    }
    if (app->address.missing) {
        logger_printf(LOGGER_WARNING, "the disk is full: %s/%s is written once there is room",
                      app->config->data, APP_ADDRESS_FILE);
    }
    app_end_start_guard();
    move_to(app, APP_SERVING);
    pipeline_set_health(app->pipeline, HEALTH_PART_SERVER, HEALTH_SERVING);
    pipeline_set_health(app->pipeline, HEALTH_PART_WRITE, HEALTH_SERVING);
    pipeline_check_clock(app->pipeline);
    app_pdf_report_health(app);
    app_embed_report_health(app);
    app_access_report(app);
    app_tokens_report(app);
    app_redis_start(app);
    (void)puts(app->bound.address);
    (void)fflush(stdout);
    logger_printf(LOGGER_INFO, "serving on %s%s", app->bound.address,
                  app->tls != NULL ? " with TLS" : "");
    app_report_ready(app);
    return OK;
}

static void on_net_closed(void *user)
{
    struct app *app = (struct app *)user;

    app->net_closed = true;
    app_close_if_idle(app);
}

static void close_net(struct app *app)
{
    app_metrics_close(app);
    net_server_close(app->net, on_net_closed, app);
}

/* Starts to serve, or ends the server. */
static void become_ready(struct app *app)
{
    enum err err = listen_and_publish(app);

    if (err != OK) {
        app_log_failure(app, "cannot serve calls", err);
        app->exit_status = APP_EXIT_FAILED;
        app_redis_stop(app);
        move_to(app, APP_CLOSING);
        close_net(app);
    }
}

static void on_health_timer(uv_timer_t *handle)
{
    struct app *app = (struct app *)handle->data;
    struct writer_stats stats = writer_read_stats(app->writer);

    end_if_broken(app);
    pipeline_end_expired(app->pipeline);
    pipeline_check_clock(app->pipeline);
    if (app->state == APP_STARTING && uv_now(&app->loop) - app->warm_from_ms >= APP_WARM_MS) {
        become_ready(app); /* the rest is read while the server serves */
    }
    if (app->state == APP_SERVING) {
        pipeline_set_health(app->pipeline, HEALTH_PART_WRITE,
                            !app_lost_file(app) && stats.writable ? HEALTH_SERVING
                                                                  : HEALTH_NOT_SERVING);
        app_access_check(app);
        app_tokens_check(app);
        app_token_uses_write(app);
        retention_sweeper_tick(&app->retention);
        organization_deleter_tick(app->deleter);
    }
    app_close_if_idle(app);
}

static void give_back_heap(void *job)
{
    (void)job;
    heap_give_back();
}

static void on_heap_given_back(void *job, enum err result)
{
    struct app *app = (struct app *)job;

    (void)result;
    app->giving_back = false;
    app->spare_bytes = heap_read().spare_bytes;
    app_close_if_idle(app);
}

/* Returns memory of a past burst to the system. Memory that cannot be returned is not tried
 * again. */
static void give_back_if_spare(struct app *app)
{
    size_t spare = heap_read().spare_bytes;

    if (app->state == APP_SERVING && !app->giving_back &&
        spare > app->spare_bytes + HEAP_SPARE_BYTES_MAX) {
        app->giving_back = pool_submit(app->pool, give_back_heap, on_heap_given_back, app) == OK;
    }
}

/* Starts the batch of proposals, for the first time one interval after the start. */
static void propose_if_due(struct app *app)
{
    uint64_t now_ms = uv_now(&app->loop);

    if (app->state != APP_SERVING) {
        return;
    }
    if (app->proposals_at_ms != 0 && now_ms >= app->proposals_at_ms) {
        proposal_batch_start(&app->proposals);
    }
    if (app->proposals_at_ms == 0 || now_ms >= app->proposals_at_ms) {
        app->proposals_at_ms = now_ms + PROPOSAL_BATCH_INTERVAL_MS;
    }
}

/* Runs the periodic checks. */
static void on_upkeep_timer(uv_timer_t *handle)
{
    struct app *app = (struct app *)handle->data;

    store_lmdb_check_readers(app->tables);
    give_back_if_spare(app);
    propose_if_due(app);
    if (app->state == APP_SERVING) {
        address_file_retry(&app->address);
    }
}

static void on_verifier_news(void *user, struct org_id org)
{
    struct app *app = (struct app *)user;

    pipeline_wake_verify(app->pipeline, org);
}

static void on_backup_news(void *user, struct org_id org)
{
    struct app *app = (struct app *)user;

    pipeline_wake_backup(app->pipeline, org);
}

static void on_backup_failed(void *user)
{
    struct app *app = (struct app *)user;

    pipeline_end_backup(app->pipeline);
}

void app_on_idle(void *user)
{
    app_close_if_idle((struct app *)user);
}

/* Closes the handles once everything accepted is answered, so that the loop ends. */
void app_close_if_idle(struct app *app)
{
    struct writer_stats stats;

    if (app->state != APP_CLOSING || !app->net_closed || app->metrics.open || app->warming ||
        pipeline_live_count(app->pipeline) != 0 || pool_count(app->pool) != 0 ||
        app->proposals.running || app->retention.running || app->token_uses.writing ||
        !verifier_is_idle(app->verifier) || !backup_is_idle(app->backup) ||
        !eraser_is_idle(app->eraser) || !app_redis_is_idle(app) ||
        !organization_deleter_is_idle(app->deleter) || !export_recorder_is_idle(app->exports)) {
        return;
    }
    writer_drain(app->writer);
    stats = writer_read_stats(app->writer);
    if (stats.queue_requests != 0) {
        return; /* a wake-up of the writer calls this again */
    }
    move_to(app, APP_ENDED);
    app_close_handles(app);
}

static void on_net_drained(void *user)
{
    struct app *app = (struct app *)user;

    if (app->state == APP_DRAINING) {
        move_to(app, APP_CLOSING);
    }
    close_net(app);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct app *app = (struct app *)handle->data;

    if (number == SIGHUP) {
        app_reload(app);
        return;
    }
    logger_printf(LOGGER_INFO, "signal %d: finishing running calls", number);
    supervisor_stopping(&app->supervisor);
    atomic_store(&app->stop_warming, true);
    app_redis_stop(app);
    switch (app->state) {
    case APP_STARTING:
        move_to(app, APP_CLOSING);
        organization_deleter_stop(app->deleter);
        pipeline_drain(app->pipeline);
        close_net(app);
        return;
    case APP_SERVING:
        move_to(app, APP_DRAINING);
        organization_deleter_stop(app->deleter);
        pipeline_drain(app->pipeline);
        net_server_drain(app->net, app->config->drain_timeout_ms, on_net_drained, app);
        return;
    case APP_DRAINING:
    case APP_CLOSING:
    case APP_ENDED:
        return; /* already ending */
    }
}

static void on_warm_work(void *job)
{
    struct app *app = (struct app *)job;

    app->warm_result = store_lmdb_warm_up(app->tables, &app->stop_warming);
}

static void on_warm_done(void *job, enum err result)
{
    struct app *app = (struct app *)job;

    app->warming = false;
    if (result != OK || app->warm_result != OK) {
        logger_printf(LOGGER_WARNING, "the tables could not be read ahead (%s)",
                      err_name(result != OK ? result : app->warm_result));
    }
    if (app->state == APP_STARTING) {
        become_ready(app);
    }
    app_close_if_idle(app);
}

size_t app_copy_counters(const struct env_counter *from, size_t from_count,
                         struct env_counter *counters, size_t max)
{
    size_t count = from_count < max ? from_count : max;

    memcpy(counters, from, count * sizeof(*from));
    return count;
}

/* Collects the transport's and the jobs' counters for GetServerInfo. */
static size_t read_counters(void *user, struct env_counter *counters, size_t max)
{
    const struct app *app = (const struct app *)user;
    const struct net_stats *net = net_server_stats(app->net);
    const struct h2_stats *h2 = grpc_server_h2_stats(app->grpc);
    struct call_stats calls = call_server_stats(app->calls);
    struct heap_figures heap = heap_read();
    const struct env_counter all[] = {
        {"connections_live", net->connections_live},
        {"connections_total", net->connections_accepted},
        {"connections_refused_total", net->connections_refused},
        {"connections_evicted_total", net->connections_evicted},
        {"connections_idle_total", h2->connections_idle},
        {"connections_unknown_total", net->connections_unknown},
        {"connections_rate_limited_total", h2->connections_rate_limited},
        {"received_bytes_total", net->bytes_in},
        {"sent_bytes_total", net->bytes_out},
        {"sending_bytes", net->queued_bytes_live},
        {"streams_live", h2->streams_live},
        {"streams_refused_total", h2->streams_refused},
        {"calls_live", calls.calls_live},
        {"calls_total", calls.calls_started},
        {"calls_refused_total", calls.calls_refused},
        {"calls_cancelled_total", calls.calls_cancelled},
        {"calls_expired_total", calls.calls_expired},
        {"request_messages_total", calls.messages_in},
        {"reply_messages_total", calls.messages_out},
        {"request_message_bytes_total", calls.message_bytes_in},
        {"reply_message_bytes_total", calls.message_bytes_out},
        {"metadata_dropped_total", calls.metadata_dropped},
        {"pool_jobs", pool_count(app->pool)},
        {"heap_used_bytes", heap.used_bytes},
        {"heap_spare_bytes", heap.spare_bytes},
    };
    size_t count = app_copy_counters(all, sizeof(all) / sizeof(all[0]), counters, max);

    count += app_tls_read_counters(app, counters + count, max - count);
    count += app_tokens_read_counters(app, counters + count, max - count);
    count += app_redis_read_counters(app, counters + count, max - count);
    return count + app_pdf_read_counters(app, counters + count, max - count);
}

/* Writes the first token's text as one line. */
static enum err keep_token(void *user, struct slice text)
{
    struct app *app = (struct app *)user;
    char line[TOKEN_TEXT_BYTES + 1];
    enum err err = OK;

    ASSERT(text.size == TOKEN_TEXT_BYTES);
    memcpy(line, text.data, text.size);
    line[TOKEN_TEXT_BYTES] = '\n';
    err = files_write(app->config->data, APP_TOKEN_FILE, slice_of(line, sizeof(line)), &app->fault);
    token_cleanse(line, sizeof(line));
    return err;
}

/* Opens the store, and writes its initial content before the writer starts. */
static enum err open_store(struct app *app)
{
    bool made = false;
    enum err err = app_damage_check_folder(app->config->data, &app->fault);

    if (err == OK) {
        err = app_store_open(app);
    }
    if (err != OK) {
        return err;
    }
    verifier_remove_leftovers(app->config->data);
    err = first_token_make(&app->ctx, app->backend, keep_token, app, &made);
    if (err != OK) {
        return err;
    }
    if (made) {
        logger_printf(LOGGER_INFO, "created a new store; the administrator's token is in %s/%s",
                      app->config->data, APP_TOKEN_FILE);
    }
    return env_init(&app->env, &app->arena, &app->ctx, app->backend);
}

static enum err make_verifier(struct app *app)
{
    const struct verifier_config config = {.loop = &app->loop,
                                           .pool = app->pool,
                                           .backend = app->tables,
                                           .journal = app_store_journal(app),
                                           .clock = app->ctx.clock,
                                           .data = app->config->data,
                                           .map_bytes = app->config->map_bytes,
                                           .on_news = on_verifier_news,
                                           .on_idle = app_on_idle,
                                           .user = app};

    return verifier_new(&config, &app->verifier);
}

static enum err make_backup(struct app *app)
{
    const struct backup_config config = {.loop = &app->loop,
                                         .backend = app->tables,
                                         .journal = app_store_journal(app),
                                         .clock = app->ctx.clock,
                                         .format_version = STORE_FORMAT_VERSION,
                                         .on_news = on_backup_news,
                                         .on_failed = on_backup_failed,
                                         .on_idle = app_on_idle,
                                         .user = app};

    return backup_new(&config, &app->backup);
}

static enum err make_services(struct app *app)
{
    const struct writer_config writer = {
        .backend = app->backend, .clock = app->ctx.clock, .wake = writer_wake, .user = app};
    struct pipeline_config pipeline = {
        .backend = app->backend,
        .env = &app->env,
        .clock = app->ctx.clock,
        .random = app->ctx.random,
        .run_on_pool = app_run_on_pool,
        .run_read = pipeline_run_read,
        .want_turn = pipeline_want_turn,
        .user = app,
    };
    enum err err = pool_new(&app->loop, &app->pool);

    if (err != OK) {
        return err;
    }
    err = make_verifier(app);
    if (err != OK) {
        return err;
    }
    err = make_backup(app);
    if (err != OK) {
        return err;
    }
    err = app_pdf_make(app);
    if (err != OK) {
        return err;
    }
    err = app_embed_make(app);
    if (err != OK) {
        return err;
    }
    err = auth_new(&app->auth);
    if (err != OK) {
        return err;
    }
    err = writer_new(&writer, &app->writer);
    if (err != OK) {
        return err;
    }
    err = app_erase_make(app);
    if (err == OK) {
        err = app_delete_make(app);
    }
    if (err == OK) {
        err = app_export_make(app);
    }
    if (err != OK) {
        return err;
    }
    pipeline.writer = app->writer;
    pipeline.auth = app->auth;
    pipeline.documents = app_pdf_documents(app);
    pipeline.verify = verifier_jobs(app->verifier);
    pipeline.backup = backup_jobs(app->backup);
    pipeline.eraser = app->eraser;
    pipeline.exports = app->exports;
    app->env.writer = app->writer;
    app->env.format_version = STORE_FORMAT_VERSION;
    app->env.log_engine =
        app_store_journal(app) != NULL ? LOG_ENGINE_KIND_JOURNAL : LOG_ENGINE_KIND_LMDB;
    app->env.read_counters = read_counters;
    app->env.read_counters_user = app;
    proposal_batch_init(&app->proposals, app->backend, app->writer, app->ctx.clock,
                        app->ctx.random);
    retention_sweeper_init(&app->retention, app->backend, app->writer, app->ctx.clock,
                           app->ctx.random);
    err = pipeline_new(&app->arena, &pipeline, &app->pipeline);
    return err != OK ? err : app_redis_make(app);
}

static enum err find_role(void *user, const struct plain_request *request, struct fault *fault,
                          uint32_t *ret_role)
{
    struct app *app = (struct app *)user;

    return pipeline_find_role(app->pipeline, request, fault, ret_role);
}

/* Sets the protocols over HTTP. */
static void take_protocols(struct app *app)
{
    const struct http_protocol *const protocols[] = {
        &grpc_web_protocol, &connect_protocol, &http_plain_protocol, &rest_protocol, &app->mcp,
    };

    _Static_assert(sizeof(protocols) == sizeof(app->http_protocols), "there is room for each");
    app->mcp_server = (struct mcp_server){.find_role = find_role, .user = app};
    app->mcp = mcp_protocol(&app->mcp_server);
    memcpy(app->http_protocols, protocols, sizeof(protocols));
}

_Static_assert(CONFIG_ORIGINS_MAX <= HTTP_CORS_ORIGINS_MAX, "all configured origins fit");

/* Splits the configured origins. */
static void take_origins(const char *origins, struct http_cors *cors)
{
    struct slice rest = slice_text(origins);

    while (rest.size > 0 && cors->count < HTTP_CORS_ORIGINS_MAX) {
        const uint8_t *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma != NULL ? (size_t)(comma - rest.data) : rest.size;

        cors->origins[cors->count++] = slice_of(rest.data, size);
        rest = slice_after(rest, comma != NULL ? size + 1 : size);
    }
}

static enum err make_transport(struct app *app)
{
    struct call_config calls = call_config_default(pipeline_handlers(app->pipeline));
    struct net_protocol protocols[2];
    struct net_config net = {
        .clock = app->ctx.clock,
        .address_connections_max = app->config->address_connections_max,
        .protocols = protocols,
        .protocol_count = 2,
        .on_tick = on_net_tick,
        .user = app,
    };
    enum err err = OK;

    app->connections_max = app_allow_connections(app->config);
    net.connections_max = app->connections_max;
    calls.message_bytes_max = app->config->message_bytes_max;
    calls.path_prefix = slice_text(app->config->path_prefix);
    calls.run_on_pool = app_run_on_pool;
    calls.pool_user = app;
    app_plain_make(app);
    calls.plain = &app->plain;
    err = call_server_new(&calls, clock_monotonic_us(app->ctx.clock), &app->calls);
    if (err != OK) {
        return err;
    }
    take_origins(app->config->cors_origins, &app->cors);
    take_protocols(app);
    err = http_server_new(app->calls, app->http_protocols,
                          sizeof(app->http_protocols) / sizeof(app->http_protocols[0]), &app->cors,
                          &app->http);
    if (err != OK) {
        return err;
    }
    err = grpc_server_new(app->calls, app->http, &app->grpc);
    if (err != OK) {
        return err;
    }
    err = http1_server_new(app->http, app->ctx.clock, &app->http1);
    if (err != OK) {
        return err;
    }
    protocols[0] = grpc_server_protocol(app->grpc);
    protocols[1] = http1_server_protocol(app->http1); /* takes any first bytes, so it is the last */
    err = app_tls_make(app, &net, protocols);
    if (err == OK) {
        err = net_server_new(&app->loop, &net, &app->net);
    }
    return err != OK ? err : app_metrics_make(app);
}

/* Starts handles, signals and timers; then the tables are read ahead, and then sockets are
 * opened. */
static enum err start_app(struct app *app)
{
    app_start_handles(app, on_signal, on_health_timer, on_upkeep_timer);
    (void)uv_prepare_start(&app->turn_prepare,
                           on_turn_end); /* cannot fail if a callback is given */
    app_pdf_start(app);
    app_access_check(app);
    app_tokens_check(app);
    app->warming = true;
    uv_update_time(&app->loop); /* opening a store may take long, so the loop's time is outdated */
    app->warm_from_ms = uv_now(&app->loop);
    return pool_submit(app->pool, on_warm_work, on_warm_done, app);
}

/* Binds the addresses first, so that an unusable one is reported before anything is created in the
 * data folder. */
static enum err bind_addresses(struct app *app)
{
    enum err err =
        net_bind(app->config->listen_host, app->config->listen_port, &app->fault, &app->bound);

    return err != OK ? err : app_metrics_bind(app);
}

int app_run(struct config *config)
{
    struct app app = {.config = config,
                      .state = APP_STARTING,
                      .bound = {.socket = -1},
                      .metrics = {.bound = {.socket = -1}}};
    enum err err = OK;

    if (!app_has_descriptors()) {
        return APP_EXIT_FAILED;
    }
    app_guard_start();
    app_init(&app, on_writer_async);
    err = bind_addresses(&app);
    if (err == OK) {
        err = app_tls_read(config, &app.fault, &app.tls_context);
    }
    if (err == OK) {
        err = open_store(&app);
    }
    if (err == OK) {
        err = make_services(&app);
    }
    if (err == OK) {
        err = make_transport(&app);
    }
    if (err == OK) {
        err = start_app(&app);
    }
    if (err != OK) {
        app_log_failure(&app, "the server cannot start", err);
        app.exit_status = err == ERR_CORRUPT ? APP_EXIT_DAMAGED : APP_EXIT_FAILED;
        app_close_handles(&app);
    }
    (void)uv_run(&app.loop, UV_RUN_DEFAULT);
    app_deinit(&app);
    return app.exit_status;
}
