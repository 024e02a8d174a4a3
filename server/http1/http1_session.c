/*
 * http1_session.c: one HTTP/1.1 connection: implements net's protocol table. A request is read while
 * the previous one has been answered; the response is written when the call is over, so that by
 * then it is known whether the request has ended. A response before that end closes the connection,
 * after the peer had time to read it (net's linger).
 */
#include "server/http1/http1.h"
#include "server/http1/http1_parser.h"
#include "server/http1/http1_response.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

/* Memory of a response without a call: its head. */
#define HTTP1_REFUSAL_ARENA_BYTES ((size_t)16 * 1024)

struct http1_server {
    struct call_server *calls; /* borrowed */
    const struct clock *clock;
    struct http1_stats stats;
};

struct http1_session {
    struct http1_server *server;
    struct net_link *link;
    struct call_share share;
    struct call_core *core; /* NULL: no request, or it has no call */
    bool in_request; /* from the request line to the end of the response */
    bool request_ended; /* all of the request was received */
    bool is_head; /* the response has no body */
    bool ready; /* the response is due */
    bool rendered; /* the response is in `output` */
    bool closes; /* the connection ends after the response */
    bool ended; /* nothing more is read or written, but `output` */
    bool draining;
    bool peer_ended; /* the peer sends nothing more */
    bool continue_due; /* 100 Continue is to be sent */
    uint32_t requests;
    unsigned refused_status; /* not 0: the response without a call, with `refused_text` */
    struct slice refused_text;
    struct slice output[2]; /* head and body: what is left of them */
    int64_t idle_since_us; /* since when no request is open */
    int64_t head_since_us; /* since when a head is arriving; INT64_MAX: none */
    uint8_t *ahead; /* owned: requests that were sent ahead; NULL: none */
    size_t ahead_bytes;
    struct arena arena; /* the response without a call */
    struct http1_parser parser;
};

static void http1_on_ready(void *user)
{
    struct http1_session *session = user;

    session->ready = true;
    session->link->wake(session->link);
}

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
    http1_on_ready(session);
}

static void http1_begin_request(struct http1_session *session, const struct http1_event *event)
{
    struct http1_server *server = session->server;

    session->in_request = true;
    session->requests++;
    server->stats.requests++;
    session->is_head = slice_equal(event->name, SLICE("HEAD"));
    session->core = connect_open(server->calls, http1_on_ready, session);
    if (session->core == NULL) {
        server->calls->stats.calls_refused++;
        server->calls->stats.calls_ended[STATUS_UNAVAILABLE]++;
        http1_answer_refusal(session, 503, slice_text(err_text(ERR_BUSY)));
        return;
    }
    session->core->share = &session->share;
    session->core->call.peer = session->link->peer;
    connect_take_line(session->core, event->name, event->value);
    if (!arena_copy(&session->core->arena, session->link->peer, &session->core->call.peer)) {
        session->core->call.peer = slice_of(NULL, 0);
    }
}

static void http1_end_head(struct http1_session *session)
{
    const struct http1_parser *parser = &session->parser;
    bool has_body = http1_parser_has_body(parser);

    session->head_since_us = INT64_MAX;
    session->closes = session->closes || parser->closes || session->requests >= HTTP1_REQUESTS_MAX;
    if (session->core == NULL) {
        return;
    }
    connect_take_head_end(session->core, has_body, parser->has_length || !has_body, parser->length);
    session->continue_due = parser->expects_continue && has_body && !session->core->ended;
}

static void http1_on_event(struct http1_session *session, const struct http1_event *event)
{
    switch (event->kind) {
    case HTTP1_LINE:
        http1_begin_request(session, event);
        break;
    case HTTP1_FIELD:
        if (session->core != NULL) {
            connect_take_field(session->core, event->name, event->value);
        }
        break;
    case HTTP1_HEAD_END:
        http1_end_head(session);
        break;
    case HTTP1_BODY:
        session->continue_due = false;
        if (session->core != NULL) {
            connect_take_body(session->core, event->value);
        }
        break;
    case HTTP1_END:
        session->request_ended = true;
        if (session->core != NULL) {
            connect_take_end(session->core);
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

/* Takes bytes up to the end of a request; returns how many. */
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

/* Keeps bytes of a next request, and stops reading. More than the limit cannot come: the peer is
 * ended then. */
static void http1_keep_ahead(struct http1_session *session, struct slice bytes)
{
    uint8_t *ahead = NULL;

    session->link->paused = true;
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
    session->link->paused = false;
}

/* Begins the next request that was sent ahead. */
static void http1_take_ahead(struct http1_session *session)
{
    if (session->ahead_bytes > 0 && !session->request_ended && !session->closes) {
        http1_drop_ahead(session,
                         http1_take(session, slice_of(session->ahead, session->ahead_bytes)));
    }
}

/* Builds the response of the call, or of the refusal. */
static enum err http1_build(struct http1_session *session, struct connect_response *ret_response)
{
    if (session->core != NULL) {
        return connect_respond(session->core, ret_response);
    }
    ret_response->status = session->refused_status;
    ret_response->field_count = 1;
    ret_response->fields[0] =
        (struct call_field){SLICE("content-type"), SLICE("text/plain; charset=utf-8")};
    ret_response->body = session->refused_text;
    return OK;
}

/* Writes the response's head; without memory the connection ends. */
static void http1_render(struct http1_session *session)
{
    struct arena *arena = session->core != NULL ? &session->core->arena : &session->arena;
    struct connect_response response;
    struct buffer head;

    session->ready = false;
    session->rendered = true;
    session->closes = session->closes || !session->request_ended || session->draining;
    if (http1_build(session, &response) != OK) {
        session->closes = true;
        return;
    }
    buffer_init(&head, arena, 512);
    http1_write_head(&head, &response, clock_wall_us(session->server->clock), session->closes);
    if (!buffer_ok(&head)) {
        session->closes = true;
        return;
    }
    session->continue_due = false;
    session->output[0] = buffer_slice(&head);
    session->output[1] = session->is_head ? slice_of(NULL, 0) : response.body;
}

/* The response was sent: the next request may come, or the connection ends. */
static void http1_end_exchange(struct http1_session *session)
{
    bool ends =
        session->closes || session->draining || (session->peer_ended && session->ahead_bytes == 0);

    http1_release_call(session);
    session->in_request = false;
    session->request_ended = false;
    session->rendered = false;
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
    if (session->ready) {
        http1_render(session);
    }
    for (size_t i = 0; i < 2; i++) {
        used += http1_write(&session->output[i], to + used, size - used);
    }
    if (session->rendered && session->output[0].size + session->output[1].size == 0) {
        http1_end_exchange(session);
    }
    if (call_share_go_on(session->server->calls, &session->share)) {
        session->link->wake(session->link);
    }
    return used;
}

static size_t http1_feed(void *user, struct slice bytes, int64_t now_us)
{
    struct http1_session *session = user;

    session->server->calls->now_us = now_us;
    if (session->ended || session->closes) {
        /* Only the rest of a request that is being answered matters. */
        if (!session->ended && !session->request_ended && !session->rendered) {
            return http1_take(session, bytes);
        }
        return bytes.size;
    }
    if (session->request_ended || session->ahead_bytes > 0) {
        http1_keep_ahead(session, bytes);
        return bytes.size;
    }
    return http1_take(session, bytes);
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

/* A peer that has sent a whole request may still read its response. */
static bool http1_peer_ended(void *user)
{
    struct http1_session *session = user;

    session->peer_ended = true;
    return session->in_request && (session->request_ended || session->rendered || session->ready);
}

/* Any first bytes: net tries HTTP/2 before. */
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

enum err http1_server_new(struct call_server *calls, const struct clock *clock,
                          struct http1_server **ret_server)
{
    struct http1_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return ERR_MEMORY;
    }
    server->calls = calls;
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
