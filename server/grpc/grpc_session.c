/*
 * grpc_session.c: one HTTP/2 connection: implements net's protocol table, handles HTTP/2's events,
 * and owns the calls between them.
 */
#include "server/grpc/grpc_internal.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

static void grpc_on_request(void *user, struct h2_stream *stream)
{
    struct grpc_session *session = user;
    struct call_core *core = NULL;
    struct grpc_call *grpc = NULL;

    if (!call_server_is_pressed(session->server) ||
        h2_conn_stream_count(session->conn) <= CALL_PRESSED_PER_CONNECTION) {
        core = call_open(session->server, &grpc_call_protocol);
    }
    if (core == NULL) {
        return; /* refused after all fields have been received */
    }
    core->stream = stream;
    core->share = &session->share;
    grpc = grpc_call_of(core);
    grpc->generation = h2_stream_generation(stream);
    grpc->timeout_us = INT64_MAX;
    if (!arena_copy(&core->arena, session->link->peer, &core->call.peer)) {
        grpc->no_memory = true;
    }
    h2_stream_set_user(stream, core);
}

static void grpc_on_field(void *user, struct h2_stream *stream, struct slice name,
                          struct slice value)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    if (core != NULL) {
        grpc_take_field(core, name, value);
    }
}

static void grpc_on_fields_end(void *user, struct h2_stream *stream)
{
    struct grpc_session *session = user;
    struct call_core *core = h2_stream_user(stream);

    if (core == NULL) {
        session->server->stats.calls_refused++;
        session->server->stats.calls_ended[STATUS_UNAVAILABLE]++;
        grpc_answer_busy(stream);
        return;
    }
    grpc_take_head_end(core, session->http);
}

static void grpc_on_data(void *user, struct h2_stream *stream, struct slice bytes)
{
    struct call_core *core = h2_stream_user(stream);
    size_t taken = bytes.size;

    (void)user;
    if (core != NULL && !grpc_is_call(core)) {
        grpc_take_http_body(core, stream, bytes);
        return;
    }
    if (core != NULL && core->held.size > 0 && !core->ended) {
        call_hold_bytes(core, bytes);
        return;
    }
    if (core != NULL) {
        taken = call_take_envelopes(core, &grpc_call_of(core)->envelopes, bytes);
    }
    h2_stream_consume(stream, taken);
    if (taken < bytes.size) {
        call_hold_bytes(core, slice_after(bytes, taken));
    }
}

static void grpc_on_request_end(void *user, struct h2_stream *stream)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    if (core == NULL) {
        return;
    }
    if (!grpc_is_call(core)) {
        http_take_end(core);
        return;
    }
    core->request_end = true;
    if (call_end_is_due(core)) {
        call_take_end(core);
    }
}

static size_t grpc_body_ready(void *user, struct h2_stream *stream, size_t max, bool *ret_end)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    return grpc_is_call(core) ? call_output_ready(core, max, ret_end)
                              : http_body_ready(core, max, ret_end);
}

static void grpc_body_copy(void *user, struct h2_stream *stream, uint8_t *to, size_t size)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    if (grpc_is_call(core)) {
        call_output_copy(core, to, size);
    } else {
        http_body_copy(core, to, size);
    }
}

static bool grpc_body_end(void *user, struct h2_stream *stream)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    if (!grpc_is_call(core)) {
        return false;
    }
    grpc_send_trailers(core);
    return true;
}

/* Feeds held bytes to the call, as far as it takes them. */
static void grpc_take_held_bytes(struct call_core *core, struct h2_stream *stream)
{
    struct slice held = buffer_slice(&core->held);
    size_t taken = 0;

    core->input.progress_us = core->server->now_us;
    taken = call_take_envelopes(core, &grpc_call_of(core)->envelopes, held);
    h2_stream_consume(stream, taken);
    call_drop_held(core, taken);
}

void grpc_take_held(struct call_core *core)
{
    struct h2_stream *stream = grpc_stream_of(core);

    if (stream == NULL || call_input_waits(core)) {
        return;
    }
    if (core->held.size > 0 && !core->full) {
        grpc_take_held_bytes(core, stream);
    }
    if (call_end_is_due(core)) {
        call_take_end(core);
    }
}

static void grpc_on_drained(void *user, struct h2_stream *stream)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    if (core == NULL) {
        return;
    }
    if (grpc_is_call(core)) {
        call_output_moved(core);
        grpc_take_held(core);
    } else {
        http_body_moved(core);
    }
    if (core->full && !core->ended) {
        h2_stream_want_drained(stream);
    }
}

static void grpc_on_close(void *user, struct h2_stream *stream)
{
    struct call_core *core = h2_stream_user(stream);

    (void)user;
    if (core != NULL) {
        call_let_go(core);
    }
}

static void grpc_on_output(void *user)
{
    struct grpc_session *session = user;

    session->link->wake(session->link);
}

static const struct h2_handlers grpc_h2_handlers = {
    .on_request = grpc_on_request,
    .on_field = grpc_on_field,
    .on_fields_end = grpc_on_fields_end,
    .on_data = grpc_on_data,
    .on_request_end = grpc_on_request_end,
    .body_ready = grpc_body_ready,
    .body_copy = grpc_body_copy,
    .body_end = grpc_body_end,
    .on_drained = grpc_on_drained,
    .on_close = grpc_on_close,
    .on_output = grpc_on_output,
};

static enum net_match grpc_match(struct slice first_bytes)
{
    struct slice preface = SLICE(H2_PREFACE);

    if (first_bytes.size >= preface.size) {
        return slice_starts_with(first_bytes, preface) ? NET_MATCH_YES : NET_MATCH_NO;
    }
    return slice_starts_with(preface, first_bytes) ? NET_MATCH_MORE : NET_MATCH_NO;
}

static enum err grpc_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct grpc_server *server = user;
    struct grpc_session *session = FAULT("grpc.open") ? NULL : calloc(1, sizeof(*session));
    enum err err = OK;

    if (session == NULL) {
        return ERR_MEMORY;
    }
    session->server = server->calls;
    session->http = server->http;
    session->link = link;
    err = h2_conn_new(server->h2, session, now_us, &session->conn);
    if (err != OK) {
        free(session);
        return err;
    }
    *ret_session = session;
    return OK;
}

static size_t grpc_feed(void *user, struct slice bytes, int64_t now_us)
{
    struct grpc_session *session = user;

    session->server->now_us = now_us;
    h2_conn_limit_feed(session->conn, session->link->hurried ? 1 : H2_FEED_REQUESTS_MAX);
    return h2_conn_feed(session->conn, bytes, now_us);
}

_Static_assert(NET_DRAIN_BYTES_MIN >= H2_DRAIN_BYTES_MIN,
               "a frame fits into the room that net offers");

static size_t grpc_drain(void *user, uint8_t *to, size_t size)
{
    struct grpc_session *session = user;

    size = h2_conn_drain(session->conn, to, size);
    if (call_share_go_on(session->server, &session->share)) {
        session->link->wake(session->link); /* for the next request, in a later turn */
    }
    return size;
}

static void grpc_tick(void *user, int64_t now_us)
{
    struct grpc_session *session = user;

    h2_conn_tick(session->conn, now_us);
}

static void grpc_shutdown(void *user, int64_t now_us)
{
    struct grpc_session *session = user;

    h2_conn_shutdown(session->conn, now_us);
}

static int64_t grpc_idle_since_us(const void *user)
{
    const struct grpc_session *session = user;

    return h2_conn_idle_since_us(session->conn);
}

static bool grpc_finished(const void *user)
{
    const struct grpc_session *session = user;

    return h2_conn_finished(session->conn);
}

static void grpc_close(void *user)
{
    struct grpc_session *session = user;

    session->link->rate_limited = h2_conn_rate_limited(session->conn);
    h2_conn_free(session->conn);
    ASSERT(session->share.waiting == NULL);
    ASSERT(session->share.packed == NULL);
    ASSERT(!session->share.in_line);
    ASSERT(session->share.output_bytes == 0);
    free(session);
}

struct net_protocol grpc_server_protocol(struct grpc_server *server)
{
    return (struct net_protocol){
        .user = server,
        .match = grpc_match,
        .open = grpc_open,
        .feed = grpc_feed,
        .drain = grpc_drain,
        .tick = grpc_tick,
        .shutdown = grpc_shutdown,
        .idle_since_us = grpc_idle_since_us,
        .finished = grpc_finished,
        .close = grpc_close,
    };
}

enum err grpc_server_new(struct call_server *calls, struct http_server *http,
                         struct grpc_server **ret_server)
{
    struct grpc_server *server = calloc(1, sizeof(*server));
    enum err err = OK;

    if (server == NULL) {
        return ERR_MEMORY;
    }
    server->calls = calls;
    server->http = http;
    err = h2_shared_new(&grpc_h2_handlers, &server->h2);
    if (err != OK) {
        free(server);
        return err;
    }
    *ret_server = server;
    return OK;
}

const struct h2_stats *grpc_server_h2_stats(const struct grpc_server *server)
{
    return h2_shared_stats(server->h2);
}

void grpc_server_free(struct grpc_server *server)
{
    if (server == NULL) {
        return;
    }
    h2_shared_free(server->h2);
    free(server);
}
