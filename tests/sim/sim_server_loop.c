/*
 * sim_server_loop.c: what libuv does for the real server: bytes come and go, timers tick, the writer's
 * thread and the pool's do their work, and output is gathered at the end of each turn.
 */
#include "tests/sim/sim_server_internal.h"

#include "store/base/assert.h"
#include "tests/sim/sim_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Intervals of net and app. */
#define TICK_US (50 * SIM_MS)
#define SESSION_TICK_US (500 * SIM_MS)
#define HEALTH_US (250 * SIM_MS)
#define WRITE_DEADLINE_US (60 * SIM_S)
#define DRAIN_BYTES ((size_t)32 * 1024)

static bool is_alive(const struct sim_server *server)
{
    return !server->doomed &&
           (server->state == SIM_SERVER_SERVING || server->state == SIM_SERVER_STOPPING);
}

/* --- output --- */

void sim_server_mark(struct sim_link *link)
{
    struct sim_server *server = link->sim->server;

    if (!link->dirty && link->session != NULL) {
        link->dirty = true;
        link->next_dirty = server->dirty;
        server->dirty = link;
    }
}

static void on_wake(struct net_link *link)
{
    sim_server_mark((struct sim_link *)link);
}

static void drain(struct sim_link *link)
{
    const struct net_protocol *protocol = &link->sim->server->protocol;
    uint8_t bytes[DRAIN_BYTES];
    size_t size = sizeof(bytes);

    while (link->session != NULL && sim_pipe_room(&link->down) >= sizeof(bytes) &&
           sizeof(bytes) - size < NET_DRAIN_BYTES_MIN) {
        size = protocol->drain(link->session, bytes, sizeof(bytes));
        sim_link_write(link, &link->down, slice_of(bytes, size));
    }
}

void sim_server_close_link(struct sim_link *link)
{
    void *session = link->session;

    link->session = NULL;
    link->dirty = false;
    if (session != NULL) {
        link->sim->server->protocol.close(session);
    }
}

static void flush(struct sim_link *link)
{
    struct sim_server *server = link->sim->server;

    drain(link);
    if (link->session != NULL && sim_pipe_room(&link->down) >= DRAIN_BYTES &&
        server->protocol.finished(link->session)) {
        sim_server_close_link(link);
        sim_link_end(link, &link->down);
    }
}

static void check_limits(struct sim_server *server)
{
    struct writer_stats stats = writer_read_stats(server->writer);

    if (stats.queue_requests > WORK_QUEUE_REQUESTS_MAX ||
        stats.queue_bytes > WORK_QUEUE_BYTES_MAX) {
        sim_fail(server->sim, "the writer's queue has %u requests and %u bytes",
                 stats.queue_requests, stats.queue_bytes);
    }
    if (grpc_server_h2_stats(server->grpc)->streams_live > CALL_LIVE_MAX ||
        call_server_stats(server->calls).body_bytes_live > CALL_BODY_BYTES_MAX) {
        sim_fail(server->sim, "more streams or bytes of requests than a server holds");
    }
}

static void on_step(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;

    if (incarnation != server->incarnation || !is_alive(server) || server->writing) {
        return;
    }
    server->step_asked = false;
    server->writing = true;
    if (writer_step(server->writer) > 0) {
        sim_trace(sim, "writer: a batch is done");
    }
    server->writing = false;
    sim_server_after_thread(server);
}

/* Wakes the writer if requests wait for it, or if a check of the disk is due. */
static void ask_step(struct sim_server *server)
{
    struct writer_stats stats = writer_read_stats(server->writer);

    if ((stats.queue_requests > 0 || !stats.writable) && !server->step_asked && !server->writing) {
        server->step_asked = true;
        sim_at_server(server->sim,
                      stats.queue_requests > 0 ? sim_delay(server->sim, 10, 500) : 300 * SIM_MS,
                      on_step, server, server->incarnation);
    }
}

static void end_turn(struct sim_server *server)
{
    while (server->dirty != NULL) {
        struct sim_link *link = server->dirty;

        server->dirty = link->next_dirty;
        link->dirty = false;
        if (link->session != NULL) {
            flush(link);
        }
    }
    pipeline_end_turn(server->pipeline);
    ask_step(server);
    check_limits(server);
}

static void on_turn_end(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;

    (void)sim;
    if (incarnation == server->incarnation && is_alive(server)) {
        server->end_asked = false;
        end_turn(server);
    }
}

/* Mostly each event is a turn of its own; but a loop that has more to do does it in the same one. */
void sim_server_end_turn(struct sim_server *server)
{
    if (!is_alive(server)) {
        return;
    }
    if (sim_draw(server->sim, 4) != 0) {
        end_turn(server);
    } else if (!server->end_asked) {
        server->end_asked = true;
        sim_at_server(server->sim, sim_delay(server->sim, 10, SIM_MS), on_turn_end, server,
                      server->incarnation);
    }
}

/* --- the writer, the pool, streams --- */

static void on_completion(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;

    if (incarnation != server->incarnation || !is_alive(server)) {
        return;
    }
    writer_complete(server->writer);
    if (sim->store->broken) {
        sim_server_crash(sim, "the store refuses everything");
        return;
    }
    sim_server_end_turn(server);
}

void sim_server_ask_completion(struct sim_server *server)
{
    struct sim *sim = server->sim;

    sim_at_server(sim, sim_delay(sim, 10, 2 * SIM_MS), on_completion, server, server->incarnation);
}

static void on_turn(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;

    if (incarnation != server->incarnation || !is_alive(server)) {
        return;
    }
    server->turn_asked = false;
    if (pipeline_turn(server->pipeline)) {
        sim_server_want_turn(server);
    }
    (void)sim;
    sim_server_end_turn(server);
}

void sim_server_want_turn(void *user)
{
    struct sim_server *server = user;

    if (!server->turn_asked) {
        server->turn_asked = true;
        sim_at_server(server->sim, 10, on_turn, server, server->incarnation);
    }
}

static void free_job(struct sim_server *server, struct sim_job *job)
{
    struct sim_job **place = &server->jobs;

    while (*place != job) {
        place = &(*place)->next;
    }
    *place = job->next;
    server->job_count--;
    free(job);
}

void sim_server_end_job(struct sim_server *server, struct sim_job *job)
{
    void (*done)(void *, enum err) = job->done;
    void *user = job->job;

    ASSERT(!job->working);
    if (!job->worked) {
        job->work(user);
    }
    free_job(server, job);
    done(user, OK);
}

static void on_job_done(struct sim *sim, void *object, uint64_t incarnation)
{
    if (incarnation == sim->server->incarnation && is_alive(sim->server)) {
        sim_server_end_job(sim->server, object);
        sim_server_end_turn(sim->server);
    }
}

static void on_job(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_job *job = object;

    if (incarnation != sim->server->incarnation || !is_alive(sim->server)) {
        return;
    }
    job->working = true;
    job->work(job->job);
    job->working = false;
    job->worked = true;
    sim_at_server(sim, sim_delay(sim, 10, 5 * SIM_MS), on_job_done, job, incarnation);
    sim_server_after_thread(sim->server);
}

enum err sim_server_run_on_pool(void *user, void (*work)(void *job),
                                void (*done)(void *job, enum err result), void *job)
{
    struct sim_server *server = user;
    struct sim *sim = server->sim;
    struct sim_job *made = NULL;

    if (!sim->calm && sim_chance(sim, sim->profile.pool_busy)) {
        return ERR_BUSY;
    }
    made = calloc(1, sizeof(*made));
    ASSERT(made != NULL);
    *made = (struct sim_job){.next = server->jobs, .work = work, .done = done, .job = job};
    server->jobs = made;
    server->job_count++;
    sim_at_server(sim, sim_delay(sim, 10, 50 * SIM_MS), on_job, made, server->incarnation);
    return OK;
}

bool sim_server_is_idle(const struct sim *sim)
{
    const struct sim_server *server = sim->server;

    return is_alive(server) && !server->writing && server->job_count == 0 &&
           server->documents.queued == NULL && pipeline_live_count(server->pipeline) == 0 &&
           writer_read_stats(server->writer).queue_requests == 0;
}

/* --- input --- */

bool sim_server_accept(struct sim *sim, struct sim_link *link)
{
    struct sim_server *server = sim->server;
    enum err err = OK;

    if (!is_alive(server) || server->state != SIM_SERVER_SERVING) {
        return false;
    }
    link->server_link = (struct net_link){.wake = on_wake, .peer = SLICE("client")};
    sim->points_armed = true;
    err = server->protocol.open(server->protocol.user, &link->server_link, sim_now(sim),
                                &link->session);
    sim->points_armed = false;
    if (err != OK) {
        link->session = NULL;
        sim_link_reset(link);
    }
    return true;
}

/* Feeds the session the received bytes, and drains its output after each piece. */
static void feed(struct sim_link *link, struct slice bytes)
{
    struct sim_server *server = link->sim->server;

    while (bytes.size > 0) {
        size_t taken = server->protocol.feed(link->session, bytes, sim_now(link->sim));

        if (taken == 0 || taken > bytes.size) {
            sim_fail(link->sim, "%zu of %zu bytes were taken", taken, bytes.size);
            return;
        }
        bytes = slice_after(bytes, taken);
        drain(link);
    }
    sim_server_mark(link);
}

void sim_server_take(struct sim_link *link, struct slice bytes)
{
    struct sim *sim = link->sim;

    if (!is_alive(sim->server) || link->session == NULL) {
        return;
    }
    sim->points_armed = true;
    if (bytes.size == 0) {
        sim_server_close_link(link);
        sim_link_end(link, &link->down);
    } else {
        feed(link, bytes);
    }
    sim_server_end_turn(sim->server);
    sim->points_armed = false;
}

void sim_server_room(struct sim_link *link)
{
    struct sim *sim = link->sim;

    if (is_alive(sim->server) && link->session != NULL) {
        sim->points_armed = true;
        sim_server_mark(link);
        sim_server_end_turn(sim->server);
        sim->points_armed = false;
    }
}

/* --- timers --- */

static void on_tick(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;
    int64_t now_us = sim_now(sim);

    if (incarnation != server->incarnation || !is_alive(server)) {
        return;
    }
    call_server_tick(server->calls, now_us);
    if (now_us - server->sessions_ticked_us >= SESSION_TICK_US) {
        server->sessions_ticked_us = now_us;
        for (struct sim_link *at = sim->net->links; at != NULL; at = at->next) {
            if (at->session == NULL) {
                continue;
            }
            if (at->down.size > 0 && now_us - at->down.moved_us > WRITE_DEADLINE_US) {
                sim_server_close_link(at);
                sim_link_reset(at);
                continue;
            }
            server->protocol.tick(at->session, now_us);
            sim_server_mark(at);
        }
    }
    sim_server_end_turn(server);
    sim_at_server(sim, TICK_US, on_tick, server, incarnation);
}

static void on_health(struct sim *sim, void *object, uint64_t incarnation)
{
    struct sim_server *server = object;

    if (incarnation != server->incarnation || !is_alive(server)) {
        return;
    }
    if (sim->store->broken && !server->writing) {
        sim_server_crash(sim, "the store refuses everything");
        return;
    }
    pipeline_end_expired(server->pipeline);
    if (server->state == SIM_SERVER_SERVING) {
        bool writable = writer_read_stats(server->writer).writable;

        pipeline_set_health(server->pipeline, HEALTH_PART_WRITE,
                            writable ? HEALTH_SERVING : HEALTH_NOT_SERVING);
    }
    sim_server_end_turn(server);
    sim_at_server(sim, HEALTH_US, on_health, server, incarnation);
}

void sim_server_start_timers(struct sim_server *server)
{
    sim_at_server(server->sim, TICK_US, on_tick, server, server->incarnation);
    sim_at_server(server->sim, HEALTH_US, on_health, server, server->incarnation);
}
