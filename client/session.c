/*
 * session.c: see session.h. Handles calls: starting, sending, ending and reporting them.
 * session_frames.c handles the server's frames. A call is in one of two lists: it waits for a
 * stream, or it has (or had) one; it leaves the second when its end was reported and its stream is
 * closed.
 */
#include "client/session.h"

#include "client/header.h"
#include "client/request.h"
#include "client/session_internal.h"
#include "store/base/assert.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define ARENA_BYTES_MAX (CLIENT_HEADER_BYTES_MAX * 4)
/* Maximum calls, including those whose end was reported and whose streams are not closed yet. */
#define CALLS_KEPT_MAX ((size_t)2 * CLIENT_CALLS_MAX)

/* --- lists of calls --- */

static void list_append(struct session_list *list, struct client_call *call)
{
    ASSERT(call->list == NULL);
    call->list = list;
    call->next = NULL;
    call->previous = list->last;
    if (list->last == NULL) {
        list->first = call;
    } else {
        list->last->next = call;
    }
    list->last = call;
    list->count++;
}

static void list_remove(struct client_call *call)
{
    struct session_list *list = call->list;

    if (call->previous == NULL) {
        list->first = call->next;
    } else {
        call->previous->next = call->next;
    }
    if (call->next == NULL) {
        list->last = call->previous;
    } else {
        call->next->previous = call->previous;
    }
    list->count--;
    call->list = NULL;
}

void session_add_news(struct client_session *session, struct client_call *call)
{
    if (call->in_news || call->reported) {
        return;
    }
    call->in_news = true;
    call->next_news = NULL;
    if (session->news_last == NULL) {
        session->news_first = call;
    } else {
        session->news_last->next_news = call;
    }
    session->news_last = call;
}

static bool call_is_waiting(const struct client_call *call)
{
    return call->list == &call->session->waiting;
}

/* Removes a call from the waiting ones, because its stream was opened or never will be. */
static void session_stop_waiting(struct client_session *session, struct client_call *call)
{
    list_remove(call);
    list_append(&session->calls, call);
}

static void call_forget_request(struct client_call *call)
{
    free(call->request_fields);
    call->request_fields = NULL;
}

void session_free_call(struct client_session *session, struct client_call *call)
{
    list_remove(call);
    client_deadlines_remove(&session->deadlines, &call->deadline);
    call_forget_request(call);
    client_reader_deinit(&call->reader);
    arena_deinit(&call->arena);
    client_outbox_deinit(&call->outbox);
    free(call->held);
    free(call);
}

void session_reset(struct client_session *session, struct client_call *call)
{
    if (!call->stream_open || call->was_reset || session->dead) {
        return;
    }
    call->was_reset = true;
    /* Fails only if memory is exhausted; the stream is then closed with the connection. */
    (void)nghttp2_submit_rst_stream(session->http2, NGHTTP2_FLAG_NONE, call->stream_id,
                                    NGHTTP2_CANCEL);
}

void session_settle(struct client_session *session, struct client_call *call)
{
    ASSERT(call->ended);
    if (call_is_waiting(call)) {
        session_stop_waiting(session, call);
    }
    session_reset(session, call);
    session_add_news(session, call);
}

void session_end_waiting(struct client_session *session, uint32_t code, const char *message)
{
    while (session->waiting.first != NULL) {
        struct client_call *call = session->waiting.first;

        call_set_end(call, code, message, false);
        session_settle(session, call);
    }
}

/* --- creation and end --- */

static struct slice text_place(uint8_t **at, struct slice text)
{
    struct slice placed = slice_of(*at, text.size);

    if (text.size > 0) {
        memcpy(*at, text.data, text.size);
    }
    *at += text.size;
    return placed;
}

enum err client_session_set_token(struct client_session *session, struct slice token)
{
    static const struct slice bearer = SLICE("Bearer ");
    uint8_t *text = NULL;
    uint8_t *at = NULL;

    if (token.size > 0) {
        text = malloc(bearer.size + token.size);
        if (text == NULL) {
            return ERR_MEMORY;
        }
        at = text;
        (void)text_place(&at, bearer);
        (void)text_place(&at, token);
    }
    free(session->token);
    session->token = text;
    session->config.token = slice_of(text, (size_t)(at - text));
    return OK;
}

static enum err session_copy_texts(struct client_session *session,
                                   const struct client_session_config *config)
{
    uint8_t *at = malloc(config->authority.size + config->user_agent.size + 1);

    if (at == NULL) {
        return ERR_MEMORY;
    }
    session->texts = at;
    session->config.authority = text_place(&at, config->authority);
    session->config.user_agent = text_place(&at, config->user_agent);
    return client_session_set_token(session, config->token);
}

enum err client_session_new(const struct client_session_config *config,
                            struct client_session **ret_session)
{
    struct client_session *session = calloc(1, sizeof(*session));
    enum err err = OK;

    if (session == NULL) {
        return ERR_MEMORY;
    }
    session->config = *config;
    session->keepalive.silence_ms = config->keepalive_ms;
    session->keepalive.timeout_ms = config->keepalive_timeout_ms;
    err = session_copy_texts(session, config);
    if (err == OK) {
        err = session_open_http2(session);
    }
    if (err != OK) {
        client_session_free(session);
        return err;
    }
    *ret_session = session;
    return OK;
}

void client_session_free(struct client_session *session)
{
    if (session == NULL) {
        return;
    }
    ASSERT(session->waiting.first == NULL);
    /* Reported calls whose streams are still open go with the connection. */
    session->dead = true;
    while (session->calls.first != NULL) {
        ASSERT(session->calls.first->reported);
        session_free_call(session, session->calls.first);
    }
    client_deadlines_deinit(&session->deadlines);
    nghttp2_session_del(session->http2);
    free(session->token);
    free(session->texts);
    free(session);
}

/* --- starting --- */

/* Returns whether the server allows another stream. */
static bool session_has_room(const struct client_session *session)
{
    return session->ready && !session->closing && !session->dead &&
           session->streams < CLIENT_CALLS_MAX &&
           session->streams < nghttp2_session_get_remote_settings(
                                  session->http2, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

/* Opens streams for calls that wait, as far as there is room. */
static void session_open_waiting(struct client_session *session)
{
    while (session->waiting.first != NULL && session_has_room(session)) {
        struct client_call *call = session->waiting.first;

        session_stop_waiting(session, call);
        if (session_open_stream(session, call, call->request_fields, call->request_field_count) !=
            OK) {
            call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED, "out of memory for the request",
                         false);
            session_add_news(session, call);
        }
        call_forget_request(call);
    }
}

static enum err session_submit(struct client_session *session, struct client_call *call,
                               const struct client_options *options)
{
    struct client_request_fields fields = {.count = 0};
    enum err err = client_request_build(&session->config, call, options, &fields);

    if (err != OK) {
        return err;
    }
    if (session->dead || session->closing) {
        call_set_end(
            call, session->dead ? session->dead_code : CLIENT_CODE_UNAVAILABLE,
            session->dead ? session->dead_message : "the server is closing this connection", false);
        session_add_news(session, call);
        return OK;
    }
    if (session->waiting.first == NULL && session_has_room(session)) {
        return session_open_stream(session, call, fields.list, fields.count);
    }
    call->request_fields = client_request_keep(&fields);
    if (call->request_fields == NULL) {
        return ERR_MEMORY;
    }
    call->request_field_count = fields.count;
    list_remove(call);
    list_append(&session->waiting, call);
    return OK;
}

/* Allocates a call whose arguments were checked. Returns NULL if memory is exhausted. */
static struct client_call *session_new_call(struct client_session *session,
                                            const struct client_session_call *start)
{
    struct client_call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return NULL;
    }
    arena_init(&call->arena, ARENA_BYTES_MAX);
    client_reader_init(&call->reader, session->config.reply_bytes_max);
    call->session = session;
    call->method = start->method;
    call->handlers = *start->handlers;
    call->half_closed = method_has_one_request(start->method);
    call->owes_room = !call->half_closed;
    list_append(&session->calls, call);
    if (start->deadline_ms != 0) {
        call->deadline.at_ms = start->deadline_ms;
        if (client_deadlines_add(&session->deadlines, &call->deadline) != OK) {
            session_free_call(session, call);
            return NULL;
        }
    }
    return call;
}

enum err client_session_start(struct client_session *session,
                              const struct client_session_call *start,
                              struct client_call **ret_call)
{
    static const struct client_options none = {.timeout_ms = 0};
    const struct client_options *options = start->options != NULL ? start->options : &none;
    struct client_call *call = NULL;
    enum err err = OK;

    if (start->request.size > session->config.request_bytes_max) {
        return ERR_TOO_LARGE;
    }
    if (options->metadata_count > CLIENT_METADATA_MAX ||
        (start->request.size > 0 && !method_has_one_request(start->method))) {
        return ERR_INVALID;
    }
    if (session->unreported >= CLIENT_CALLS_MAX ||
        client_session_call_count(session) >= CALLS_KEPT_MAX) {
        return ERR_BUSY;
    }
    call = session_new_call(session, start);
    if (call == NULL) {
        return ERR_MEMORY;
    }
    call->gzip = options->gzip;
    if (call->half_closed) {
        err = client_outbox_add(&call->outbox, start->request, call->gzip);
    }
    if (err == OK) {
        err = session_submit(session, call, options);
    }
    if (err != OK) {
        session_free_call(session, call);
        return err;
    }
    session->unreported++;
    *ret_call = call;
    return OK;
}

/* --- messages of a client stream --- */

/* Makes nghttp2 call on_read_request again, since there is something to send. */
static void session_resume_request(struct client_session *session, struct client_call *call)
{
    if (call->stream_open && !session->dead &&
        nghttp2_session_resume_data(session->http2, call->stream_id) == NGHTTP2_ERR_NOMEM) {
        client_session_end(session, call, CLIENT_CODE_RESOURCE_EXHAUSTED,
                           "out of memory for the request");
    }
}

/* Returns whether the call may send messages. */
static enum err call_check_sending(const struct client_call *call)
{
    if (call->ended || call->answered) {
        return ERR_CANCELLED;
    }
    return call->half_closed ? ERR_INVALID : OK;
}

enum err client_session_send(struct client_session *session, struct client_call *call,
                             struct slice message)
{
    enum err err = call_check_sending(call);

    if (err != OK) {
        return err;
    }
    if (message.size > session->config.request_bytes_max) {
        return ERR_TOO_LARGE;
    }
    if (call->outbox.bytes >= CLIENT_SEND_BYTES_HIGH) {
        call->owes_room = true;
        return ERR_BUSY;
    }
    err = client_outbox_add(&call->outbox, message, call->gzip);
    if (err != OK) {
        return err;
    }
    session_resume_request(session, call);
    return OK;
}

enum err client_session_half_close(struct client_session *session, struct client_call *call)
{
    enum err err = call_check_sending(call);

    if (err != OK) {
        return err;
    }
    call->half_closed = true;
    session_resume_request(session, call);
    return OK;
}

/* --- moving --- */

void client_session_end(struct client_session *session, struct client_call *call, uint32_t code,
                        const char *message)
{
    if (call == NULL || call->ended) {
        return;
    }
    call_set_end(call, code, message, false);
    session_settle(session, call);
}

void client_session_end_all(struct client_session *session, uint32_t code, const char *message)
{
    for (struct client_call *call = session->calls.first; call != NULL; call = call->next) {
        client_session_end(session, call, code, message);
    }
    session_end_waiting(session, code, message);
}

void client_session_pause(struct client_call *call)
{
    call->paused = true;
}

void client_session_resume(struct client_call *call)
{
    call->paused = false;
    if (!call->ended && call->held_bytes > 0) {
        session_add_news(call->session, call);
    }
}

enum err client_session_feed(struct client_session *session, struct slice bytes)
{
    ssize_t taken = 0;

    if (session->dead) {
        return ERR_UNAVAILABLE;
    }
    client_keepalive_hear(&session->keepalive);
    taken = nghttp2_session_mem_recv(session->http2, bytes.data, bytes.size);
    if (taken == NGHTTP2_ERR_NOMEM) {
        return ERR_MEMORY;
    }
    if (taken < 0) {
        return ERR_MALFORMED;
    }
    return OK;
}

size_t client_session_drain(struct client_session *session, uint8_t *bytes, size_t capacity)
{
    size_t size = 0;

    while (!session->dead && size < capacity) {
        size_t piece = 0;

        if (session->unsent_bytes == 0) {
            ssize_t made = 0;

            session_open_waiting(session);
            made = nghttp2_session_mem_send(session->http2, &session->unsent);

            if (made <= 0) {
                break; /* nothing to send; if memory is exhausted, the keepalive ends the connection */
            }
            session->unsent_bytes = (size_t)made;
        }
        piece = session->unsent_bytes < capacity - size ? session->unsent_bytes : capacity - size;
        memcpy(bytes + size, session->unsent, piece);
        session->unsent += piece;
        session->unsent_bytes -= piece;
        size += piece;
    }
    return size;
}

void client_session_fail(struct client_session *session, uint32_t code, const char *message)
{
    if (session->dead) {
        return;
    }
    session->dead = true;
    session->dead_code = code;
    (void)snprintf(session->dead_message, sizeof(session->dead_message), "%s", message);
    session_end_waiting(session, code, message);
    for (struct client_call *call = session->calls.first; call != NULL; call = call->next) {
        /* Reported calls are kept until the session is freed, since this may run inside nghttp2,
         * which still refers to them. */
        if (call->reported) {
            continue;
        }
        call->stream_open = false;
        if (!call->answered) {
            call_set_end(call, code, message, false);
        }
        session_add_news(session, call);
    }
}

/* Ends calls whose deadline has passed. Returns the earliest remaining deadline; 0: none. */
static int64_t session_expire(struct client_session *session, int64_t now_ms)
{
    struct client_deadline *first = client_deadlines_first(&session->deadlines);

    while (first != NULL && first->at_ms <= now_ms) {
        struct client_call *call =
            (struct client_call *)(void *)((char *)first - offsetof(struct client_call, deadline));

        client_deadlines_remove(&session->deadlines, first);
        client_session_end(session, call, CLIENT_CODE_DEADLINE_EXCEEDED,
                           "the deadline passed before the answer came");
        first = client_deadlines_first(&session->deadlines);
    }
    return first != NULL ? first->at_ms : 0;
}

/* Sends a PING to a silent server. Fails like session_expire if an earlier PING was not answered. */
static int64_t session_keep_alive(struct client_session *session, int64_t now_ms)
{
    bool waited_for = session->ready && client_session_call_count(session) > 0;
    char text[CLIENT_REASON_BYTES];
    int64_t next_ms = 0;

    switch (client_keepalive_step(&session->keepalive, now_ms, waited_for, &next_ms)) {
    case CLIENT_KEEPALIVE_WAIT:
        break;
    case CLIENT_KEEPALIVE_ASK:
        /* Fails only if memory is exhausted; the connection is then closed as if the PING was not
         * answered. */
        (void)nghttp2_submit_ping(session->http2, NGHTTP2_FLAG_NONE, NULL);
        break;
    case CLIENT_KEEPALIVE_GONE:
        (void)snprintf(text, sizeof(text),
                       "the server does not answer: %.*s sent nothing within %lld ms of a PING",
                       (int)session->config.authority.size,
                       (const char *)session->config.authority.data,
                       (long long)session->keepalive.timeout_ms);
        client_session_fail(session, CLIENT_CODE_UNAVAILABLE, text);
        return 0;
    }
    return next_ms;
}

int64_t client_session_tick(struct client_session *session, int64_t now_ms)
{
    int64_t deadline_ms = session_expire(session, now_ms);
    int64_t asking_ms = session->dead ? 0 : session_keep_alive(session, now_ms);

    if (deadline_ms == 0 || asking_ms == 0) {
        return deadline_ms + asking_ms;
    }
    return deadline_ms < asking_ms ? deadline_ms : asking_ms;
}

/* Delivers bytes that were held back, and returns their room to the server. */
static void session_deliver_held(struct client_session *session, struct client_call *call)
{
    struct slice rest = call_take_bytes(call, slice_of(call->held, call->held_bytes));
    size_t taken = call->held_bytes - rest.size;

    if (rest.size > 0) {
        memmove(call->held, rest.data, rest.size);
    }
    call->held_bytes = rest.size;
    if (call->stream_open && !session->dead) {
        (void)nghttp2_session_consume_stream(session->http2, call->stream_id, taken);
    }
    if (call->ended) {
        session_settle(session, call);
    } else if (call->held_bytes == 0 && call->answered) {
        call_conclude(call);
    }
}

static void session_report_end(struct client_session *session, struct client_call *call)
{
    struct client_status status = {.code = call->code,
                                   .message = call->message,
                                   .details = call->details,
                                   .from_server = call->from_server,
                                   .unseen = !call->headers_sent || call->refused,
                                   .metadata = call->fields,
                                   .metadata_count = call->field_count};

    call->reported = true;
    ASSERT(session->unreported > 0);
    session->unreported--;
    client_deadlines_remove(&session->deadlines, &call->deadline);
    call->handlers.on_end(call->handlers.user, &status);
    if (!call->stream_open) {
        session_free_call(session, call);
    }
}

bool call_owes_room_now(const struct client_call *call)
{
    return call->owes_room && !call->half_closed && call->outbox.bytes < CLIENT_SEND_BYTES_HIGH;
}

static void session_report_room(struct client_call *call)
{
    call->owes_room = false;
    if (call->handlers.on_writable != NULL) {
        call->handlers.on_writable(call->handlers.user);
    }
}

void client_session_report(struct client_session *session)
{
    /* Ends that callbacks cause are reported in the same loop, which ends since each call ends
     * once. */
    while (session->news_first != NULL) {
        struct client_call *call = session->news_first;

        session->news_first = call->next_news;
        if (session->news_first == NULL) {
            session->news_last = NULL;
        }
        call->in_news = false;
        if (!call->ended && call->held_bytes > 0 && !call->paused) {
            session_deliver_held(session, call);
        }
        if (!call->ended && !call->answered && call_owes_room_now(call)) {
            session_report_room(call);
        }
        if (call->ended && !call->in_news) {
            session_report_end(session, call);
        }
    }
}

bool client_session_has_news(const struct client_session *session)
{
    return session->news_first != NULL;
}

struct slice client_session_reason(const struct client_session *session)
{
    return slice_text(session->dead_message);
}

bool client_session_is_ready(const struct client_session *session)
{
    return session->ready;
}

bool client_session_is_draining(const struct client_session *session)
{
    return session->closing;
}

bool client_session_is_closing(const struct client_session *session)
{
    return session->closing || session->dead;
}

bool client_session_is_over(const struct client_session *session)
{
    return session->dead ||
           (session->unsent_bytes == 0 && nghttp2_session_want_read(session->http2) == 0 &&
            nghttp2_session_want_write(session->http2) == 0);
}

size_t client_session_call_count(const struct client_session *session)
{
    return session->calls.count + session->waiting.count;
}

size_t client_session_calls_under_way(const struct client_session *session)
{
    return session->unreported;
}
