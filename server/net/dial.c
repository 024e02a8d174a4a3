/*
 * dial.c: see dial.h. A connection is freed when its handle is closed and its look-up of the host's name has ended.
 */
#include "server/net/dial.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdio.h>
#include <stdlib.h>

/* Size of a port as a text. */
#define PORT_BYTES 6

struct dial_connection {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } socket; /* first */
    struct dial *dial;
    uv_connect_t connect;
    uv_getaddrinfo_t look_up;
    struct addrinfo *addresses; /* of the host */
    const struct addrinfo *next_address; /* in that list; NULL: none is left */
    unsigned address_count; /* those that were tried */
    bool is_looking_up;
    bool is_reopening; /* the handle is being closed, to be made again for the next address */
    bool is_open;
    bool is_ended; /* on_end was called, or the connection is being closed */
    bool is_closed; /* the handle is closed */
    char bytes[DIAL_READ_BYTES];
};

struct dial {
    struct dial_config config;
    struct dial_connection *connection; /* NULL: none, or it is being closed */
    size_t live_count; /* connections that are not freed */
};

/* Bytes that the socket did not take at once. */
struct dial_write {
    uv_write_t request; /* first */
    struct dial_connection *connection;
    char bytes[];
};

static struct dial_connection *connection_of(const void *handle)
{
    return (struct dial_connection *)(uintptr_t)handle;
}

static void free_if_ended(struct dial_connection *connection)
{
    struct dial *dial = connection->dial;

    if (!connection->is_closed || connection->is_looking_up) {
        return;
    }
    uv_freeaddrinfo(connection->addresses);
    free(connection);
    dial->live_count--;
    dial->config.on_closed(dial->config.user);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct dial_connection *connection = connection_of(handle);

    connection->is_closed = true;
    free_if_ended(connection);
}

/* Reports the end of a connection once. */
static void end(struct dial_connection *connection, int code)
{
    const struct dial_config *config = &connection->dial->config;

    if (connection->is_ended) {
        return;
    }
    connection->is_ended = true;
    config->on_end(config->user,
                   code == UV_EOF ? "the server closed the connection" : uv_strerror(code));
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    struct dial_connection *connection = connection_of(handle);

    (void)size;
    *buffer = uv_buf_init(connection->bytes, sizeof(connection->bytes));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct dial_connection *connection = connection_of(stream);
    const struct dial_config *config = &connection->dial->config;

    if (size < 0) {
        end(connection, (int)size);
    } else if (size > 0 && !connection->is_ended) {
        config->on_bytes(config->user, slice_of(buffer->base, (size_t)size));
    }
}

static void connect_next(struct dial_connection *connection);

/* A socket that failed to connect is of no use for another address: it is made again. */
static void on_reopened(uv_handle_t *handle)
{
    struct dial_connection *connection = connection_of(handle);

    connection->is_reopening = false;
    if (connection->is_ended) {
        on_handle_closed(handle);
        return;
    }
    ASSERT(uv_tcp_init(connection->dial->config.loop, &connection->socket.tcp) == 0);
    (void)uv_tcp_nodelay(&connection->socket.tcp, 1);
    connect_next(connection);
}

/* Goes on with the next address of the host; ends if there is none. */
static void fail_address(struct dial_connection *connection, int code)
{
    if (connection->next_address == NULL || connection->address_count == DIAL_ADDRESSES_MAX) {
        end(connection, code);
        return;
    }
    connection->is_reopening = true;
    uv_close(&connection->socket.handle, on_reopened);
}

static void on_connected(uv_connect_t *request, int status)
{
    struct dial_connection *connection = request->data;
    const struct dial_config *config = &connection->dial->config;

    if (connection->is_ended) {
        return;
    }
    if (status != 0) {
        fail_address(connection, status);
        return;
    }
    status = uv_read_start(&connection->socket.stream, on_alloc, on_read);
    if (status != 0) {
        end(connection, status);
        return;
    }
    connection->is_open = true;
    config->on_open(config->user);
}

static void connect_next(struct dial_connection *connection)
{
    const struct addrinfo *address = connection->next_address;
    int code = 0;

    connection->next_address = address->ai_next;
    connection->address_count++;
    code = uv_tcp_connect(&connection->connect, &connection->socket.tcp, address->ai_addr,
                          on_connected);
    if (code != 0) {
        fail_address(connection, code);
    }
}

static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
    struct dial_connection *connection = request->data;

    connection->is_looking_up = false;
    connection->addresses = addresses;
    connection->next_address = addresses;
    if (status != 0) {
        end(connection, status);
    } else if (!connection->is_ended) {
        connect_next(connection);
    }
    free_if_ended(connection);
}

static int begin_tcp(struct dial_connection *connection)
{
    const struct dial_config *config = &connection->dial->config;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char port[PORT_BYTES];
    int code = 0;

    (void)snprintf(port, sizeof(port), "%u", config->port);
    connection->look_up.data = connection;
    code = uv_getaddrinfo(config->loop, &connection->look_up, on_looked_up, config->host, port,
                          &hints);
    connection->is_looking_up = code == 0;
    return code;
}

enum err dial_open(struct dial *dial)
{
    struct dial_connection *connection = NULL;
    bool is_tcp = dial->config.host != NULL;
    int code = 0;

    ASSERT(dial->connection == NULL);
    if (!FAULT("dial.open")) {
        connection = (struct dial_connection *)calloc(1, sizeof(*connection));
    }
    if (connection == NULL) {
        return ERR_MEMORY;
    }
    connection->dial = dial;
    connection->connect.data = connection;
    code = is_tcp ? uv_tcp_init(dial->config.loop, &connection->socket.tcp)
                  : uv_pipe_init(dial->config.loop, &connection->socket.pipe, 0);
    if (code != 0) {
        free(connection);
        return ERR_MEMORY;
    }
    dial->live_count++;
    dial->connection = connection;
    if (is_tcp) {
        (void)uv_tcp_nodelay(&connection->socket.tcp, 1);
        code = begin_tcp(connection);
    } else {
        uv_pipe_connect(&connection->connect, &connection->socket.pipe, dial->config.path,
                        on_connected);
    }
    if (code != 0) {
        dial_close(dial);
        return ERR_MEMORY;
    }
    return OK;
}

static void on_written(uv_write_t *request, int status)
{
    struct dial_connection *connection = ((struct dial_write *)request)->connection;

    free(request);
    if (status != 0) {
        end(connection, status);
    }
}

/* Queues what the socket did not take. */
static int queue(struct dial_connection *connection, struct slice bytes)
{
    struct dial_write *write = (struct dial_write *)malloc(sizeof(*write) + bytes.size);
    uv_buf_t buffer;
    int code = UV_ENOMEM;

    if (write == NULL) {
        return code;
    }
    write->connection = connection;
    memcpy(write->bytes, bytes.data, bytes.size);
    buffer = uv_buf_init(write->bytes, (unsigned)bytes.size);
    code = uv_write(&write->request, &connection->socket.stream, &buffer, 1, on_written);
    if (code != 0) {
        free(write);
    }
    return code;
}

void dial_send(struct dial *dial, struct slice bytes)
{
    struct dial_connection *connection = dial->connection;
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)bytes.data, (unsigned)bytes.size);
    int sent = 0;

    if (connection == NULL || !connection->is_open || connection->is_ended || bytes.size == 0) {
        return;
    }
    sent = uv_try_write(&connection->socket.stream, &buffer, 1);
    if (sent >= 0 && (size_t)sent == bytes.size) {
        return;
    }
    if (sent < 0 && sent != UV_EAGAIN) {
        return; /* the read reports the end */
    }
    if (queue(connection, slice_after(bytes, sent > 0 ? (size_t)sent : 0)) != 0) {
        (void)uv_read_stop(&connection->socket.stream); /* a reply's deadline ends it */
    }
}

void dial_close(struct dial *dial)
{
    struct dial_connection *connection = dial->connection;

    if (connection == NULL) {
        return;
    }
    dial->connection = NULL;
    connection->is_ended = true;
    if (connection->is_looking_up) {
        (void)uv_cancel((uv_req_t *)&connection->look_up); /* else it ends by itself */
    }
    if (!connection->is_reopening) {
        uv_close(&connection->socket.handle, on_handle_closed);
    }
}

bool dial_is_idle(const struct dial *dial)
{
    return dial == NULL || dial->live_count == 0;
}

enum err dial_new(const struct dial_config *config, struct dial **ret_dial)
{
    struct dial *dial = (struct dial *)calloc(1, sizeof(*dial));

    if (dial == NULL) {
        return ERR_MEMORY;
    }
    dial->config = *config;
    *ret_dial = dial;
    return OK;
}

void dial_free(struct dial *dial)
{
    ASSERT(dial_is_idle(dial));
    free(dial);
}
