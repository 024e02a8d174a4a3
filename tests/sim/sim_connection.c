/*
 * sim_connection.c: bytes between a link and the library's session, and the library's channel over it.
 */
#include "tests/sim/sim_connection.h"

#include "store/base/assert.h"
#include "tests/sim/sim_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Defaults of the library. */
#define KEEPALIVE_MS 30000
#define KEEPALIVE_TIMEOUT_MS 10000
#define CONNECT_TIMEOUT_US (10 * SIM_S)
#define REPLY_BYTES_MAX ((size_t)64 << 20)

static void work(struct sim_connection *connection);

static struct sim_connection *connection_of(struct client_channel *channel)
{
    return (struct sim_connection *)(void *)channel;
}

static int64_t now_ms(const struct sim_connection *connection)
{
    return sim_now(connection->caller->sim) / 1000;
}

/* --- whose bytes these are --- */

void sim_check_bytes(const struct sim_caller *caller, struct slice bytes, const char *where)
{
    for (unsigned org = 0; org < SIM_ORGS_MAX && !caller->sees_all; org++) {
        const char mark[] = {'C', 'N', (char)('a' + org), 'R', 'Y'};

        if (org != caller->org && bytes.size >= sizeof(mark) &&
            memmem(bytes.data, bytes.size, mark, sizeof(mark)) != NULL) {
            sim_fail(caller->sim, "caller %u of organisation %u was sent bytes of %u in %s",
                     caller->number, caller->org, org, where);
        }
    }
}

/* The bytes as they arrived, and the part that spans two pieces. */
static void check_raw(struct sim_connection *connection, struct slice bytes)
{
    uint8_t joint[16];
    size_t size = bytes.size < 8 ? bytes.size : 8;

    memcpy(joint, connection->carry, 8);
    memcpy(joint + 8, bytes.data, size);
    sim_check_bytes(connection->caller, slice_of(joint, 8 + size), "two pieces");
    sim_check_bytes(connection->caller, bytes, "a piece");
    memmove(connection->carry, joint + size, 8);
}

/* --- work, once after all events of one time --- */

static void on_work(struct sim *sim, void *object, uint64_t number)
{
    struct sim_connection *connection = object;

    (void)sim;
    (void)number;
    connection->work_asked = false;
    if (connection->session != NULL) {
        work(connection);
    }
}

static void wake(struct sim_connection *connection)
{
    if (!connection->work_asked && connection->session != NULL) {
        connection->work_asked = true;
        sim_at(connection->caller->sim, 0, on_work, connection, 0);
    }
}

static void on_clock(struct sim *sim, void *object, uint64_t number)
{
    struct sim_connection *connection = object;

    (void)sim;
    if (connection->session != NULL && number == connection->clock_order) {
        work(connection);
    }
}

static void lose(struct sim_connection *connection, const char *why)
{
    if (connection->lost || connection->session == NULL) {
        return;
    }
    connection->lost = true;
    client_session_fail(connection->session, 14, why);
    wake(connection);
}

static void flush(struct sim_connection *connection)
{
    uint8_t bytes[SIM_OUTPUT_BYTES];
    size_t size = 1;

    while (connection->open && !connection->lost && size > 0 &&
           sim_pipe_room(&connection->link->up) >= sizeof(bytes)) {
        size = client_session_drain(connection->session, bytes, sizeof(bytes));
        sim_link_write(connection->link, &connection->link->up, slice_of(bytes, size));
    }
}

static void report_move(struct sim_connection *connection, bool *reported,
                        enum client_connection_state state)
{
    struct slice reason = {NULL, 0};

    if (*reported || connection->closing) {
        return;
    }
    *reported = true;
    if (state == CLIENT_CONNECTION_LOST) {
        reason = client_session_reason(connection->session);
    }
    connection->listener.on_state(connection->listener.user, &connection->base, state, reason);
}

static void report_moves(struct sim_connection *connection)
{
    if (client_session_is_ready(connection->session)) {
        report_move(connection, &connection->notified_ready, CLIENT_CONNECTION_READY);
    }
    if (client_session_is_draining(connection->session)) {
        report_move(connection, &connection->notified_draining, CLIENT_CONNECTION_DRAINING);
    }
    if (connection->lost) {
        report_move(connection, &connection->notified_lost, CLIENT_CONNECTION_LOST);
    }
}

static void look_for_end(struct sim_connection *connection)
{
    if (connection->open && !connection->lost && client_session_is_over(connection->session)) {
        if (!client_session_is_closing(connection->session)) {
            sim_fail(connection->caller->sim, "what the server speaks is not HTTP/2");
        }
        lose(connection, "the server closed it");
    }
}

/* The channel gave it back, and everything was reported. */
static void free_if_done(struct sim_connection *connection)
{
    if (connection->closing && client_session_calls_under_way(connection->session) == 0) {
        client_session_free(connection->session);
        connection->session = NULL;
        sim_link_leave(connection->link);
    }
}

static void work(struct sim_connection *connection)
{
    int64_t due_ms = client_session_tick(connection->session, now_ms(connection));

    look_for_end(connection);
    report_moves(connection);
    client_session_report(connection->session);
    flush(connection);
    look_for_end(connection);
    if (client_session_has_news(connection->session)) {
        wake(connection);
    }
    if (due_ms != 0) {
        int64_t delay_us = due_ms * 1000 - sim_now(connection->caller->sim);

        connection->clock_order = ++connection->events;
        sim_at(connection->caller->sim, delay_us > 1000 ? delay_us : 1000, on_clock, connection,
               connection->clock_order);
    }
    free_if_done(connection);
}

/* --- events of links --- */

void sim_connection_connected(struct sim_connection *connection, bool accepted)
{
    connection->open = accepted;
    if (!accepted) {
        lose(connection, "connection refused");
    }
    wake(connection);
}

void sim_connection_take(struct sim_connection *connection, struct slice bytes)
{
    if (connection->session == NULL || connection->closing || connection->lost) {
        return;
    }
    if (bytes.size == 0) {
        lose(connection, "the server closed it");
    } else {
        check_raw(connection, bytes);
        if (client_session_feed(connection->session, bytes) != OK) {
            sim_fail(connection->caller->sim, "the server's bytes are not HTTP/2");
            lose(connection, "its bytes are not HTTP/2");
        }
    }
    work(connection);
}

void sim_connection_room(struct sim_connection *connection)
{
    wake(connection);
}

static void on_connect_timeout(struct sim *sim, void *object, uint64_t number)
{
    struct sim_connection *connection = object;

    (void)sim;
    (void)number;
    if (connection->session != NULL && !client_session_is_ready(connection->session)) {
        lose(connection, "no answer within the connect timeout");
    }
}

/* --- what the channel does with it --- */

static enum err connection_start(struct client_channel *channel, const struct method_info *method,
                                 struct slice request, const struct client_options *options,
                                 const struct client_handlers *handlers,
                                 struct client_call **ret_call)
{
    struct sim_connection *connection = connection_of(channel);
    struct client_session_call start = {
        .method = method, .request = request, .options = options, .handlers = handlers};
    enum err err = OK;

    if (options != NULL && options->timeout_ms > 0) {
        start.deadline_ms = now_ms(connection) + options->timeout_ms;
    }
    err = client_session_start(connection->session, &start, ret_call);
    wake(connection);
    return err;
}

static void connection_cancel(struct client_channel *channel, struct client_call *call)
{
    struct sim_connection *connection = connection_of(channel);

    client_session_end(connection->session, call, 1, "the call was cancelled");
    wake(connection);
}

static void connection_pause(struct client_channel *channel, struct client_call *call)
{
    (void)channel;
    client_session_pause(call);
}

static void connection_resume(struct client_channel *channel, struct client_call *call)
{
    client_session_resume(call);
    wake(connection_of(channel));
}

static enum err connection_send(struct client_channel *channel, struct client_call *call,
                                struct slice message)
{
    struct sim_connection *connection = connection_of(channel);
    enum err err = client_session_send(connection->session, call, message);

    wake(connection);
    return err;
}

static enum err connection_half_close(struct client_channel *channel, struct client_call *call)
{
    struct sim_connection *connection = connection_of(channel);
    enum err err = client_session_half_close(connection->session, call);

    wake(connection);
    return err;
}

static const struct client_channel_ops connection_ops = {.start = connection_start,
                                                         .cancel = connection_cancel,
                                                         .pause = connection_pause,
                                                         .resume = connection_resume,
                                                         .send = connection_send,
                                                         .half_close = connection_half_close};

/* --- the connector --- */

static enum err open_connection(void *user, const struct client_connection_listener *listener,
                                struct client_channel **ret_connection)
{
    struct sim_caller *caller = user;
    struct sim_connection *connection = calloc(1, sizeof(*connection));
    const struct client_session_config config = {.authority = SLICE("errata"),
                                                 .token = slice_text(caller->token),
                                                 .user_agent = SLICE("sim"),
                                                 .reply_bytes_max = REPLY_BYTES_MAX,
                                                 .request_bytes_max = REPLY_BYTES_MAX,
                                                 .keepalive_ms = KEEPALIVE_MS,
                                                 .keepalive_timeout_ms = KEEPALIVE_TIMEOUT_MS};

    ASSERT(connection != NULL);
    connection->base.ops = &connection_ops;
    connection->caller = caller;
    connection->listener = *listener;
    connection->next = caller->connections;
    caller->connections = connection;
    ASSERT(client_session_new(&config, &connection->session) == OK);
    connection->link = sim_link_open(caller->sim, connection);
    sim_trace(caller->sim, "caller %u: connection %" PRIu64, caller->number,
              connection->link->number);
    sim_at(caller->sim, CONNECT_TIMEOUT_US, on_connect_timeout, connection, 0);
    *ret_connection = &connection->base;
    return OK;
}

static void close_connection(void *user, struct client_channel *take_connection)
{
    struct sim_connection *connection = connection_of(take_connection);

    (void)user;
    connection->closing = true;
    client_session_end_all(connection->session, 1, "the connection was closed");
    client_session_fail(connection->session, 1, "the connection was closed");
    connection->lost = true;
    wake(connection);
}

static void on_channel_step(struct sim *sim, void *object, uint64_t order)
{
    struct sim_caller *caller = object;
    int64_t next_ms = -1;

    if (caller->channel == NULL || order != caller->step_order) {
        return;
    }
    next_ms = client_channel_step(caller->channel);
    if (next_ms >= 0 && order == caller->step_order) {
        caller->step_order++;
        sim_at(sim, next_ms * 1000 + 1, on_channel_step, caller, caller->step_order);
    }
}

static void wake_channel(void *user)
{
    struct sim_caller *caller = user;

    caller->step_order++;
    sim_at(caller->sim, 0, on_channel_step, caller, caller->step_order);
}

void sim_caller_open(struct sim_caller *caller, struct sim *sim)
{
    const struct client_channel_config config = {
        .connector = {.user = caller,
                      .open = open_connection,
                      .close = close_connection,
                      .wake = wake_channel},
        .retry = {CLIENT_ATTEMPTS_DEFAULT, CLIENT_BACKOFF_INITIAL_MS, CLIENT_BACKOFF_MAX_MS},
        .call_timeout_ms = CLIENT_CALL_TIMEOUT_MS,
        .calls_max = CLIENT_CHANNEL_CALLS_MAX,
        .random = &sim->client_random.random,
        .clock = &sim->clock.clock};

    caller->sim = sim;
    ASSERT(client_channel_new(&config, &caller->channel) == OK);
}

void sim_caller_shut(struct sim_caller *caller)
{
    client_channel_shut(caller->channel);
}

void sim_caller_close(struct sim_caller *caller)
{
    struct sim_connection *connection = caller->connections;

    (void)client_channel_step(caller->channel);
    client_channel_free(caller->channel);
    caller->channel = NULL;
    while (connection != NULL) {
        struct sim_connection *next = connection->next;

        if (connection->session != NULL) {
            client_session_report(connection->session);
            client_session_free(connection->session);
            connection->link->client = NULL;
        }
        free(connection);
        connection = next;
    }
    caller->connections = NULL;
}
