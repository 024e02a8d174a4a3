/*
 * connection.c: see connection.h. Moves bytes between a session and a TCP handle, resolves
 * addresses, and handles timeouts. Events are recorded at once and processed in one place,
 * connection_work, once per turn or at the end of a read: so writes are gathered and no callback
 * runs inside the call that caused it.
 *
 * Bytes pass between socket and session only in connection_take and connection_drain, with TLS (secure.h)
 * between them if it is configured.
 */
#include "client/connection.h"

#include "client/header.h"
#include "client/secure.h"
#include "client/session.h"
#include "store/base/assert.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/* Maximum size of one read, and of one gathered write. */
#define IO_BYTES ((size_t)64 * 1024)
/* Maximum time that unsent bytes without a waiting call may keep the loop alive. Without it, a
 * server that stops reading would prevent the program's end. */
#define LINGER_MS 1000
/* Handles of a connection, beside that of a try to connect: the socket, two of the turn's work, the
 * clock, the connect timeout. */
#define HANDLE_COUNT 5

enum connection_state {
    CONNECTION_RESOLVING, /* the name is being looked up */
    CONNECTION_CONNECTING, /* the addresses are tried in order */
    CONNECTION_OPEN,
    CONNECTION_LOST, /* the session has failed; only close is left */
    CONNECTION_CLOSING
};

struct tcp_connection {
    struct client_channel base; /* must be the first member: the public part */
    enum connection_state state;
    uv_loop_t *loop;
    struct client_session *session; /* owned */
    struct client_secure *secure; /* owned; NULL: cleartext */
    char host[CLIENT_HOST_BYTES_MAX + 1];
    char authority[CLIENT_ADDRESS_BYTES];
    uint16_t port;
    int64_t connect_timeout_ms;
    int64_t connect_due_ms; /* time to which `connect_timer` is set */
    uv_getaddrinfo_t resolve;
    struct addrinfo *addresses; /* owned; the result of getaddrinfo */
    struct addrinfo numeric; /* used instead if the host is a numeric address */
    struct sockaddr_storage numeric_address;
    const struct addrinfo *next_address; /* next address to try */
    unsigned addresses_tried;
    bool resolving; /* the request `resolve` is pending */
    int trying; /* the socket of the running attempt, until `socket` takes it over; -1: none */
    int try_result; /* OK, or the reason for the failed attempt */
    uv_poll_t
        try; /* exists while `trying`: unlike libuv's connect request it need not keep the loop alive */
    uv_tcp_t socket;
    uv_write_t write;
    bool writing; /* the request `write` is pending, which owns `write_bytes` */
    int64_t
        linger_until_ms; /* time at which a write without a waiting call is abandoned; 0: none */
    uv_check_t work; /* active while connection_work has something to do */
    uv_idle_t awake; /* active together with `work`, so that the loop does not block */
    uv_timer_t clock;
    int64_t clock_due_ms; /* time to which `clock` is set; 0: inactive */
    uv_timer_t connect_timer;
    struct client_connection_listener listener;
    bool notified_ready;
    bool notified_draining;
    bool notified_lost;
    unsigned handles_open;
    void (*on_closed)(void *user);
    void *on_closed_user;
    uint8_t read_bytes[IO_BYTES];
    uint8_t write_bytes[IO_BYTES];
};

static void connection_work(struct tcp_connection *connection);
static void connection_try(struct tcp_connection *connection);
static void connection_free_when_closed(struct tcp_connection *connection);
static void on_handle_closed(uv_handle_t *handle);

static struct tcp_connection *tcp_of(struct client_channel *channel)
{
    return (struct tcp_connection *)channel;
}

/* --- the turn's work --- */

static void on_work(uv_check_t *handle)
{
    connection_work(handle->data);
}

static void on_awake(uv_idle_t *handle)
{
    (void)handle;
}

/* Requests connection_work, after the server's bytes were read: a program that did not run its loop
 * for a while may then find that the server has closed the connection, and sends no call on it. */
static void connection_wake(struct tcp_connection *connection)
{
    if (connection->state != CONNECTION_CLOSING) {
        (void)uv_check_start(&connection->work, on_work);
        (void)uv_idle_start(&connection->awake, on_awake);
    }
}

static void connection_hold(uv_handle_t *handle, bool held)
{
    if (held) {
        uv_ref(handle);
    } else {
        uv_unref(handle);
    }
}

/* Keeps the loop alive while a call is running. */
static void connection_hold_loop(struct tcp_connection *connection)
{
    bool held = client_session_calls_under_way(connection->session) > 0;

    if (connection->state == CONNECTION_CLOSING) {
        return;
    }
    connection_hold((uv_handle_t *)&connection->socket, held);
    connection_hold((uv_handle_t *)&connection->work, held);
    connection_hold((uv_handle_t *)&connection->awake, held);
    connection_hold((uv_handle_t *)&connection->clock, held);
    connection_hold((uv_handle_t *)&connection->connect_timer, held);
    if (connection->trying >= 0) {
        connection_hold((uv_handle_t *)&connection->try, held);
    }
}

static void on_clock(uv_timer_t *handle)
{
    struct tcp_connection *connection = handle->data;

    connection->clock_due_ms = 0;
    connection_work(connection);
}

/* Sets the clock to the earlier of two times; 0: none. */
static void connection_set_clock(struct tcp_connection *connection, int64_t now_ms, int64_t due_ms,
                                 int64_t other_ms)
{
    if (due_ms == 0 || (other_ms != 0 && other_ms < due_ms)) {
        due_ms = other_ms;
    }
    if (due_ms == connection->clock_due_ms || connection->state == CONNECTION_CLOSING) {
        return;
    }
    connection->clock_due_ms = due_ms;
    if (due_ms == 0) {
        (void)uv_timer_stop(&connection->clock);
    } else {
        /* Never 0: the timer would then run before received bytes are read. */
        (void)uv_timer_start(&connection->clock, on_clock,
                             due_ms > now_ms ? (uint64_t)(due_ms - now_ms) : 1, 0);
    }
}

static void connection_lose(struct tcp_connection *connection, const char *what, const char *why)
{
    char text[CLIENT_REASON_BYTES];

    if (connection->state == CONNECTION_LOST || connection->state == CONNECTION_CLOSING) {
        return;
    }
    connection->state = CONNECTION_LOST;
    (void)uv_timer_stop(&connection->connect_timer);
    (void)uv_read_stop((uv_stream_t *)&connection->socket);
    if (connection->trying >= 0) {
        (void)uv_poll_stop(&connection->try);
    }
    (void)snprintf(text, sizeof(text), "%s %s: %s", what, connection->authority, why);
    client_session_fail(connection->session, CLIENT_CODE_UNAVAILABLE, text);
    connection_wake(connection);
}

/* Handles the peer's end of the connection; reports whether it had sent anything before. */
static void connection_lose_peer(struct tcp_connection *connection, const char *how)
{
    char why[CLIENT_REASON_BYTES];

    (void)snprintf(why, sizeof(why), "%s%s", how,
                   client_session_is_ready(connection->session) ? "" : " before it sent anything");
    connection_lose(connection, "lost the connection to", why);
}

static void on_written(uv_write_t *write, int status)
{
    struct tcp_connection *connection = write->data;

    connection->writing = false;
    if (status != 0) {
        connection_lose_peer(connection, uv_strerror(status));
        return;
    }
    connection_wake(connection);
}

static size_t connection_drain(struct tcp_connection *connection)
{
    return connection->secure != NULL
               ? client_secure_drain(connection->secure, connection->write_bytes, IO_BYTES)
               : client_session_drain(connection->session, connection->write_bytes, IO_BYTES);
}

/* Sends a last alert of TLS, if the socket accepts it: the end of this side, or the error of the peer's. */
static void connection_send_alert(struct tcp_connection *connection)
{
    size_t size = 0;
    uv_buf_t buffer;

    if (connection->secure == NULL || connection->state != CONNECTION_OPEN || connection->writing) {
        return;
    }
    client_secure_end(connection->secure);
    size = connection_drain(connection);
    buffer = uv_buf_init((char *)connection->write_bytes, (unsigned)size);
    if (size > 0) {
        (void)uv_try_write((uv_stream_t *)&connection->socket, &buffer, 1);
    }
}

/* Sends the session's output until the socket accepts no more. Every iteration sends up to a
 * buffer's length, and flow control bounds the output. */
static void connection_flush(struct tcp_connection *connection)
{
    while (connection->state == CONNECTION_OPEN && !connection->writing) {
        size_t size = connection_drain(connection);
        uv_buf_t buffer = uv_buf_init((char *)connection->write_bytes, (unsigned)size);
        int sent = 0;

        if (size == 0) {
            return;
        }
        sent = uv_try_write((uv_stream_t *)&connection->socket, &buffer, 1);
        if (sent < 0 && sent != UV_EAGAIN) {
            connection_lose_peer(connection, uv_strerror(sent));
            return;
        }
        if (sent == (int)size) {
            continue;
        }
        sent = sent < 0 ? 0 : sent;
        buffer =
            uv_buf_init((char *)connection->write_bytes + sent, (unsigned)size - (unsigned)sent);
        connection->write.data = connection;
        connection->writing = true;
        sent = uv_write(&connection->write, (uv_stream_t *)&connection->socket, &buffer, 1,
                        on_written);
        if (sent != 0) {
            connection->writing = false;
            connection_lose_peer(connection, uv_strerror(sent));
        }
    }
}

/* Reports a change of the connection's state once; the listener may close the connection. */
static void connection_report(struct tcp_connection *connection, bool *reported,
                              enum client_connection_state state)
{
    struct slice reason = {NULL, 0};

    if (*reported || connection->state == CONNECTION_CLOSING) {
        return;
    }
    *reported = true;
    if (state == CLIENT_CONNECTION_LOST) {
        reason = client_session_reason(connection->session);
    }
    if (connection->listener.on_state != NULL) {
        connection->listener.on_state(connection->listener.user, &connection->base, state, reason);
    }
}

/* Reports all state changes caused by one read, in order. */
static void connection_report_moves(struct tcp_connection *connection)
{
    if (client_session_is_ready(connection->session)) {
        (void)uv_timer_stop(&connection->connect_timer);
        connection_report(connection, &connection->notified_ready, CLIENT_CONNECTION_READY);
    }
    if (client_session_is_draining(connection->session)) {
        connection_report(connection, &connection->notified_draining, CLIENT_CONNECTION_DRAINING);
    }
    if (connection->state == CONNECTION_LOST) {
        connection_report(connection, &connection->notified_lost, CLIENT_CONNECTION_LOST);
    }
}

/* The session itself may detect that the connection is unusable. */
static void connection_look_for_end(struct tcp_connection *connection)
{
    if (connection->state == CONNECTION_OPEN && client_session_is_over(connection->session)) {
        connection_lose(connection, "lost the connection to",
                        client_session_is_closing(connection->session)
                            ? "the server closed it"
                            : "its bytes are not HTTP/2");
    }
}

/* Abandons a write for which no call waits and that the server does not read. Returns the time
 * until which the write waits; 0: it does not wait. */
static int64_t connection_linger(struct tcp_connection *connection, int64_t now_ms)
{
    if (connection->state != CONNECTION_OPEN || !connection->writing ||
        client_session_calls_under_way(connection->session) > 0) {
        connection->linger_until_ms = 0;
    } else if (connection->linger_until_ms == 0) {
        connection->linger_until_ms = now_ms + LINGER_MS;
    } else if (connection->linger_until_ms <= now_ms) {
        connection->linger_until_ms = 0;
        connection_lose(connection, "gave up the connection to", "the server does not read");
    }
    return connection->linger_until_ms;
}

static void connection_work(struct tcp_connection *connection)
{
    int64_t now_ms = (int64_t)uv_now(connection->loop);
    int64_t due_ms = client_session_tick(connection->session, now_ms);

    (void)uv_check_stop(&connection->work);
    (void)uv_idle_stop(&connection->awake);
    connection_look_for_end(connection);
    connection_report_moves(connection);
    client_session_report(connection->session);
    connection_flush(connection);
    connection_look_for_end(connection);
    connection_set_clock(connection, now_ms, due_ms, connection_linger(connection, now_ms));
    if (client_session_has_news(connection->session)) {
        connection_wake(connection);
    }
    connection_hold_loop(connection);
}

/* --- reading --- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct tcp_connection *connection = handle->data;

    (void)suggested;
    *buffer = uv_buf_init((char *)connection->read_bytes, IO_BYTES);
}

static void connection_take(struct tcp_connection *connection, struct slice bytes)
{
    enum err err = connection->secure != NULL ? client_secure_feed(connection->secure, bytes)
                                              : client_session_feed(connection->session, bytes);

    if (err == ERR_UNAUTHENTICATED) {
        connection_send_alert(connection);
        connection_lose(connection, "cannot connect to", client_secure_reason(connection->secure));
    } else if (err != OK) {
        connection_lose(connection, "gave up the connection to",
                        err == ERR_MALFORMED ? "its bytes are not HTTP/2" : err_text(err));
    }
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct tcp_connection *connection = stream->data;

    if (size == UV_EOF) {
        connection_lose_peer(connection, "the server closed it");
    } else if (size < 0) {
        connection_lose_peer(connection, uv_strerror((int)size));
    } else {
        connection_take(connection, slice_of(buffer->base, (size_t)size));
    }
    if (connection->state != CONNECTION_CLOSING) {
        connection_work(connection);
    }
}

/* --- connecting --- */

static void on_connect_timeout(uv_timer_t *handle);

static void connection_start_timeout(struct tcp_connection *connection)
{
    connection->connect_due_ms = (int64_t)uv_now(connection->loop) + connection->connect_timeout_ms;
    (void)uv_timer_start(&connection->connect_timer, on_connect_timeout,
                         (uint64_t)connection->connect_timeout_ms, 0);
}

static void on_connect_timeout(uv_timer_t *handle)
{
    struct tcp_connection *connection = handle->data;
    int64_t late_ms = (int64_t)uv_now(connection->loop) - connection->connect_due_ms;

    if (late_ms > connection->connect_timeout_ms) {
        /* The program did not run its loop, so the delay is not the server's. */
        connection_start_timeout(connection);
        return;
    }
    connection_lose(connection, "cannot connect to",
                    connection->state == CONNECTION_OPEN
                        ? "the server accepted the connection but sent no HTTP/2 settings"
                        : "no answer within the connect timeout");
}

/* Handles a successful attempt. */
static void connection_connected(struct tcp_connection *connection)
{
    int result = uv_tcp_open(&connection->socket, connection->trying);

    if (result == 0) {
        connection->trying = -1;
        connection->state = CONNECTION_OPEN;
        /* A small call must not wait for the acknowledgement of the previous one. */
        (void)uv_tcp_nodelay(&connection->socket, 1);
        result = uv_read_start((uv_stream_t *)&connection->socket, on_alloc, on_read);
    }
    if (result != 0) {
        connection_lose(connection, "cannot read from", uv_strerror(result));
    }
    connection_wake(connection);
}

static void on_try_closed(uv_handle_t *handle)
{
    struct tcp_connection *connection = handle->data;

    if (connection->state == CONNECTION_CONNECTING && connection->try_result == 0) {
        connection_connected(connection);
    }
    if (connection->trying >= 0) {
        (void)close(connection->trying);
        connection->trying = -1;
    }
    connection_try(connection);
    on_handle_closed(handle);
}

/* Handles the result of an attempt. */
static void on_tried(uv_poll_t *handle, int status, int events)
{
    struct tcp_connection *connection = handle->data;
    int error = 0;
    socklen_t size = sizeof(error);

    (void)events;
    /* libuv calls every failure of a socket EBADF; the socket itself knows which one it was. */
    if (getsockopt(connection->trying, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        error = errno;
    }
    connection->try_result = error != 0 ? uv_translate_sys_error(error) : status;
    uv_close((uv_handle_t *)handle, on_try_closed);
}

/* Starts an attempt. Returns 0, or libuv's error if it failed at once. */
static int connection_begin_try(struct tcp_connection *connection, const struct addrinfo *address)
{
    int trying = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int result = 0;

    if (trying < 0) {
        return uv_translate_sys_error(errno);
    }
    if (connect(trying, address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS &&
        errno != EINTR) {
        result = uv_translate_sys_error(errno);
    } else {
        result = uv_poll_init(connection->loop, &connection->try, trying);
    }
    if (result != 0) {
        (void)close(trying);
        return result;
    }
    connection->trying = trying;
    connection->try.data = connection;
    connection->handles_open++;
    /* Cannot fail for a socket that was just opened. */
    (void)uv_poll_start(&connection->try, UV_WRITABLE, on_tried);
    return 0;
}

/* Tries the next address, unless an attempt is running or none is needed. */
static void connection_try(struct tcp_connection *connection)
{
    while (connection->state == CONNECTION_CONNECTING && connection->trying < 0) {
        const struct addrinfo *address = connection->next_address;

        if (address == NULL || connection->addresses_tried == CLIENT_ADDRESSES_MAX) {
            connection_lose(connection, "cannot connect to", uv_strerror(connection->try_result));
            return;
        }
        connection->next_address = address->ai_next;
        connection->addresses_tried++;
        connection->try_result = connection_begin_try(connection, address);
    }
    connection_hold_loop(connection);
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *addresses)
{
    struct tcp_connection *connection = resolve->data;

    connection->resolving = false;
    connection->addresses = addresses;
    if (connection->state == CONNECTION_CLOSING) {
        connection_free_when_closed(connection);
    } else if (status != 0) {
        connection_lose(connection, "cannot find", uv_strerror(status));
    } else if (connection->state == CONNECTION_RESOLVING) {
        connection->next_address = addresses;
        connection->state = CONNECTION_CONNECTING;
        connection_try(connection);
    }
}

/* Reads the host as a numeric address. Returns false if it is a name. */
static bool connection_read_address(struct tcp_connection *connection)
{
    struct sockaddr_storage *address = &connection->numeric_address;

    if (uv_ip4_addr(connection->host, connection->port, (struct sockaddr_in *)address) == 0) {
        connection->numeric.ai_addrlen = sizeof(struct sockaddr_in);
    } else if (uv_ip6_addr(connection->host, connection->port, (struct sockaddr_in6 *)address) ==
               0) {
        connection->numeric.ai_addrlen = sizeof(struct sockaddr_in6);
    } else {
        return false;
    }
    connection->numeric.ai_family = address->ss_family;
    connection->numeric.ai_addr = (struct sockaddr *)address;
    connection->next_address = &connection->numeric;
    return true;
}

static void connection_resolve(struct tcp_connection *connection)
{
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char port[8];
    int result = 0;

    if (connection_read_address(connection)) {
        connection->state = CONNECTION_CONNECTING;
        connection_try(connection);
        return;
    }
    (void)snprintf(port, sizeof(port), "%u", (unsigned)connection->port);
    connection->resolve.data = connection;
    connection->resolving = true;
    result = uv_getaddrinfo(connection->loop, &connection->resolve, on_resolved, connection->host,
                            port, &hints);
    if (result != 0) {
        connection->resolving = false;
        connection_lose(connection, "cannot find", uv_strerror(result));
    }
}

/* --- operations of calls --- */

static enum err connection_start(struct client_channel *channel, const struct method_info *method,
                                 struct slice request, const struct client_options *options,
                                 const struct client_handlers *handlers,
                                 struct client_call **ret_call)
{
    struct tcp_connection *tcp = tcp_of(channel);
    int64_t timeout_ms = options != NULL ? options->timeout_ms : 0;
    struct client_session_call start = {
        .method = method, .request = request, .options = options, .handlers = handlers};
    enum err err = OK;

    if (tcp->state == CONNECTION_CLOSING) {
        return ERR_UNAVAILABLE;
    }
    if (timeout_ms > 0) {
        uv_update_time(tcp->loop);
        start.deadline_ms = (int64_t)uv_now(tcp->loop) + timeout_ms;
    }
    err = client_session_start(tcp->session, &start, ret_call);
    connection_wake(tcp);
    connection_hold_loop(tcp);
    return err;
}

static void connection_cancel(struct client_channel *channel, struct client_call *call)
{
    struct tcp_connection *tcp = tcp_of(channel);

    client_session_end(tcp->session, call, CLIENT_CODE_CANCELLED, "the call was cancelled");
    connection_wake(tcp);
}

static void connection_pause(struct client_channel *channel, struct client_call *call)
{
    (void)channel;
    client_session_pause(call);
}

static void connection_resume(struct client_channel *channel, struct client_call *call)
{
    client_session_resume(call);
    connection_wake(tcp_of(channel));
}

static enum err connection_send(struct client_channel *channel, struct client_call *call,
                                struct slice message)
{
    struct tcp_connection *tcp = tcp_of(channel);
    enum err err = client_session_send(tcp->session, call, message);

    connection_wake(tcp);
    return err;
}

static enum err connection_half_close(struct client_channel *channel, struct client_call *call)
{
    struct tcp_connection *tcp = tcp_of(channel);
    enum err err = client_session_half_close(tcp->session, call);

    connection_wake(tcp);
    return err;
}

static const struct client_channel_ops tcp_ops = {.start = connection_start,
                                                  .cancel = connection_cancel,
                                                  .pause = connection_pause,
                                                  .resume = connection_resume,
                                                  .send = connection_send,
                                                  .half_close = connection_half_close};

/* --- opening and closing --- */

static enum err connection_make_session(struct tcp_connection *connection,
                                        const struct client_connection_config *config)
{
    const char *agent =
        config->user_agent != NULL ? config->user_agent : "errata-c/" ERRATA_VERSION;
    const struct client_session_config session = {
        .authority = slice_text(connection->authority),
        .secure = config->tls != NULL,
        .token = config->token,
        .user_agent = slice_text(agent),
        .reply_bytes_max =
            config->reply_bytes_max != 0 ? config->reply_bytes_max : CLIENT_MESSAGE_BYTES_MAX,
        .request_bytes_max =
            config->request_bytes_max != 0 ? config->request_bytes_max : CLIENT_MESSAGE_BYTES_MAX,
        .keepalive_ms = config->keepalive_ms,
        .keepalive_timeout_ms = config->keepalive_timeout_ms};

    return client_session_new(&session, &connection->session);
}

static void connection_init_handles(struct tcp_connection *connection)
{
    /* These calls cannot fail on a valid loop: they only link the handle. */
    (void)uv_tcp_init(connection->loop, &connection->socket);
    (void)uv_check_init(connection->loop, &connection->work);
    (void)uv_idle_init(connection->loop, &connection->awake);
    (void)uv_timer_init(connection->loop, &connection->clock);
    (void)uv_timer_init(connection->loop, &connection->connect_timer);
    connection->socket.data = connection;
    connection->work.data = connection;
    connection->awake.data = connection;
    connection->clock.data = connection;
    connection->connect_timer.data = connection;
    connection->handles_open = HANDLE_COUNT;
}

void client_address_format(const char *host, uint16_t port, char *text)
{
    (void)snprintf(text, CLIENT_ADDRESS_BYTES, strchr(host, ':') != NULL ? "[%s]:%u" : "%s:%u",
                   host, (unsigned)port);
}

enum err client_connection_check(const struct client_connection_config *config)
{
    size_t host_bytes = config->host != NULL ? strlen(config->host) : 0;

    return host_bytes == 0 || host_bytes > CLIENT_HOST_BYTES_MAX || config->port == 0 ? ERR_INVALID
                                                                                      : OK;
}

enum err client_connection_open(struct uv_loop_s *loop,
                                const struct client_connection_config *config,
                                struct client_channel **ret_channel)
{
    struct tcp_connection *connection = NULL;
    enum err err = client_connection_check(config);

    if (err != OK) {
        return err;
    }
    connection = calloc(1, sizeof(*connection));
    if (connection == NULL) {
        return ERR_MEMORY;
    }
    connection->base.ops = &tcp_ops;
    connection->loop = loop;
    connection->port = config->port;
    connection->trying = -1;
    connection->connect_timeout_ms =
        config->connect_timeout_ms > 0 ? config->connect_timeout_ms : CLIENT_CONNECT_TIMEOUT_MS;
    memcpy(connection->host, config->host, strlen(config->host) + 1);
    client_address_format(connection->host, connection->port, connection->authority);
    err = connection_make_session(connection, config);
    if (err == OK && config->tls != NULL) {
        err =
            client_secure_new(config->tls, config->host, connection->session, &connection->secure);
    }
    if (err != OK) {
        client_session_free(connection->session);
        free(connection);
        return err;
    }
    connection->listener = config->listener;
    connection_init_handles(connection);
    connection_hold_loop(connection);
    uv_update_time(loop);
    connection_start_timeout(connection);
    connection_resolve(connection);
    *ret_channel = &connection->base;
    return OK;
}

static void connection_free_when_closed(struct tcp_connection *connection)
{
    if (connection->handles_open > 0 || connection->resolving) {
        return;
    }
    client_secure_free(connection->secure);
    client_session_free(connection->session);
    uv_freeaddrinfo(connection->addresses);
    if (connection->on_closed != NULL) {
        connection->on_closed(connection->on_closed_user);
    }
    free(connection);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct tcp_connection *connection = handle->data;

    connection->handles_open--;
    if (connection->state != CONNECTION_CLOSING) {
        return;
    }
    /* Ends the calls immediately: a pending name lookup must not delay them. */
    client_session_report(connection->session);
    connection_free_when_closed(connection);
}

void client_connection_close(struct client_channel *take_channel, void (*on_closed)(void *user),
                             void *user)
{
    struct tcp_connection *connection = tcp_of(take_channel);

    ASSERT(connection->state != CONNECTION_CLOSING);
    connection_send_alert(connection);
    connection->state = CONNECTION_CLOSING;
    connection->on_closed = on_closed;
    connection->on_closed_user = user;
    client_session_end_all(connection->session, CLIENT_CODE_CANCELLED, "the connection was closed");
    client_session_fail(connection->session, CLIENT_CODE_CANCELLED, "the connection was closed");
    if (connection->resolving) {
        (void)uv_cancel((uv_req_t *)&connection->resolve);
    }
    if (connection->trying >= 0 && !uv_is_closing((uv_handle_t *)&connection->try)) {
        uv_close((uv_handle_t *)&connection->try, on_try_closed);
    }
    uv_close((uv_handle_t *)&connection->socket, on_handle_closed);
    uv_close((uv_handle_t *)&connection->work, on_handle_closed);
    uv_close((uv_handle_t *)&connection->awake, on_handle_closed);
    uv_close((uv_handle_t *)&connection->clock, on_handle_closed);
    uv_close((uv_handle_t *)&connection->connect_timer, on_handle_closed);
}

/* --- operations of users --- */

enum err client_connection_set_token(struct client_channel *channel, struct slice token)
{
    return client_session_set_token(tcp_of(channel)->session, token);
}

bool client_connection_is_closing(const struct client_channel *channel)
{
    return client_session_is_closing(((const struct tcp_connection *)channel)->session);
}
