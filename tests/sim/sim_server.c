/*
 * sim_server.c: the life cycle of the simulated server: its parts, its start, and its end. Its
 * running state is in sim_server_loop.c.
 */
#include "tests/sim/sim_server_internal.h"

#include "server/auth/first_token.h"
#include "store/base/assert.h"
#include "tests/sim/sim_connection.h"
#include "tests/sim/sim_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (16u << 20)
/* Maximum rounds in which everything that a server still holds must come to its end. */
#define BURY_ROUNDS_MAX 10000
/* The app's drain timeout, and the time for accepted calls after it. */
#define DRAIN_US (5 * SIM_S)
#define STOP_US (60 * SIM_S)

/* The writer's, on its thread: its completions are taken soon after. */
static void writer_wake(void *user)
{
    struct sim_server *server = user;

    sim_server_ask_completion(server);
}

static enum err keep_token(void *user, struct slice text)
{
    struct sim_server *server = user;

    ASSERT(text.size < sizeof(server->admin_token));
    memcpy(server->admin_token, text.data, text.size);
    server->admin_token[text.size] = '\0';
    return OK;
}

static enum err make_services(struct sim_server *server)
{
    struct store_backend *backend = sim_store_backend(server->sim);
    const struct writer_config writer = {.backend = backend,
                                         .clock = server->ctx.clock,
                                         .wake = writer_wake,
                                         .user = server,
                                         .manual = true};
    struct pipeline_config pipeline = {.backend = backend,
                                       .env = &server->env,
                                       .clock = server->ctx.clock,
                                       .random = server->ctx.random,
                                       .run_on_pool = sim_server_run_on_pool,
                                       .run_read = sim_server_run_on_pool,
                                       .want_turn = sim_server_want_turn,
                                       .documents = &server->documents.jobs,
                                       .user = server};
    enum err err = writer_new(&writer, &server->writer);

    server->sim->started_ahead_us = server->sim->wall_ahead_us;
    if (err == OK) {
        err = auth_new(&server->auth);
    }
    if (err != OK) {
        return err;
    }
    pipeline.writer = server->writer;
    pipeline.auth = server->auth;
    server->env.writer = server->writer;
    server->env.log_engine = LOG_ENGINE_KIND_LMDB;
    return pipeline_new(&server->arena, &pipeline, &server->pipeline);
}

static enum err make(struct sim_server *server)
{
    struct store_backend *backend = sim_store_backend(server->sim);
    struct call_config calls;
    bool made = false;
    enum err err = first_token_make(&server->ctx, backend, keep_token, server, &made);

    if (err == OK) {
        err = env_init(&server->env, &server->arena, &server->ctx, backend);
    }
    if (err == OK) {
        err = make_services(server);
    }
    if (err != OK) {
        return err;
    }
    calls = call_config_default(pipeline_handlers(server->pipeline));
    calls.run_on_pool = sim_server_run_on_pool;
    calls.pool_user = server;
    err = call_server_new(&calls, sim_now(server->sim), &server->calls);
    return err == OK ? grpc_server_new(server->calls, NULL, &server->grpc) : err;
}

static void free_parts(struct sim_server *server)
{
    grpc_server_free(server->grpc);
    call_server_free(server->calls);
    pipeline_free(server->pipeline);
    writer_free(server->writer);
    auth_free(server->auth);
    env_deinit(&server->env);
    arena_deinit(&server->arena);
    server->grpc = NULL;
    server->calls = NULL;
    server->pipeline = NULL;
    server->writer = NULL;
    server->auth = NULL;
    server->state = SIM_SERVER_DOWN;
    server->doomed = false;
    server->incarnation++;
}

static void on_start(struct sim *sim, void *object, uint64_t number)
{
    struct sim_server *server = object;
    enum err err = OK;

    (void)number;
    ASSERT(server->state == SIM_SERVER_DOWN);
    server->state = SIM_SERVER_STARTING;
    sim_store_set_dead(sim, false);
    arena_init(&server->arena, ARENA_BYTES);
    fault_init(&server->fault, &server->arena);
    server->ctx =
        (struct ctx){&server->arena, &sim->clock.clock, &sim->server_random.random, &server->fault};
    server->env = (struct service_env){.backend = sim_store_backend(sim)};
    sim_documents_init(&server->documents, sim);
    err = make(server);
    if (err != OK || server->doomed) {
        sim_trace(sim, "server: it cannot start: %s", err_name(err));
        free_parts(server);
        sim_server_start(sim, sim_delay(sim, 10 * SIM_MS, SIM_S));
        return;
    }
    server->protocol = grpc_server_protocol(server->grpc);
    server->state = SIM_SERVER_SERVING;
    server->turn_asked = false;
    server->step_asked = false;
    server->end_asked = false;
    server->sessions_ticked_us = sim_now(sim);
    for (int part = 0; part < HEALTH_PART_COUNT; part++) {
        pipeline_set_health(server->pipeline, (enum health_part)part, HEALTH_SERVING);
    }
    sim_trace(sim, "server: serving, incarnation %" PRIu64, server->incarnation);
    sim_server_start_timers(server);
}

void sim_server_start(struct sim *sim, int64_t delay_us)
{
    sim_at_server(sim, delay_us, on_start, sim->server, 0);
}

void sim_server_open(struct sim *sim)
{
    sim->server = calloc(1, sizeof(*sim->server));
    ASSERT(sim->server != NULL);
    sim->server->sim = sim;
    sim_server_start(sim, 0);
}

bool sim_server_is_doomed(const struct sim *sim)
{
    return sim->server->doomed;
}

bool sim_server_is_up(const struct sim *sim)
{
    return sim->server->state == SIM_SERVER_SERVING && !sim->server->doomed;
}

void sim_server_close_links(struct sim_server *server)
{
    for (struct sim_link *at = server->sim->net->links; at != NULL; at = at->next) {
        sim_server_close_link(at);
    }
    server->dirty = NULL;
}

/* All work of the server ends without a reply to any client. */
static void run_out(struct sim_server *server)
{
    for (int round = 0; round < BURY_ROUNDS_MAX; round++) {
        while (server->jobs != NULL) {
            sim_server_end_job(server, server->jobs);
        }
        sim_documents_end(&server->documents);
        while (writer_step(server->writer) > 0) {
        }
        writer_complete(server->writer);
        if (!pipeline_turn(server->pipeline) && server->jobs == NULL &&
            server->documents.queued == NULL &&
            writer_read_stats(server->writer).queue_requests == 0) {
            break;
        }
    }
    pipeline_end_turn(server->pipeline);
}

static void check_end(struct sim_server *server)
{
    struct call_stats stats = call_server_stats(server->calls);
    const struct h2_stats *h2 = grpc_server_h2_stats(server->grpc);

    if (pipeline_live_count(server->pipeline) != 0) {
        sim_fail(server->sim, "%zu calls of the pipeline never end",
                 pipeline_live_count(server->pipeline));
    } else if (stats.calls_live != 0 || stats.body_bytes_live != 0) {
        sim_fail(server->sim, "%" PRIu64 " calls and %" PRIu64 " bytes of bodies are left",
                 stats.calls_live, stats.body_bytes_live);
    } else if (h2->streams_live != 0 || h2->connections_live != 0) {
        sim_fail(server->sim, "%" PRIu64 " streams and %" PRIu64 " connections are left",
                 h2->streams_live, h2->connections_live);
    } else if (server->documents.open_count != 0) {
        sim_fail(server->sim, "%zu documents were never closed", server->documents.open_count);
    }
}

/* Cuts the links of a killed process, and sometimes notifies the clients. */
static void cut_links(struct sim *sim)
{
    for (struct sim_link *at = sim->net->links; at != NULL; at = at->next) {
        if (at->client == NULL || !at->accepted) {
            continue;
        }
        if (sim_draw(sim, 5) == 0 && !sim->calm) {
            at->silent = true;
        } else {
            sim_link_reset(at);
        }
    }
}

static void bury(struct sim_server *server)
{
    struct sim *sim = server->sim;

    ASSERT(sim->waits == 0);
    if (server->state == SIM_SERVER_STARTING) {
        return; /* the start finds out by itself */
    }
    sim_store_set_dead(sim, true);
    sim_server_close_links(server);
    run_out(server);
    check_end(server);
    if (sim->failed) {
        return;
    }
    writer_drain(server->writer);
    free_parts(server);
    sim_server_start(sim, sim_delay(sim, 15 * SIM_MS, 5 * SIM_S));
}

void sim_server_after_thread(struct sim_server *server)
{
    if (server->doomed && server->sim->waits == 0) {
        bury(server);
    } else if (!server->doomed && server->state != SIM_SERVER_DOWN) {
        sim_server_end_turn(server);
    }
}

void sim_server_crash(struct sim *sim, const char *why)
{
    struct sim_server *server = sim->server;

    if (server->state == SIM_SERVER_DOWN || server->doomed) {
        return;
    }
    sim_trace(sim, "server: killed (%s)", why);
    sim->counts[SIM_CRASHES]++;
    server->doomed = true;
    cut_links(sim);
    if (sim->waits == 0) {
        bury(server);
    }
}

static void on_stop_poll(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;
    bool late = sim_now(sim) >= server->stop_by_us;
    bool open = false;

    if (incarnation != server->incarnation || server->doomed) {
        return;
    }
    for (struct sim_link *at = sim->net->links; at != NULL; at = at->next) {
        if (at->session != NULL && late) {
            sim_server_close_link(at);
            sim_link_reset(at);
        }
        open = open || at->session != NULL;
    }
    if (late || !open) {
        server->stop_by_us = sim_now(sim);
        if (sim->waits == 0 && sim_server_is_idle(sim)) {
            check_end(server);
            writer_drain(server->writer);
            free_parts(server);
            sim_trace(sim, "server: ended");
            sim_server_start(sim, sim_delay(sim, 15 * SIM_MS, SIM_S));
            return;
        }
    }
    if (sim_now(sim) > server->stopped_by_us) {
        sim_fail(sim, "the server does not end: %zu calls, %zu jobs",
                 pipeline_live_count(server->pipeline), server->job_count);
        return;
    }
    sim_at_server(sim, 50 * SIM_MS, on_stop_poll, server, incarnation);
}

void sim_server_stop(struct sim *sim)
{
    struct sim_server *server = sim->server;

    if (!sim_server_is_up(sim)) {
        return;
    }
    sim_trace(sim, "server: a signal asks it to end");
    sim->counts[SIM_STOPS]++;
    server->state = SIM_SERVER_STOPPING;
    server->stop_by_us = sim_now(sim) + DRAIN_US;
    server->stopped_by_us = sim_now(sim) + STOP_US;
    pipeline_drain(server->pipeline);
    for (struct sim_link *at = sim->net->links; at != NULL; at = at->next) {
        if (at->session != NULL) {
            server->protocol.shutdown(at->session, sim_now(sim));
            sim_server_mark(at);
        }
    }
    sim_server_end_turn(server);
    sim_at_server(sim, 0, on_stop_poll, server, server->incarnation);
}

void sim_server_close(struct sim *sim)
{
    struct sim_server *server = sim->server;

    if (server->state != SIM_SERVER_DOWN && !sim->failed) {
        sim_store_set_dead(sim, true);
        sim_server_close_links(server);
        run_out(server);
        check_end(server);
    }
    if (server->state != SIM_SERVER_DOWN && !sim->failed) {
        writer_drain(server->writer);
        free_parts(server);
    }
    free(server);
    sim->server = NULL;
}
