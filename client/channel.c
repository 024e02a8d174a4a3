/*
 * channel.c: see channel.h. Moves bytes between a session and a TCP handle, finds addresses, and
 * keeps deadlines. What happens is noted at once and worked off at one place, channel_work, once a
 * turn or at the end of a read: so writes are gathered and no callback runs inside the call that
 * caused it.
 */
#include "client/channel.h"

#include "client/header.h"
#include "client/session.h"
#include "store/base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* One read, and one gathered write. */
#define IO_BYTES ((size_t)64 * 1024)
/* Handles of a channel: the socket, the turn's work, deadlines, the connect timeout. */
#define HANDLE_COUNT 4

enum channel_state {
    CHANNEL_RESOLVING, /* the name is being looked up, or the next address is to be tried */
    CHANNEL_CONNECTING,
    CHANNEL_OPEN,
    CHANNEL_LOST, /* the session has failed; only close is left */
    CHANNEL_CLOSING
};

struct tcp_channel {
    struct client_channel channel; /* first: what users see */
    enum channel_state state;
    uv_loop_t *loop;
    struct client_session *session; /* owned */
    char host[CLIENT_HOST_BYTES_MAX + 1];
    char authority[CLIENT_HOST_BYTES_MAX + 16];
    uint16_t port;
    int64_t connect_timeout_ms;
    uv_getaddrinfo_t resolve;
    struct addrinfo *addresses; /* owned; what getaddrinfo gave */
    const struct addrinfo *next_address; /* to try; borrowed from `addresses` */
    unsigned addresses_tried;
    bool resolving; /* `resolve` is pending */
    bool socket_closing; /* the socket of a failed try is being closed */
    uv_tcp_t socket;
    uv_connect_t connect;
    uv_write_t write;
    bool writing; /* `write` is pending; it owns `write_bytes` */
    uv_idle_t work; /* active while there is something for channel_work */
    uv_timer_t deadlines;
    uv_timer_t connect_timer;
    unsigned handles_open;
    void (*on_closed)(void *user);
    void *on_closed_user;
    uint8_t read_bytes[IO_BYTES];
    uint8_t write_bytes[IO_BYTES];
};

static void channel_work(struct tcp_channel *channel);
static void channel_try_next(struct tcp_channel *channel);
static void channel_free_when_closed(struct tcp_channel *channel);
static void on_handle_closed(uv_handle_t *handle);

static struct tcp_channel *tcp_of(struct client_channel *channel)
{
    return (struct tcp_channel *)channel;
}

/* --- the turn's work --- */

static void on_work(uv_idle_t *handle)
{
    channel_work(handle->data);
}

/* Asks for channel_work in the next turn; an idle handle keeps the loop from waiting. */
static void channel_wake(struct tcp_channel *channel)
{
    if (channel->state != CHANNEL_CLOSING) {
        (void)uv_idle_start(&channel->work, on_work);
    }
}

static void on_deadline(uv_timer_t *handle)
{
    channel_work(handle->data);
}

static void channel_keep_deadlines(struct tcp_channel *channel)
{
    int64_t now_ms = (int64_t)uv_now(channel->loop);
    int64_t earliest_ms = client_session_expire(channel->session, now_ms);

    if (channel->state == CHANNEL_CLOSING) {
        return;
    }
    if (earliest_ms == 0) {
        (void)uv_timer_stop(&channel->deadlines);
    } else {
        (void)uv_timer_start(&channel->deadlines, on_deadline, (uint64_t)(earliest_ms - now_ms), 0);
    }
}

static void channel_lose(struct tcp_channel *channel, const char *what, const char *why)
{
    char text[CLIENT_REASON_BYTES];

    if (channel->state == CHANNEL_LOST || channel->state == CHANNEL_CLOSING) {
        return;
    }
    channel->state = CHANNEL_LOST;
    (void)uv_timer_stop(&channel->connect_timer);
    if (!channel->socket_closing) {
        (void)uv_read_stop((uv_stream_t *)&channel->socket);
    }
    (void)snprintf(text, sizeof(text), "%s %s: %s", what, channel->authority, why);
    client_session_fail(channel->session, CLIENT_CODE_UNAVAILABLE, text);
    channel_wake(channel);
}

static void on_written(uv_write_t *write, int status)
{
    struct tcp_channel *channel = write->data;

    channel->writing = false;
    if (status != 0) {
        channel_lose(channel, "lost the connection to", uv_strerror(status));
        return;
    }
    channel_wake(channel);
}

/* Sends what the session has, until the socket takes no more. Every turn of the loop empties the
 * session by a buffer's length, and flow control bounds what it has. */
static void channel_flush(struct tcp_channel *channel)
{
    while (channel->state == CHANNEL_OPEN && !channel->writing) {
        size_t size = client_session_drain(channel->session, channel->write_bytes, IO_BYTES);
        uv_buf_t buffer = uv_buf_init((char *)channel->write_bytes, (unsigned)size);
        int sent = 0;

        if (size == 0) {
            return;
        }
        sent = uv_try_write((uv_stream_t *)&channel->socket, &buffer, 1);
        if (sent < 0 && sent != UV_EAGAIN) {
            channel_lose(channel, "lost the connection to", uv_strerror(sent));
            return;
        }
        if (sent == (int)size) {
            continue;
        }
        sent = sent < 0 ? 0 : sent;
        buffer = uv_buf_init((char *)channel->write_bytes + sent, (unsigned)size - (unsigned)sent);
        channel->write.data = channel;
        channel->writing = true;
        sent = uv_write(&channel->write, (uv_stream_t *)&channel->socket, &buffer, 1, on_written);
        if (sent != 0) {
            channel->writing = false;
            channel_lose(channel, "lost the connection to", uv_strerror(sent));
        }
    }
}

static void channel_work(struct tcp_channel *channel)
{
    (void)uv_idle_stop(&channel->work);
    channel_keep_deadlines(channel);
    client_session_report(channel->session);
    channel_flush(channel);
    if (channel->state == CHANNEL_OPEN && client_session_is_over(channel->session)) {
        channel_lose(channel, "lost the connection to",
                     client_session_is_closing(channel->session) ? "the server closed it"
                                                                 : "what it speaks is not HTTP/2");
    }
    if (client_session_has_news(channel->session)) {
        channel_wake(channel);
    }
}

/* --- reading --- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct tcp_channel *channel = handle->data;

    (void)suggested;
    *buffer = uv_buf_init((char *)channel->read_bytes, IO_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct tcp_channel *channel = stream->data;
    enum err err = OK;

    if (size == UV_EOF) {
        channel_lose(channel, "lost the connection to", "the server closed it");
    } else if (size < 0) {
        channel_lose(channel, "lost the connection to", uv_strerror((int)size));
    } else {
        err = client_session_feed(channel->session, slice_of(buffer->base, (size_t)size));
        if (err != OK) {
            channel_lose(channel, "gave up the connection to",
                         err == ERR_MALFORMED ? "what it speaks is not HTTP/2" : err_text(err));
        }
    }
    if (channel->state != CHANNEL_CLOSING) {
        channel_work(channel);
    }
}

/* --- connecting --- */

static void on_connect_timeout(uv_timer_t *handle)
{
    channel_lose(handle->data, "cannot connect to", "nobody answered in time");
}

static void channel_connected(struct tcp_channel *channel)
{
    int result = 0;

    channel->state = CHANNEL_OPEN;
    (void)uv_timer_stop(&channel->connect_timer);
    /* A small call must not wait for the acknowledgement of the one before. */
    (void)uv_tcp_nodelay(&channel->socket, 1);
    result = uv_read_start((uv_stream_t *)&channel->socket, on_alloc, on_read);
    if (result != 0) {
        channel_lose(channel, "cannot read from", uv_strerror(result));
        return;
    }
    channel_wake(channel);
}

/* The socket of a failed try is gone: a fresh one for the next address. */
static void on_socket_retired(uv_handle_t *handle)
{
    struct tcp_channel *channel = handle->data;

    if (channel->state == CHANNEL_CLOSING) {
        on_handle_closed(handle);
        return;
    }
    channel->socket_closing = false;
    (void)uv_tcp_init(channel->loop, &channel->socket);
    channel->socket.data = channel;
    if (channel->state == CHANNEL_RESOLVING) {
        channel_try_next(channel);
    }
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct tcp_channel *channel = connect->data;

    if (channel->state != CHANNEL_CONNECTING) {
        return;
    }
    if (status == 0) {
        channel_connected(channel);
    } else if (channel->next_address == NULL || channel->addresses_tried == CLIENT_ADDRESSES_MAX) {
        channel_lose(channel, "cannot connect to", uv_strerror(status));
    } else {
        channel->state = CHANNEL_RESOLVING;
        channel->socket_closing = true;
        uv_close((uv_handle_t *)&channel->socket, on_socket_retired);
    }
}

static void channel_connect(struct tcp_channel *channel, const struct sockaddr *address)
{
    int result = 0;

    channel->state = CHANNEL_CONNECTING;
    channel->addresses_tried++;
    channel->connect.data = channel;
    result = uv_tcp_connect(&channel->connect, &channel->socket, address, on_connect);
    if (result != 0) {
        on_connect(&channel->connect, result);
    }
}

static void channel_try_next(struct tcp_channel *channel)
{
    const struct addrinfo *address = channel->next_address;

    channel->next_address = address->ai_next;
    channel_connect(channel, address->ai_addr);
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *addresses)
{
    struct tcp_channel *channel = resolve->data;

    channel->resolving = false;
    channel->addresses = addresses;
    if (channel->state == CHANNEL_CLOSING) {
        channel_free_when_closed(channel);
    } else if (status != 0) {
        channel_lose(channel, "cannot find", uv_strerror(status));
    } else if (channel->state == CHANNEL_RESOLVING) {
        channel->next_address = addresses;
        channel_try_next(channel);
    }
}

static void channel_resolve(struct tcp_channel *channel)
{
    static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct sockaddr_storage address;
    char port[8];
    int result = 0;

    if (uv_ip4_addr(channel->host, channel->port, (struct sockaddr_in *)&address) == 0 ||
        uv_ip6_addr(channel->host, channel->port, (struct sockaddr_in6 *)&address) == 0) {
        channel_connect(channel, (const struct sockaddr *)&address);
        return;
    }
    (void)snprintf(port, sizeof(port), "%u", (unsigned)channel->port);
    channel->resolve.data = channel;
    channel->resolving = true;
    result =
        uv_getaddrinfo(channel->loop, &channel->resolve, on_resolved, channel->host, port, &hints);
    if (result != 0) {
        channel->resolving = false;
        channel_lose(channel, "cannot find", uv_strerror(result));
    }
}

/* --- opening and closing --- */

static const struct client_channel_ops tcp_ops = {.start = client_channel_start,
                                                  .cancel = client_channel_cancel,
                                                  .pause = client_channel_pause,
                                                  .resume = client_channel_resume,
                                                  .send = client_channel_send,
                                                  .half_close = client_channel_half_close};

static enum err channel_make_session(struct tcp_channel *channel,
                                     const struct client_channel_config *config)
{
    const char *agent =
        config->user_agent != NULL ? config->user_agent : "errata-c/" ERRATA_VERSION;
    const struct client_session_config session = {
        .authority = slice_text(channel->authority),
        .token = config->token,
        .user_agent = slice_text(agent),
        .reply_bytes_max =
            config->reply_bytes_max != 0 ? config->reply_bytes_max : CLIENT_MESSAGE_BYTES_MAX,
        .request_bytes_max =
            config->request_bytes_max != 0 ? config->request_bytes_max : CLIENT_MESSAGE_BYTES_MAX};

    return client_session_new(&session, &channel->session);
}

static void channel_init_handles(struct tcp_channel *channel)
{
    /* None of these fails for a loop that works: they only link the handle in. */
    (void)uv_tcp_init(channel->loop, &channel->socket);
    (void)uv_idle_init(channel->loop, &channel->work);
    (void)uv_timer_init(channel->loop, &channel->deadlines);
    (void)uv_timer_init(channel->loop, &channel->connect_timer);
    channel->socket.data = channel;
    channel->work.data = channel;
    channel->deadlines.data = channel;
    channel->connect_timer.data = channel;
    channel->handles_open = HANDLE_COUNT;
}

enum err client_channel_open(struct uv_loop_s *loop, const struct client_channel_config *config,
                             struct client_channel **ret_channel)
{
    size_t host_bytes = config->host != NULL ? strlen(config->host) : 0;
    struct tcp_channel *channel = NULL;
    enum err err = OK;

    if (host_bytes == 0 || host_bytes > CLIENT_HOST_BYTES_MAX || config->port == 0) {
        return ERR_INVALID;
    }
    channel = calloc(1, sizeof(*channel));
    if (channel == NULL) {
        return ERR_MEMORY;
    }
    channel->channel.ops = &tcp_ops;
    channel->loop = loop;
    channel->port = config->port;
    channel->connect_timeout_ms =
        config->connect_timeout_ms > 0 ? config->connect_timeout_ms : CLIENT_CONNECT_TIMEOUT_MS;
    memcpy(channel->host, config->host, host_bytes + 1);
    (void)snprintf(channel->authority, sizeof(channel->authority),
                   strchr(channel->host, ':') != NULL ? "[%s]:%u" : "%s:%u", channel->host,
                   (unsigned)channel->port);
    err = channel_make_session(channel, config);
    if (err != OK) {
        free(channel);
        return err;
    }
    channel_init_handles(channel);
    uv_update_time(loop);
    (void)uv_timer_start(&channel->connect_timer, on_connect_timeout,
                         (uint64_t)channel->connect_timeout_ms, 0);
    channel_resolve(channel);
    *ret_channel = &channel->channel;
    return OK;
}

static void channel_free_when_closed(struct tcp_channel *channel)
{
    if (channel->handles_open > 0 || channel->resolving) {
        return;
    }
    client_session_report(channel->session);
    client_session_free(channel->session);
    uv_freeaddrinfo(channel->addresses);
    if (channel->on_closed != NULL) {
        channel->on_closed(channel->on_closed_user);
    }
    free(channel);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct tcp_channel *channel = handle->data;

    channel->handles_open--;
    channel_free_when_closed(channel);
}

void client_channel_close(struct client_channel *take_channel, void (*on_closed)(void *user),
                          void *user)
{
    struct tcp_channel *channel = tcp_of(take_channel);

    ASSERT(channel->state != CHANNEL_CLOSING);
    channel->state = CHANNEL_CLOSING;
    channel->on_closed = on_closed;
    channel->on_closed_user = user;
    client_session_end_all(channel->session, CLIENT_CODE_CANCELLED, "the channel was closed");
    client_session_fail(channel->session, CLIENT_CODE_CANCELLED, "the channel was closed");
    if (channel->resolving) {
        (void)uv_cancel((uv_req_t *)&channel->resolve);
    }
    if (!channel->socket_closing) { /* else on_socket_retired follows */
        uv_close((uv_handle_t *)&channel->socket, on_handle_closed);
    }
    uv_close((uv_handle_t *)&channel->work, on_handle_closed);
    uv_close((uv_handle_t *)&channel->deadlines, on_handle_closed);
    uv_close((uv_handle_t *)&channel->connect_timer, on_handle_closed);
}

/* --- what users do --- */

bool client_channel_is_closing(const struct client_channel *channel)
{
    return client_session_is_closing(((const struct tcp_channel *)channel)->session);
}

enum err client_channel_start(struct client_channel *channel, const struct method_info *method,
                              struct slice request, const struct client_options *options,
                              const struct client_handlers *handlers, struct client_call **ret_call)
{
    struct tcp_channel *tcp = tcp_of(channel);
    int64_t timeout_ms = options != NULL ? options->timeout_ms : 0;
    struct client_session_call start = {
        .method = method, .request = request, .options = options, .handlers = handlers};
    enum err err = OK;

    if (tcp->state == CHANNEL_CLOSING) {
        return ERR_UNAVAILABLE;
    }
    if (timeout_ms > 0) {
        uv_update_time(tcp->loop);
        start.deadline_ms = (int64_t)uv_now(tcp->loop) + timeout_ms;
    }
    err = client_session_start(tcp->session, &start, ret_call);
    channel_wake(tcp);
    return err;
}

void client_channel_cancel(struct client_channel *channel, struct client_call *call)
{
    struct tcp_channel *tcp = tcp_of(channel);

    client_session_end(tcp->session, call, CLIENT_CODE_CANCELLED, "the call was cancelled");
    channel_wake(tcp);
}

void client_channel_pause(struct client_channel *channel, struct client_call *call)
{
    (void)channel;
    client_session_pause(call);
}

void client_channel_resume(struct client_channel *channel, struct client_call *call)
{
    client_session_resume(call);
    channel_wake(tcp_of(channel));
}

enum err client_channel_send(struct client_channel *channel, struct client_call *call,
                             struct slice message)
{
    struct tcp_channel *tcp = tcp_of(channel);
    enum err err = client_session_send(tcp->session, call, message);

    channel_wake(tcp);
    return err;
}

enum err client_channel_half_close(struct client_channel *channel, struct client_call *call)
{
    struct tcp_channel *tcp = tcp_of(channel);
    enum err err = client_session_half_close(tcp->session, call);

    channel_wake(tcp);
    return err;
}
