/*
 * plain.c: the simplest layer that server/http2 can have above it.
 */
#include "tests/suites/plain.h"

#include "server/http2/h2.h"
#include "store/base/assert.h"

#include <stdlib.h>

#define PLAIN_FIELD(name, value)                                                                   \
    {                                                                                              \
        {(const uint8_t *)(name), sizeof(name) - 1},                                               \
        {                                                                                          \
            (const uint8_t *)(value), sizeof(value) - 1                                            \
        }                                                                                          \
    }

static const uint8_t plain_text[] = "Read to its end, and answered.\n";
#define PLAIN_TEXT_BYTES (sizeof(plain_text) - 1)

static const struct h2_field plain_head[] = {
    PLAIN_FIELD(":status", "200"),
    PLAIN_FIELD("content-type", "text/plain"),
};
static const struct h2_field plain_trailers[] = {PLAIN_FIELD("x-end", "here")};

struct plain {
    struct h2_shared *h2;
};

struct plain_session {
    struct net_link *link;
    struct h2_conn *conn;
};

/* Number of sent bytes of the response, kept in the stream's user pointer. */
struct plain_answer {
    size_t sent;
};

static void on_request(void *user, struct h2_stream *stream)
{
    struct plain_answer *answer = calloc(1, sizeof(*answer));

    (void)user;
    ASSERT(answer != NULL); /* a test's own server */
    h2_stream_set_user(stream, answer);
}

static void on_field(void *user, struct h2_stream *stream, struct slice name, struct slice value)
{
    (void)user;
    (void)stream;
    (void)name;
    (void)value;
}

static void on_fields_end(void *user, struct h2_stream *stream)
{
    (void)user;
    (void)stream;
}

static void on_data(void *user, struct h2_stream *stream, struct slice bytes)
{
    (void)user;
    h2_stream_consume(stream, bytes.size);
}

static void on_request_end(void *user, struct h2_stream *stream)
{
    (void)user;
    h2_stream_respond(stream, plain_head, sizeof(plain_head) / sizeof(plain_head[0]), true);
}

static size_t body_ready(void *user, struct h2_stream *stream, size_t max, bool *ret_end)
{
    const struct plain_answer *answer = h2_stream_user(stream);
    size_t left = PLAIN_TEXT_BYTES - answer->sent;

    (void)user;
    *ret_end = left <= max;
    return left <= max ? left : max;
}

static void body_copy(void *user, struct h2_stream *stream, uint8_t *to, size_t size)
{
    struct plain_answer *answer = h2_stream_user(stream);

    (void)user;
    memcpy(to, plain_text + answer->sent, size);
    answer->sent += size;
}

static bool body_end(void *user, struct h2_stream *stream)
{
    (void)user;
    h2_stream_send_trailers(stream, plain_trailers,
                            sizeof(plain_trailers) / sizeof(plain_trailers[0]));
    return true;
}

static void on_drained(void *user, struct h2_stream *stream)
{
    (void)user;
    (void)stream;
}

static void on_close(void *user, struct h2_stream *stream)
{
    (void)user;
    free(h2_stream_user(stream));
}

static void on_output(void *user)
{
    struct plain_session *session = user;

    session->link->wake(session->link);
}

static const struct h2_handlers plain_handlers = {
    .on_request = on_request,
    .on_field = on_field,
    .on_fields_end = on_fields_end,
    .on_data = on_data,
    .on_request_end = on_request_end,
    .body_ready = body_ready,
    .body_copy = body_copy,
    .body_end = body_end,
    .on_drained = on_drained,
    .on_close = on_close,
    .on_output = on_output,
};

/* Matches everything: HTTP/2 reports an invalid preface. */
static enum net_match match(struct slice first_bytes)
{
    (void)first_bytes;
    return NET_MATCH_YES;
}

static enum err session_open(void *user, struct net_link *link, int64_t now_us, void **ret_session)
{
    struct plain *plain = user;
    struct plain_session *session = calloc(1, sizeof(*session));
    enum err err = OK;

    if (session == NULL) {
        return ERR_MEMORY;
    }
    session->link = link;
    err = h2_conn_new(plain->h2, session, now_us, &session->conn);
    if (err != OK) {
        free(session);
        return err;
    }
    *ret_session = session;
    return OK;
}

static size_t session_feed(void *user, struct slice bytes, int64_t now_us)
{
    struct plain_session *session = user;

    return h2_conn_feed(session->conn, bytes, now_us);
}

static size_t session_drain(void *user, uint8_t *to, size_t size)
{
    struct plain_session *session = user;

    return h2_conn_drain(session->conn, to, size);
}

static void session_tick(void *user, int64_t now_us)
{
    struct plain_session *session = user;

    h2_conn_tick(session->conn, now_us);
}

static void session_shutdown(void *user, int64_t now_us)
{
    struct plain_session *session = user;

    h2_conn_shutdown(session->conn, now_us);
}

static bool session_finished(const void *user)
{
    const struct plain_session *session = user;

    return h2_conn_finished(session->conn);
}

static void session_close(void *user)
{
    struct plain_session *session = user;

    h2_conn_free(session->conn);
    free(session);
}

struct plain *plain_new(void)
{
    struct plain *plain = calloc(1, sizeof(*plain));

    if (plain != NULL && h2_shared_new(&plain_handlers, &plain->h2) != OK) {
        free(plain);
        return NULL;
    }
    return plain;
}

struct net_protocol plain_protocol(struct plain *plain)
{
    return (struct net_protocol){
        .user = plain,
        .match = match,
        .open = session_open,
        .feed = session_feed,
        .drain = session_drain,
        .tick = session_tick,
        .shutdown = session_shutdown,
        .finished = session_finished,
        .close = session_close,
    };
}

void plain_free(struct plain *plain)
{
    if (plain != NULL) {
        h2_shared_free(plain->h2);
        free(plain);
    }
}
