/*
 * session.c: see session.h. The nghttp2 callbacks and the life of calls. Callbacks only note what
 * happened; nghttp2 is never entered from inside itself but by its submit functions.
 */
#include "client/session.h"

#include "client/call.h"
#include "client/header.h"
#include "client/request.h"
#include "store/base/assert.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

#define ARENA_BYTES_MAX (CLIENT_HEADER_BYTES_MAX * 4)

struct client_session {
    nghttp2_session *http2;
    uint8_t *texts; /* owned: authority, token and user agent one behind the other */
    struct client_session_config config; /* its slices are borrowed from `texts` */
    struct client_call *calls; /* all, newest first */
    size_t call_count;
    struct client_call *news_first; /* calls to report, oldest first */
    struct client_call *news_last;
    const uint8_t *unsent; /* nghttp2's, until its next mem_send */
    size_t unsent_bytes;
    bool closing; /* GOAWAY came */
    bool dead; /* the connection is gone; nghttp2 is not entered any more */
    uint32_t dead_code;
    char dead_message[CLIENT_REASON_BYTES];
};

static void session_add_news(struct client_session *session, struct client_call *call)
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

static void call_free(struct client_call *call)
{
    struct client_session *session = call->session;

    if (call->previous == NULL) {
        session->calls = call->next;
    } else {
        call->previous->next = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    session->call_count--;
    client_reader_deinit(&call->reader);
    arena_deinit(&call->arena);
    client_outbox_deinit(&call->outbox);
    free(call->held);
    free(call);
}

/* Closes the stream from this side. */
static void session_reset(struct client_session *session, struct client_call *call)
{
    if (!call->stream_open || call->was_reset || session->dead) {
        return;
    }
    call->was_reset = true;
    /* Fails only without memory; then the connection's own end closes the stream. */
    (void)nghttp2_submit_rst_stream(session->http2, NGHTTP2_FLAG_NONE, call->stream_id,
                                    NGHTTP2_CANCEL);
}

/* The call has its end: the stream is closed from this side, and the end is told later. */
static void session_settle(struct client_session *session, struct client_call *call)
{
    ASSERT(call->ended);
    session_reset(session, call);
    session_add_news(session, call);
}

/* --- nghttp2's callbacks --- */

static struct client_call *stream_call(nghttp2_session *http2, int32_t stream_id)
{
    return nghttp2_session_get_stream_user_data(http2, stream_id);
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *user)
{
    struct client_call *call = stream_call(http2, frame->hd.stream_id);
    enum err err = OK;

    (void)flags;
    if (call == NULL || call->ended) {
        return 0;
    }
    err = call_take_field(call, slice_of(name, name_bytes), slice_of(value, value_bytes));
    if (err != OK) {
        call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED,
                     "the answer's headers are larger than this client takes", false);
        session_settle(user, call);
    }
    return 0;
}

/* The server's side of the stream is complete. */
static void session_answered(struct client_session *session, struct client_call *call)
{
    if (call->ended) {
        return;
    }
    call->answered = true;
    if (call->held_bytes == 0) {
        call_conclude(call);
    }
    session_add_news(session, call);
    if (!call->request_ended) {
        /* It wants no more of the request. */
        session_reset(session, call);
    }
}

static int on_frame_recv(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
    struct client_session *session = user;
    struct client_call *call = NULL;

    if (frame->hd.type == NGHTTP2_GOAWAY) {
        session->closing = true;
        return 0;
    }
    call = stream_call(http2, frame->hd.stream_id);
    if (call == NULL || call->ended) {
        return 0;
    }
    if (frame->hd.type == NGHTTP2_HEADERS && !call->headers_done && call->http_status >= 200 &&
        !call_headers_done(call)) {
        session_settle(session, call);
        return 0;
    }
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        session_answered(session, call);
    }
    return 0;
}

/* Keeps bytes that a paused call can't take; the stream's window bounds them. */
static enum err call_hold(struct client_call *call, struct slice bytes)
{
    uint8_t *held = realloc(call->held, call->held_bytes + bytes.size);

    if (held == NULL) {
        return ERR_MEMORY;
    }
    memcpy(held + call->held_bytes, bytes.data, bytes.size);
    call->held = held;
    call->held_bytes += bytes.size;
    return OK;
}

static int on_data_chunk_recv(nghttp2_session *http2, uint8_t flags, int32_t stream_id,
                              const uint8_t *data, size_t size, void *user)
{
    struct client_session *session = user;
    struct client_call *call = stream_call(http2, stream_id);
    struct slice rest = slice_of(data, size);

    (void)flags;
    if (nghttp2_session_consume_connection(http2, size) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (call == NULL || call->ended) {
        (void)nghttp2_session_consume_stream(http2, stream_id, size);
        return 0;
    }
    if (call->held_bytes == 0) {
        rest = call_take_bytes(call, rest);
        (void)nghttp2_session_consume_stream(http2, stream_id, size - rest.size);
    }
    if (!call->ended && rest.size > 0 && call_hold(call, rest) != OK) {
        call_set_end(call, CLIENT_CODE_RESOURCE_EXHAUSTED, "out of memory for the answer", false);
    }
    if (call->ended) {
        session_settle(session, call);
    }
    return 0;
}

static void call_end_by_reset(struct client_call *call, uint32_t http2_error)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "the server reset the stream with HTTP/2 error %s",
                   nghttp2_http2_strerror(http2_error));
    call_set_end(call, client_code_of_reset(http2_error), text, false);
}

static int on_stream_close(nghttp2_session *http2, int32_t stream_id, uint32_t http2_error,
                           void *user)
{
    struct client_session *session = user;
    struct client_call *call = stream_call(http2, stream_id);

    if (call == NULL) {
        return 0;
    }
    call->stream_open = false;
    if (call->reported) {
        call_free(call);
        return 0;
    }
    if (!call->ended && !call->answered) {
        if (session->closing && http2_error == NGHTTP2_REFUSED_STREAM) {
            call_set_end(call, CLIENT_CODE_UNAVAILABLE,
                         "the server is closing this connection and did not take the call", false);
        } else {
            call_end_by_reset(call, http2_error);
        }
    }
    session_add_news(session, call);
    return 0;
}

/* on_writable is due, and there is room. */
static bool call_owes_room_now(const struct client_call *call)
{
    return call->owes_room && !call->half_closed && call->outbox.bytes < CLIENT_SEND_BYTES_HIGH;
}

static ssize_t on_read_request(nghttp2_session *http2, int32_t stream_id, uint8_t *bytes,
                               size_t capacity, uint32_t *data_flags, nghttp2_data_source *source,
                               void *user)
{
    struct client_call *call = source->ptr;
    size_t size = 0;

    (void)http2;
    (void)stream_id;
    if (call->ended) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    size = client_outbox_take(&call->outbox, bytes, capacity);
    if (call_owes_room_now(call)) {
        session_add_news(user, call);
    }
    if (call->half_closed && call->outbox.bytes == 0) {
        call->request_ended = true;
        *data_flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (size == 0) {
        return NGHTTP2_ERR_DEFERRED; /* until session_resume_request */
    }
    return (ssize_t)size;
}

/* --- a session's life --- */

static enum err session_open_http2(struct client_session *session)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)CLIENT_STREAM_WINDOW_BYTES},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)CLIENT_HEADER_BYTES_MAX}};
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    enum err err = ERR_MEMORY;

    if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) {
        goto out;
    }
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk_recv);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    if (nghttp2_session_client_new2(&session->http2, callbacks, session, option) != 0) {
        goto out;
    }
    if (nghttp2_submit_settings(session->http2, NGHTTP2_FLAG_NONE, settings,
                                sizeof(settings) / sizeof(settings[0])) != 0) {
        goto out;
    }
    if (nghttp2_session_set_local_window_size(session->http2, NGHTTP2_FLAG_NONE, 0,
                                              CLIENT_CONNECTION_WINDOW_BYTES) != 0) {
        goto out;
    }
    err = OK;
out:
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return err;
}

static struct slice text_place(uint8_t **at, struct slice text)
{
    struct slice placed = slice_of(*at, text.size);

    if (text.size > 0) {
        memcpy(*at, text.data, text.size);
    }
    *at += text.size;
    return placed;
}

enum err client_session_new(const struct client_session_config *config,
                            struct client_session **ret_session)
{
    static const struct slice bearer = SLICE("Bearer ");
    struct client_session *session = calloc(1, sizeof(*session));
    uint8_t *at = NULL;
    enum err err = ERR_MEMORY;

    if (session == NULL) {
        return ERR_MEMORY;
    }
    session->config = *config;
    session->texts = malloc(config->authority.size + bearer.size + config->token.size +
                            config->user_agent.size + 1);
    if (session->texts != NULL) {
        at = session->texts;
        session->config.authority = text_place(&at, config->authority);
        session->config.user_agent = text_place(&at, config->user_agent);
        if (config->token.size > 0) {
            const uint8_t *start = at;

            (void)text_place(&at, bearer);
            (void)text_place(&at, config->token);
            session->config.token = slice_of(start, (size_t)(at - start));
        }
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
    /* Reported calls whose streams are still open go with the connection. */
    session->dead = true;
    for (struct client_call *call = session->calls; call != NULL;) {
        struct client_call *next = call->next;

        ASSERT(call->reported);
        call_free(call);
        call = next;
    }
    nghttp2_session_del(session->http2);
    free(session->texts);
    free(session);
}

/* --- starting --- */

static enum err session_submit(struct client_session *session, struct client_call *call,
                               const struct client_options *options)
{
    struct client_request_fields fields = {.count = 0};
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = on_read_request};
    enum err err = client_request_build(&session->config, call, options, &fields);
    int32_t stream_id = 0;

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
    stream_id =
        nghttp2_submit_request(session->http2, NULL, fields.list, fields.count, &provider, call);
    if (stream_id == NGHTTP2_ERR_NOMEM) {
        return ERR_MEMORY;
    }
    if (stream_id < 0) {
        call_set_end(call, CLIENT_CODE_UNAVAILABLE, "this connection takes no more calls", false);
        session_add_news(session, call);
        return OK;
    }
    call->stream_id = stream_id;
    call->stream_open = true;
    return OK;
}

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
    call->deadline_ms = start->deadline_ms;
    call->next = session->calls;
    if (call->next != NULL) {
        call->next->previous = call;
    }
    session->calls = call;
    session->call_count++;
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
    if (session->call_count >= CLIENT_CALLS_MAX) {
        return ERR_BUSY;
    }
    call = session_new_call(session, start);
    if (call == NULL) {
        return ERR_MEMORY;
    }
    call->gzip = options->gzip;
    if (method_has_one_request(call->method)) {
        call->half_closed = true;
        err = client_outbox_add(&call->outbox, start->request, call->gzip);
    }
    if (err == OK) {
        err = session_submit(session, call, options);
    }
    if (err != OK) {
        call_free(call);
        return err;
    }
    if (!call->half_closed) {
        call->owes_room = true;
        session_add_news(session, call);
    }
    *ret_call = call;
    return OK;
}

/* --- messages of a client stream --- */

/* There is something for on_read_request. */
static void session_resume_request(struct client_session *session, struct client_call *call)
{
    if (call->stream_open && !session->dead &&
        nghttp2_session_resume_data(session->http2, call->stream_id) == NGHTTP2_ERR_NOMEM) {
        client_session_end(session, call, CLIENT_CODE_RESOURCE_EXHAUSTED,
                           "out of memory for the request");
    }
}

/* Whether the call may send at all. */
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
    for (struct client_call *call = session->calls; call != NULL; call = call->next) {
        client_session_end(session, call, code, message);
    }
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
            ssize_t made = nghttp2_session_mem_send(session->http2, &session->unsent);

            if (made <= 0) {
                break; /* nothing to send; without memory the connection dies by its silence */
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
    for (struct client_call *call = session->calls; call != NULL; call = call->next) {
        /* Those that were reported stay until the session is freed: this may run inside nghttp2,
         * which still names them. */
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

int64_t client_session_expire(struct client_session *session, int64_t now_ms)
{
    int64_t earliest = 0;

    for (struct client_call *call = session->calls; call != NULL; call = call->next) {
        if (call->deadline_ms == 0 || call->ended) {
            continue;
        }
        if (call->deadline_ms <= now_ms) {
            client_session_end(session, call, CLIENT_CODE_DEADLINE_EXCEEDED,
                               "the deadline passed before the answer came");
        } else if (earliest == 0 || call->deadline_ms < earliest) {
            earliest = call->deadline_ms;
        }
    }
    return earliest;
}

/* Tells bytes that were held back, and gives their room back to the server. */
static void session_tell_held(struct client_session *session, struct client_call *call)
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

static void session_tell_end(struct client_call *call)
{
    struct client_status status = {.code = call->code,
                                   .message = call->message,
                                   .details = call->details,
                                   .from_server = call->from_server,
                                   .metadata = call->fields,
                                   .metadata_count = call->field_count};

    call->reported = true;
    call->handlers.on_end(call->handlers.user, &status);
    if (!call->stream_open) {
        call_free(call);
    }
}

static void session_tell_room(struct client_call *call)
{
    call->owes_room = false;
    if (call->handlers.on_writable != NULL) {
        call->handlers.on_writable(call->handlers.user);
    }
}

void client_session_report(struct client_session *session)
{
    /* Whoever asks again from inside a callback is told in this turn too; each call ends once, so
     * the loop ends. */
    while (session->news_first != NULL) {
        struct client_call *call = session->news_first;

        session->news_first = call->next_news;
        if (session->news_first == NULL) {
            session->news_last = NULL;
        }
        call->in_news = false;
        if (!call->ended && call->held_bytes > 0 && !call->paused) {
            session_tell_held(session, call);
        }
        if (!call->ended && !call->answered && call_owes_room_now(call)) {
            session_tell_room(call);
        }
        if (call->ended && !call->in_news) {
            session_tell_end(call);
        }
    }
}

bool client_session_has_news(const struct client_session *session)
{
    return session->news_first != NULL;
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
    return session->call_count;
}
