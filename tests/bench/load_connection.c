/*
 * load_connection.c: one HTTP/2 connection of the load generator, straight on nghttp2, so that the
 * measure does not depend on the client library that is itself under development here. Every answer
 * is checked: its HTTP and gRPC status, and how many bytes it has.
 */
#include "tests/bench/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES (256 * 1024)
#define STREAM_WINDOW (1 << 20)
#define CONNECTION_WINDOW (1 << 30)
#define HEADERS_MAX 8

struct load_call {
    struct load_call *next_free;
    uint64_t due_ns;
    struct slice body;
    size_t sent;
    size_t received;
    int64_t http_status; /* -1: not yet */
    int64_t grpc_status;
};

struct load_connection {
    struct load *load;
    const struct load_group *group;
    nghttp2_session *session;
    int fd;
    size_t refill; /* calls that ended and may be followed by the next */
    struct load_call *free_calls;
    nghttp2_nv headers[HEADERS_MAX];
    size_t header_count;
    uint8_t out[LOAD_OUT_BYTES];
    uint8_t in[READ_BYTES];
};

static uint64_t draw(struct load *load)
{
    uint64_t x = load->random += 0x9E3779B97F4A7C15u;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static struct load_call *take_call(struct load_connection *connection)
{
    struct load_call *call = connection->free_calls;

    if (call != NULL) {
        connection->free_calls = call->next_free;
    } else {
        call = malloc(sizeof(*call));
    }
    if (call == NULL) {
        load_fail("call", "no memory");
    }
    *call = (struct load_call){.http_status = -1, .grpc_status = -1};
    return call;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    struct load_call *call = source->ptr;
    size_t rest = call->body.size - call->sent;
    size_t now = rest < size ? rest : size;

    (void)session;
    (void)id;
    (void)user;
    memcpy(bytes, call->body.data + call->sent, now);
    call->sent += now;
    if (call->sent == call->body.size) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)now;
}

void load_connection_start(struct load_connection *connection, uint64_t due_ns)
{
    struct load *load = connection->load;
    const struct load_group *group = connection->group;
    struct load_call *call = take_call(connection);
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = read_body};

    call->due_ns = due_ns;
    call->body = group->requests[draw(load) % group->request_count];
    if (nghttp2_submit_request(connection->session, NULL, connection->headers,
                               connection->header_count, load->options.get ? NULL : &provider,
                               call) < 0) {
        load_fail("submit", "nghttp2 refuses a request");
    }
}

static int64_t number_of(const uint8_t *text, size_t size)
{
    int64_t number = 0;

    for (size_t i = 0; i < size && i < 9; i++) {
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *user)
{
    struct load_call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

    (void)flags;
    (void)user;
    if (call == NULL) {
        return 0;
    }
    if (name_size == 7 && memcmp(name, ":status", 7) == 0) {
        call->http_status = number_of(value, value_size);
    } else if (name_size == 11 && memcmp(name, "grpc-status", 11) == 0) {
        call->grpc_status = number_of(value, value_size);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t size, void *user)
{
    struct load_call *call = nghttp2_session_get_stream_user_data(session, id);

    (void)flags;
    (void)data;
    (void)user;
    if (call != NULL) {
        call->received += size;
    }
    return 0;
}

static bool is_right(const struct load_options *options, const struct load_call *call)
{
    return call->http_status == 200 && (options->plain || call->grpc_status == 0) &&
           call->received >= options->expect_min && call->received <= options->expect_max;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *user)
{
    struct load_connection *connection = user;
    struct load *load = connection->load;
    struct load_counts *counts = &load->counts;
    struct load_call *call = nghttp2_session_get_stream_user_data(session, id);
    uint64_t taken = 0;

    if (call == NULL) {
        return 0;
    }
    taken = (load_now_ns() - call->due_ns) / 100;
    counts->answered++;
    counts->reply_bytes += call->received;
    if (error == NGHTTP2_NO_ERROR && is_right(&load->options, call)) {
        counts->right++;
    } else if (counts->right + 1 == counts->answered) {
        counts->first_wrong_status = load->options.plain ? call->http_status : call->grpc_status;
        counts->first_wrong_bytes = call->received;
    }
    if (load->sample_count == LOAD_SAMPLES_MAX) {
        load_fail("run", "too many calls for one run");
    }
    load->samples[load->sample_count++] = taken > UINT32_MAX ? UINT32_MAX : (uint32_t)taken;
    call->next_free = connection->free_calls;
    connection->free_calls = call;
    connection->refill++;
    return 0;
}

void load_connection_callbacks(struct load *load)
{
    if (nghttp2_session_callbacks_new(&load->callbacks) != 0) {
        load_fail("start", "no memory");
    }
    nghttp2_session_callbacks_set_on_header_callback(load->callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(load->callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(load->callbacks, on_close);
}

static void add_header(struct load_connection *connection, const char *name, const char *value)
{
    nghttp2_nv *header = &connection->headers[connection->header_count++];

    *header = (nghttp2_nv){.name = (uint8_t *)name,
                           .value = (uint8_t *)value,
                           .namelen = strlen(name),
                           .valuelen = strlen(value),
                           .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
        load_fail("connect", strerror(errno));
    }
    return fd;
}

struct load_connection *load_connection_new(struct load *load, size_t index)
{
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW}};
    struct load_connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL ||
        nghttp2_session_client_new(&connection->session, load->callbacks, connection) != 0) {
        load_fail("connect", "no memory");
    }
    connection->load = load;
    connection->group = &load->groups[index % load->group_count];
    connection->fd = connect_to(load->options.port);
    add_header(connection, ":method", load->options.get ? "GET" : "POST");
    add_header(connection, ":scheme", "http");
    add_header(connection, ":path", load->options.path);
    add_header(connection, ":authority", "127.0.0.1");
    if (!load->options.plain) {
        add_header(connection, "te", "trailers");
        add_header(connection, "content-type", "application/grpc");
    }
    if (connection->group->token[0] != '\0') {
        add_header(connection, "authorization", connection->group->token);
    }
    if (nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0,
                                              CONNECTION_WINDOW) != 0) {
        load_fail("connect", "nghttp2 refuses the settings");
    }
    load_connection_flush(connection);
    return connection;
}

int load_connection_fd(const struct load_connection *connection)
{
    return connection->fd;
}

/* The socket blocks: what the server does not take yet is waited for. */
static void send_all(const struct load_connection *connection, size_t size)
{
    size_t sent = 0;

    while (sent < size) {
        ssize_t now = send(connection->fd, connection->out + sent, size - sent, MSG_NOSIGNAL);

        if (now < 0 && errno != EINTR) {
            load_fail("send", strerror(errno));
        }
        sent += now < 0 ? 0 : (size_t)now;
    }
}

void load_connection_flush(struct load_connection *connection)
{
    size_t size = 0;

    for (;;) {
        const uint8_t *bytes = NULL;
        ssize_t now = nghttp2_session_mem_send(connection->session, &bytes);

        if (now < 0 || (size_t)now > LOAD_OUT_BYTES) {
            load_fail("send", "nghttp2 fails");
        }
        if (now == 0 || size + (size_t)now > LOAD_OUT_BYTES) {
            send_all(connection, size);
            size = 0;
        }
        if (now == 0) {
            return;
        }
        memcpy(connection->out + size, bytes, (size_t)now);
        size += (size_t)now;
    }
}

static void start_next(struct load_connection *connection)
{
    struct load *load = connection->load;

    if (load->options.rate > 0) {
        connection->refill = 0;
    }
    for (; connection->refill > 0; connection->refill--) {
        if (load_take_turn(load)) {
            load_connection_start(connection, load_now_ns());
        }
    }
}

void load_connection_read(struct load_connection *connection)
{
    ssize_t size = recv(connection->fd, connection->in, sizeof(connection->in), MSG_DONTWAIT);

    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (size <= 0) {
        load_fail("receive", size == 0 ? "the server closed the connection" : strerror(errno));
    }
    if (nghttp2_session_mem_recv(connection->session, connection->in, (size_t)size) != size) {
        load_fail("receive", "not HTTP/2");
    }
    start_next(connection);
    load_connection_flush(connection);
}

void load_connection_free(struct load_connection *take_connection)
{
    struct load_call *call = NULL;

    if (take_connection == NULL) {
        return;
    }
    while ((call = take_connection->free_calls) != NULL) {
        take_connection->free_calls = call->next_free;
        free(call);
    }
    nghttp2_session_del(take_connection->session);
    close(take_connection->fd);
    free(take_connection);
}
