/*
 * http1_session.c: one HTTP/1.1 connection: implements net's protocol table. A request is read while
 * the previous one has been answered; the response is written when the call is over, so that by
 * then it is known whether the request has ended. A response before that end closes the connection,
 * after the peer had time to read it (net's linger).
 */
#include "server/http/http.h"
#include "server/http1/http1.h"
#include "server/http1/http1_parser.h"
#include "server/http1/http1_response.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

/* Memory of a response without a call: its head. */
#define HTTP1_REFUSAL_ARENA_BYTES ((size_t)16 * 1024)

struct http1_server {
    struct http_server *http; /* borrowed */
    struct call_server *calls; /* its calls */
    const struct clock *clock;
    struct http1_stats stats;
};

struct http1_session {
    struct http1_server *server;
    struct net_link *link;
    struct call_share share;
    struct call_core *core; /* NULL: no request, or it has no call */
    bool in_request; /* set from the request line to the end of the response */
    bool request_ended; /* all of the request was received */
    bool is_head; /* the response has no body */
    bool ready; /* the response is due */
    bool rendered; /* the response's head was written to `output` */
    bool chunked; /* its body is chunked */
    bool body_ended; /* its body was sent, except for bytes in `output` */
    bool closes; /* the connection ends after the response */
    bool ended; /* nothing more is read, and only `output` is written */
    bool draining;
    bool peer_ended; /* the peer sends nothing more */
    bool continue_due; /* 100 Continue is to be sent */
    uint32_t requests;
    unsigned refused_status; /* not 0: the response without a call, with `refused_text` */
    struct slice refused_text;
    struct slice output[2]; /* remaining part of the head, and of the body without a call */
    int64_t idle_since_us; /* time since which no request is open */
    int64_t head_since_us; /* time since which a head is arriving; INT64_MAX: none */
    uint8_t *ahead; /* owned: requests that were sent ahead; NULL: none */
    size_t ahead_bytes;
    struct arena arena; /* the response without a call */
    struct http1_parser parser;
};

static void http1_on_output(void *stream)
{
    struct http1_session *session = stream;

    session->ready = true;
    session->link->wake(session->link);
}

/* Bytes of the request no longer wait: the next turn may read more of them. */
static void http1_on_consumed(void *stream, size_t bytes)
{
    struct http1_session *session = stream;

    (void)bytes;
    session->link->wake(session->link);
}

static const struct http_version http1_version = {
    .is_http2 = false,
    .output = http1_on_output,
    .consumed = http1_on_consumed,
};

static void http1_release_call(struct http1_session *session)
{
    struct call_core *core = session->core;

    session->core = NULL;
    if (core != NULL) {
        call_let_go(core);
    }
}

/* Responds without a call, and ends the connection. */
static void http1_answer_refusal(struct http1_session *session, unsigned status, struct slice text)
{
    session->server->stats.refused++;
    session->closes = true;
    if (session->rendered) {
        return; /* a response is being sent already */
    }
    http1_release_call(session);
    session->in_request = true;
    session->refused_status = status;
    session->refused_text = text;
    http1_on_output(session);
}

static void http1_begin_request(struct http1_session *session, const struct http1_event *event)
{
    struct http1_server *server = session->server;
    const struct http_line line = {.method = event->name, .target = event->value};

    session->in_request = true;
    session->requests++;
    server->stats.requests++;
    session->is_head = slice_equal(event->name, SLICE("HEAD"));
    session->core = http_open(server->http, &http1_version, session);
    if (session->core == NULL) {
        server->calls->stats.calls_refused++;
        server->calls->stats.calls_ended[STATUS_UNAVAILABLE]++;
        http1_answer_refusal(session, 503, slice_text(err_text(ERR_BUSY)));
        return;
    }
    session->core->share = &session->share;
    session->core->call.peer = session->link->peer;
    http_take_line(session->core, &line);
    if (!arena_copy(&session->core->arena, session->link->peer, &session->core->call.peer)) {
        session->core->call.peer = slice_of(NULL, 0);
    }
}

static void http1_end_head(struct http1_session *session)
{
    const struct http1_parser *parser = &session->parser;
    const struct http_body body = {.has_body = http1_parser_has_body(parser),
                                   .has_length = parser->has_length,
                                   .length = parser->length};

    session->head_since_us = INT64_MAX;
    session->closes = session->closes || parser->closes || session->requests >= HTTP1_REQUESTS_MAX;
    if (session->core == NULL) {
        return;
    }
    http_take_head_end(session->core, &body);
    session->continue_due = parser->expects_continue && body.has_body && !session->core->ended;
}

static void http1_on_event(struct http1_session *session, const struct http1_event *event)
{
    switch (event->kind) {
    case HTTP1_LINE:
        http1_begin_request(session, event);
        break;
    case HTTP1_FIELD:
        if (session->core != NULL) {
            http_take_field(session->core, event->name, event->value);
        }
        break;
    case HTTP1_HEAD_END:
        http1_end_head(session);
        break;
    case HTTP1_BODY:
        session->continue_due = false;
        if (session->core != NULL) {
            (void)http_take_body(session->core, event->value); /* the rest is held */
        }
        break;
    case HTTP1_END:
        session->request_ended = true;
        if (session->core != NULL) {
            http_take_end(session->core);
        }
        break;
    case HTTP1_REFUSED:
        http1_answer_refusal(session, http1_refusal_status(session->parser.refusal),
                             http1_refusal_text(session->parser.refusal));
        break;
    case HTTP1_MORE:
        break;
    }
}

/* Consumes bytes up to the end of a request; returns their number. */
static size_t http1_take(struct http1_session *session, struct slice bytes)
{
    struct http1_event event = {.kind = HTTP1_BODY};
    size_t taken = 0;

    while (event.kind != HTTP1_MORE && event.kind != HTTP1_END && event.kind != HTTP1_REFUSED) {
        taken += http1_parser_take(&session->parser, slice_after(bytes, taken), &event);
        http1_on_event(session, &event);
    }
    if (!http1_parser_in_head(&session->parser)) {
        session->head_since_us = INT64_MAX;
    } else if (session->head_since_us == INT64_MAX) {
        session->head_since_us = session->server->calls->now_us;
    }
    return taken;
}

/* Stops reading while bytes wait: of the next request, or of this one for the services. */
static void http1_set_pause(struct http1_session *session)
{
    const struct call_core *core = session->core;

    session->link->paused =
        session->ahead_bytes > 0 || (core != NULL && !core->ended && core->held.size > 0);
}

/* Keeps bytes of a next request, and stops reading. If there are more than the limit, the connection ends. */
static void http1_keep_ahead(struct http1_session *session, struct slice bytes)
{
    uint8_t *ahead = NULL;

    if (session->ahead_bytes + bytes.size <= HTTP1_AHEAD_BYTES_MAX && !FAULT("http1.ahead")) {
        ahead = realloc(session->ahead, session->ahead_bytes + bytes.size);
    }
    if (ahead == NULL) {
        session->closes = true; /* the request that is being handled is still answered */
        return;
    }
    memcpy(ahead + session->ahead_bytes, bytes.data, bytes.size);
    session->ahead = ahead;
    session->ahead_bytes += bytes.size;
}

static void http1_drop_ahead(struct http1_session *session, size_t bytes)
{
    session->ahead_bytes -= bytes;
    if (session->ahead_bytes > 0) {
        memmove(session->ahead, session->ahead + bytes, session->ahead_bytes);
        return;
    }
    free(session->ahead);
    session->ahead = NULL;
    http1_set_pause(session);
}

/* Begins the next request that was sent ahead. */
static void http1_take_ahead(struct http1_session *session)
{
    if (session->ahead_bytes > 0 && !session->request_ended && !session->closes) {
        http1_drop_ahead(session,
                         http1_take(session, slice_of(session->ahead, session->ahead_bytes)));
    }
}

/* Builds the head of the call's response, or of the refusal. */
static enum err http1_build_head(struct http1_session *session, struct http_head *ret_head)
{
    if (session->core != NULL) {
        return http_take_head(session->core, ret_head);
    }
    ret_head->status = session->refused_status;
    ret_head->field_count = 1;
    ret_head->fields[0] =
        (struct call_field){SLICE("content-type"), SLICE("text/plain; charset=utf-8")};
    ret_head->has_length = true;
    ret_head->length = session->refused_text.size;
    ret_head->no_body = session->is_head;
    return OK;
}

/* Writes the response's head; if there is no memory, the connection ends. */
static void http1_render(struct http1_session *session)
{
    struct arena *arena = session->core != NULL ? &session->core->arena : &session->arena;
    struct http_head head;
    struct buffer text;

    session->rendered = true;
    session->body_ended = true;
    session->closes = session->closes || !session->request_ended || session->draining;
    if (http1_build_head(session, &head) != OK) {
        session->closes = true;
        return;
    }
    buffer_init(&text, arena, 512);
    http1_write_head(&text, &head, clock_wall_us(session->server->clock), session->closes);
    if (!buffer_ok(&text)) {
        session->closes = true;
        return;
    }
    session->continue_due = false;
    session->chunked = !head.has_length;
    session->body_ended = session->core == NULL || head.no_body;
    session->output[0] = buffer_slice(&text);
    session->output[1] =
        session->core == NULL && !head.no_body ? session->refused_text : slice_of(NULL, 0);
}

/* Called when the response was sent: begins the next request, or ends the connection. */
static void http1_end_exchange(struct http1_session *session)
{
    bool ends =
        session->closes || session->draining || (session->peer_ended && session->ahead_bytes == 0);

    http1_release_call(session);
    session->in_request = false;
    session->request_ended = false;
    session->rendered = false;
    session->ready = false;
    session->idle_since_us = session->server->calls->now_us;
    if (ends) {
        session->ended = true;
        http1_drop_ahead(session, session->ahead_bytes);
    } else if (session->ahead_bytes > 0) {
        session->link->wake(session->link);
    }
}

/* Writes as much of a slice as fits, and removes it; returns how much. */
static size_t http1_write(struct slice *bytes, uint8_t *to, size_t size)
{
    size_t step = bytes->size < size ? bytes->size : size;

    if (step > 0) {
        memcpy(to, bytes->data, step);
        *bytes = slice_after(*bytes, step);
    }
    return step;
}

/* Writes the next `size` bytes of the body, which are ready; `end`: nothing follows. Returns the
 * number of bytes including the chunk's framing. */
static size_t http1_write_piece(struct http1_session *session, uint8_t *to, size_t size, bool end)
{
    size_t used = 0;

    if (session->chunked && size > 0) {
        used = http1_write_chunk_line(to, size);
    }
    http_body_copy(session->core, to + used, size);
    used += size;
    if (session->chunked && size > 0) {
        memcpy(to + used, "\r\n", 2);
        used += 2;
    }
    if (session->chunked && end) {
        memcpy(to + used, "0\r\n\r\n", 5);
        used += 5;
    }
    return used;
}

/* Writes as much of the call's body as is ready and fits; returns how much. */
static size_t http1_write_body(struct http1_session *session, uint8_t *to, size_t size)
{
    size_t used = 0;

    while (!session->body_ended && size - used > HTTP1_CHUNK_ROOM_BYTES) {
        bool end = false;
        size_t ready = http_body_ready(session->core, size - used - HTTP1_CHUNK_ROOM_BYTES, &end);

        if (ready == 0 && !end) {
            break;
        }
        used += http1_write_piece(session, to + used, ready, end);
        session->body_ended = end;
        http_body_moved(session->core);
    }
    return used;
}

/* Returns whether the response's head is to be written. */
static bool http1_head_is_due(const struct http1_session *session)
{
    return session->ready && !session->rendered &&
           (session->core == NULL || http_head_is_due(session->core));
}

static size_t http1_drain(void *user, uint8_t *to, size_t size)
{
    struct http1_session *session = user;
    struct slice go_on = SLICE("HTTP/1.1 100 Continue\r\n\r\n");
    size_t used = 0;

    http1_take_ahead(session);
    if (session->continue_due) {
        session->continue_due = false;
        used += http1_write(&go_on, to, size);
    }
    if (http1_head_is_due(session)) {
        http1_render(session);
    }
    for (size_t i = 0; i < 2; i++) {
        used += http1_write(&session->output[i], to + used, size - used);
    }
    if (session->rendered && session->output[0].size + session->output[1].size == 0) {
        used += http1_write_body(session, to + used, size - used);
        if (session->body_ended) {
            http1_end_exchange(session);
        }
    }
    http1_set_pause(session);
    if (call_share_go_on(session->server->calls, &session->share)) {
        session->link->wake(session->link);
    }
    return used;
}

static size_t http1_feed(void *user, struct slice bytes, int64_t now_us)
{
    struct http1_session *session = user;
    size_t taken = bytes.size;

    session->server->calls->now_us = now_us;
    if (session->ended || session->closes) {
        /* Only the remaining part of the current request is still needed. */
        if (!session->ended && !session->request_ended && !session->rendered) {
            taken = http1_take(session, bytes);
        }
    } else if (session->request_ended || session->ahead_bytes > 0) {
        http1_keep_ahead(session, bytes);
    } else {
        taken = http1_take(session, bytes);
    }
    http1_set_pause(session);
    return taken;
}

static void http1_tick(void *user, int64_t now_us)
{
    struct http1_session *session = user;

    if (session->ended) {
        return;
    }
    if (session->head_since_us != INT64_MAX &&
        now_us - session->head_since_us >= HTTP1_HEAD_DEADLINE_US) {
        session->head_since_us = INT64_MAX;
        http1_answer_refusal(
            session, 408,
            SLICE("header fields: too slow; expected all of them within 10 s of the first byte"));
    } else if (!session->in_request && now_us - session->idle_since_us >= HTTP1_IDLE_DEADLINE_US) {
        session->ended = true;
        session->link->wake(session->link);
    }
}

static void http1_shutdown(void *user, int64_t now_us)
{
    struct http1_session *session = user;

    (void)now_us;
    session->draining = true;
    if (!session->in_request) {
        session->ended = true;
        session->link->wake(session->link);
    }
}

static int64_t http1_idle_since_us(const void *user)
{
    const struct http1_session *session = user;

    return session->in_request || http1_parser_in_head(&session->parser) ? INT64_MAX
                                                                         : session->idle_since_us;
}

static bool http1_finished(const void *user)
{
    const struct http1_session *session = user;

    return session->ended && session->output[0].size + session->output[1].size == 0;
}

/* A peer that has sent a complete request may still read its response. */
static bool http1_peer_ended(void *user)
{
    struct http1_session *session = user;

    session->peer_ended = true;
    return session->in_request && (session->request_ended || session->rendered || session->ready);
}

/* Accepts any first bytes, since net tries HTTP/2 before. */
static enum net_match http1_match(struct slice first_bytes)
{
    (void)first_bytes;
    return NET_MATCH_YES;
}

static enum err http1_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct http1_server *server = user;
    struct http1_session *session = FAULT("http1.open") ? NULL : malloc(sizeof(*session));

    if (session == NULL) {
        return ERR_MEMORY;
    }
    memset(session, 0, offsetof(struct http1_session, parser));
    http1_parser_init(&session->parser);
    arena_init(&session->arena, HTTP1_REFUSAL_ARENA_BYTES);
    session->server = server;
    session->link = link;
    session->idle_since_us = now_us;
    session->head_since_us = INT64_MAX;
    server->stats.connections++;
    *ret_session = session;
    return OK;
}

static void http1_close(void *user)
{
    struct http1_session *session = user;

    http1_release_call(session);
    ASSERT(session->share.waiting == NULL);
    ASSERT(session->share.packed == NULL);
    ASSERT(!session->share.in_line);
    ASSERT(session->share.output_bytes == 0);
    arena_deinit(&session->arena);
    free(session->ahead);
    free(session);
}

struct net_protocol http1_server_protocol(struct http1_server *server)
{
    return (struct net_protocol){
        .user = server,
        .match = http1_match,
        .open = http1_open,
        .feed = http1_feed,
        .drain = http1_drain,
        .tick = http1_tick,
        .shutdown = http1_shutdown,
        .idle_since_us = http1_idle_since_us,
        .finished = http1_finished,
        .peer_ended = http1_peer_ended,
        .close = http1_close,
    };
}

enum err http1_server_new(struct http_server *http, const struct clock *clock,
                          struct http1_server **ret_server)
{
    struct http1_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return ERR_MEMORY;
    }
    server->http = http;
    server->calls = http_server_calls(http);
    server->clock = clock;
    *ret_server = server;
    return OK;
}

const struct http1_stats *http1_server_stats(const struct http1_server *server)
{
    return &server->stats;
}

void http1_server_free(struct http1_server *server)
{
    free(server);
}
