/*
 * server.c: see server.h. nghttp2's server side over blocking sockets and poll, one thread for all
 * connections. What it stores stays when it goes down.
 */
#include "tests/unit/client_captures/server.h"

#include "store/base/random.h"

#include <nghttp2/nghttp2.h>

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define CONNECTIONS_MAX 8
#define STREAMS_MAX 32
#define KEY_BYTES 64
#define BODY_BYTES 256
#define TOKEN_BYTES 64

struct stored {
    char key[KEY_BYTES];
    char body[BODY_BYTES];
    size_t body_bytes;
};

struct stream {
    bool live;
    char key[KEY_BYTES];
    char token[TOKEN_BYTES];
    char body[BODY_BYTES];
    size_t body_bytes;
};

struct connection {
    struct server *server;
    nghttp2_session *http2;
    int socket; /* -1: this place is free */
    bool hang_up;
    struct stream streams[STREAMS_MAX];
};

struct server {
    struct server_habits habits;
    struct random_seeded random;
    pthread_t thread;
    bool is_up;
    uint16_t port; /* 0: not chosen yet */
    char address[32];
    int listener;
    int ender[2]; /* a pipe that ends the thread */
    struct connection connections[CONNECTIONS_MAX];
    struct stored *stored;
    unsigned stored_count;
    unsigned wrong;
};

static unsigned draw(struct server *server, unsigned below)
{
    uint32_t drawn = 0;

    random_fill(&server->random.random, &drawn, sizeof(drawn));
    return drawn % below;
}

/* Stores a capture, unless its key is stored. The newest entries are compared first: most repeats are of these. */
static void store(struct server *server, const struct stream *stream)
{
    struct stored *entry = NULL;

    for (unsigned i = server->stored_count; i > 0; i--) {
        bool same_key = strcmp(server->stored[i - 1].key, stream->key) == 0;
        bool same_body = server->stored[i - 1].body_bytes == stream->body_bytes &&
                         memcmp(server->stored[i - 1].body, stream->body, stream->body_bytes) == 0;

        server->wrong += same_key != same_body;
        if (same_key) {
            return;
        }
    }
    if (server->stored_count == SERVER_CAPTURES_MAX) {
        server->wrong++;
        return;
    }
    entry = &server->stored[server->stored_count++];
    memcpy(entry->key, stream->key, sizeof(entry->key));
    memcpy(entry->body, stream->body, sizeof(entry->body));
    entry->body_bytes = stream->body_bytes;
}

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static ssize_t on_read_body(nghttp2_session *http2, int32_t stream_id, uint8_t *bytes,
                            size_t capacity, uint32_t *flags, nghttp2_data_source *source,
                            void *user)
{
    const nghttp2_nv trailer = field("grpc-status", "0");

    (void)source;
    (void)user;
    (void)capacity;
    memset(bytes, 0, 5); /* an empty message */
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    (void)nghttp2_submit_trailer(http2, stream_id, &trailer, 1);
    return 5;
}

static void answer_ok(nghttp2_session *http2, int32_t stream_id)
{
    const nghttp2_nv fields[] = {field(":status", "200"),
                                 field("content-type", "application/grpc")};
    const nghttp2_data_provider body = {.read_callback = on_read_body};

    (void)nghttp2_submit_response(http2, stream_id, fields, 2, &body);
}

static void answer_error(nghttp2_session *http2, int32_t stream_id, const char *code)
{
    const nghttp2_nv fields[] = {field(":status", "200"), field("content-type", "application/grpc"),
                                 field("grpc-status", code)};

    (void)nghttp2_submit_response(http2, stream_id, fields, 3, NULL);
}

static void answer(struct connection *connection, int32_t stream_id, struct stream *stream)
{
    struct server *server = connection->server;
    const struct server_habits *habits = &server->habits;
    unsigned drawn = draw(server, 100);

    if (habits->token != NULL && strcmp(habits->token, stream->token) != 0) {
        answer_error(connection->http2, stream_id, "16");
    } else if (drawn < habits->unavailable) {
        if (draw(server, 2) == 0) {
            store(server, stream);
        }
        answer_error(connection->http2, stream_id, "14");
    } else {
        store(server, stream);
        if (drawn < habits->unavailable + habits->hang_up) {
            connection->hang_up = true;
        } else {
            answer_ok(connection->http2, stream_id);
        }
    }
}

static int on_begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
    struct connection *connection = user;

    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct stream *stream = &connection->streams[i];

        if (!stream->live) {
            *stream = (struct stream){.live = true};
            return nghttp2_session_set_stream_user_data(http2, frame->hd.stream_id, stream);
        }
    }
    return NGHTTP2_ERR_CALLBACK_FAILURE; /* exceeds the limit of its settings */
}

static void copy_text(char *to, size_t capacity, const uint8_t *bytes, size_t size)
{
    size_t kept = size < capacity ? size : capacity - 1;

    memcpy(to, bytes, kept);
    to[kept] = '\0';
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *user)
{
    struct stream *stream = nghttp2_session_get_stream_user_data(http2, frame->hd.stream_id);

    (void)flags;
    (void)user;
    if (name_bytes == 15 && memcmp(name, "idempotency-key", 15) == 0) {
        copy_text(stream->key, sizeof(stream->key), value, value_bytes);
    } else if (name_bytes == 13 && memcmp(name, "authorization", 13) == 0) {
        copy_text(stream->token, sizeof(stream->token), value, value_bytes);
    }
    return 0;
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t stream_id, const uint8_t *bytes,
                   size_t size, void *user)
{
    struct stream *stream = nghttp2_session_get_stream_user_data(http2, stream_id);
    size_t room = sizeof(stream->body) - stream->body_bytes;

    (void)flags;
    (void)user;
    size = size < room ? size : room;
    memcpy(stream->body + stream->body_bytes, bytes, size);
    stream->body_bytes += size;
    return 0;
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
    struct stream *stream = nghttp2_session_get_stream_user_data(http2, frame->hd.stream_id);

    if (stream != NULL && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        answer(user, frame->hd.stream_id, stream);
    }
    return 0;
}

static int on_stream_close(nghttp2_session *http2, int32_t stream_id, uint32_t error, void *user)
{
    struct stream *stream = nghttp2_session_get_stream_user_data(http2, stream_id);

    (void)error;
    (void)user;
    if (stream != NULL) {
        stream->live = false;
    }
    return 0;
}

static void accept_one(struct server *server)
{
    struct connection *free_place = NULL;
    const nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX};
    nghttp2_session_callbacks *callbacks = NULL;
    int socket = accept(server->listener, NULL, NULL);

    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        if (server->connections[i].socket < 0) {
            free_place = &server->connections[i];
        }
    }
    if (socket < 0 || free_place == NULL || nghttp2_session_callbacks_new(&callbacks) != 0) {
        close(socket);
        return;
    }
    *free_place = (struct connection){.server = server, .socket = socket};
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    if (nghttp2_session_server_new(&free_place->http2, callbacks, free_place) != 0 ||
        nghttp2_submit_settings(free_place->http2, NGHTTP2_FLAG_NONE, &settings, 1) != 0) {
        abort();
    }
    nghttp2_session_callbacks_del(callbacks);
}

static void end_connection(struct connection *connection)
{
    if (connection->socket >= 0) {
        close(connection->socket);
        nghttp2_session_del(connection->http2);
        connection->socket = -1;
    }
}

/* False if the connection is to end. */
static bool send_all(struct connection *connection)
{
    const uint8_t *bytes = NULL;
    ssize_t size = nghttp2_session_mem_send(connection->http2, &bytes);

    for (; size > 0; size = nghttp2_session_mem_send(connection->http2, &bytes)) {
        if (send(connection->socket, bytes, (size_t)size, MSG_NOSIGNAL) != size) {
            return false;
        }
    }
    return size == 0;
}

static void serve(struct connection *connection)
{
    uint8_t bytes[16384];
    ssize_t size = recv(connection->socket, bytes, sizeof(bytes), 0);

    if (size <= 0 || nghttp2_session_mem_recv(connection->http2, bytes, (size_t)size) != size ||
        !send_all(connection) || connection->hang_up) {
        end_connection(connection);
    }
}

static void *run(void *user)
{
    struct server *server = user;
    struct pollfd watched[2 + CONNECTIONS_MAX];

    for (;;) {
        watched[0] = (struct pollfd){.fd = server->ender[0], .events = POLLIN};
        watched[1] = (struct pollfd){.fd = server->listener, .events = POLLIN};
        for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
            watched[2 + i] = (struct pollfd){.fd = server->connections[i].socket, .events = POLLIN};
        }
        (void)poll(watched, 2 + CONNECTIONS_MAX, -1);
        if (watched[0].revents != 0) {
            return NULL;
        }
        for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
            if (watched[2 + i].revents != 0) {
                serve(&server->connections[i]);
            }
        }
        if (watched[1].revents != 0) {
            accept_one(server);
        }
    }
}

struct server *server_new(const struct server_habits *habits)
{
    struct server *server = calloc(1, sizeof(*server));

    assert_non_null(server);
    server->stored = calloc(SERVER_CAPTURES_MAX, sizeof(*server->stored));
    assert_non_null(server->stored);
    server->habits = *habits;
    random_seeded_init(&server->random, 7);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        server->connections[i].socket = -1;
    }
    server_up(server); /* chooses a port */
    server_down(server);
    return server;
}

void server_up(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(server->port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int on = 1;

    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->listener >= 0);
    assert_int_equal(setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server->listener, 16), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    (void)snprintf(server->address, sizeof(server->address), "127.0.0.1:%u", server->port);
    assert_int_equal(pipe(server->ender), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, run, server), 0);
    server->is_up = true;
}

void server_down(struct server *server)
{
    assert_true(server->is_up);
    assert_int_equal(write(server->ender[1], "e", 1), 1);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        end_connection(&server->connections[i]);
    }
    close(server->listener);
    close(server->ender[0]);
    close(server->ender[1]);
    server->is_up = false;
}

void server_free(struct server *server)
{
    if (server->is_up) {
        server_down(server);
    }
    free(server->stored);
    free(server);
}

const char *server_address(const struct server *server)
{
    return server->address;
}

unsigned server_count_stored(const struct server *server)
{
    assert_false(server->is_up);
    return server->stored_count;
}

unsigned server_count_wrong(const struct server *server)
{
    assert_false(server->is_up);
    return server->wrong;
}
