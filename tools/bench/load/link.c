/*
 * link.c: see link.h.
 */
#include "tools/bench/load/link.h"

#include "server/tls/stream/tls_context.h"
#include "server/tls/stream/tls_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Maximum plain bytes that are encrypted at once; with the overhead of TLS records they fit. */
#define PLAIN_OUT_BYTES (LINK_OUT_BYTES - 4 * TLS_OVERHEAD_BYTES_MAX)

_Static_assert(PLAIN_OUT_BYTES / TLS_RECORD_BYTES_MAX < 4, "room for what each record adds");

enum err link_room_init(struct link_room *room, struct run *run, const struct tls_context *tls)
{
    room->run = run;
    room->in = malloc(LINK_IN_BYTES);
    room->plain = tls != NULL ? malloc(TLS_RECORD_BYTES_MAX) : NULL;
    return room->in == NULL || (tls != NULL && room->plain == NULL) ? ERR_MEMORY : OK;
}

void link_room_deinit(struct link_room *room)
{
    free(room->in);
    free(room->plain);
}

static struct connection *connection_of(struct link *link)
{
    return link->room->run->connections[link->index];
}

static void lose(struct link *link, const char *why, uint64_t now_ns)
{
    run_lose(link->room->run, link->index, why, now_ns);
}

static void lose_tls(struct link *link, const char *why, uint64_t now_ns)
{
    char problem[TLS_REASON_BYTES + 8];

    (void)snprintf(problem, sizeof(problem), "TLS: %s", why);
    lose(link, problem, now_ns);
}

/* --- opening --- */

enum err link_open(struct link *link, int take_fd, struct tls_context *tls, const char *host,
                   struct fault *fault)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = link->index};

    link->fd = take_fd;
    link->shaken = tls == NULL;
    if (tls != NULL) {
        link->rest.bytes = malloc(LINK_OUT_BYTES);
        if (link->rest.bytes == NULL || tls_stream_new(tls, host, &link->stream) != OK) {
            return ERR_MEMORY;
        }
        if (tls_stream_shake(link->stream) == TLS_STEP_FAILED) {
            return fault_say(fault, ERR_UNAVAILABLE, "TLS: %s", tls_stream_reason(link->stream));
        }
    }
    if (epoll_ctl(link->room->epoll, EPOLL_CTL_ADD, link->fd, &event) != 0) {
        return fault_say(fault, ERR_UNAVAILABLE, "epoll: %s", strerror(errno));
    }
    return OK;
}

void link_close(struct link *link)
{
    if (link->fd >= 0) {
        (void)close(link->fd);
    }
    tls_stream_free(link->stream);
    free(link->rest.bytes);
    *link = (struct link){.fd = -1};
}

/* --- sending --- */

/* Output of the connection; a larger body continues once there is room. */
static struct slice plain_output(struct link *link, uint64_t now_ns)
{
    struct connection *connection = connection_of(link);
    struct slice output = connection_output(connection);

    if (output.size == 0 && connection_has_unsent(connection)) {
        run_advance(link->room->run, link->index, now_ns);
        output = connection_output(connection);
    }
    return output;
}

/* Encrypts the next output, if all earlier output was sent. */
static struct slice secure_output(struct link *link, uint64_t now_ns)
{
    struct link_rest *rest = &link->rest;
    struct slice plain = {NULL, 0};

    if (rest->from == rest->to) {
        rest->from = 0;
        rest->to = tls_stream_drain(link->stream, rest->bytes, LINK_OUT_BYTES);
    }
    if (rest->from == rest->to && link->shaken) {
        plain = plain_output(link, now_ns);
        plain.size = plain.size < PLAIN_OUT_BYTES ? plain.size : PLAIN_OUT_BYTES;
        rest->to = tls_stream_write(link->stream, plain, rest->bytes, LINK_OUT_BYTES);
        connection_sent(connection_of(link), plain.size);
    }
    return slice_of(rest->bytes + rest->from, rest->to - rest->from);
}

static struct slice next_output(struct link *link, uint64_t now_ns)
{
    return link->stream != NULL ? secure_output(link, now_ns) : plain_output(link, now_ns);
}

static void note_sent(struct link *link, size_t size)
{
    if (link->stream != NULL) {
        link->rest.from += size;
    } else {
        connection_sent(connection_of(link), size);
    }
}

static void watch(struct link *link, bool out)
{
    struct epoll_event event = {.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.u64 = link->index};

    if (epoll_ctl(link->room->epoll, EPOLL_CTL_MOD, link->fd, &event) == 0) {
        link->wants_out = out;
    }
}

void link_flush(struct link *link, uint64_t now_ns)
{
    struct slice output = next_output(link, now_ns);

    while (output.size > 0) {
        ssize_t sent = send(link->fd, output.data, output.size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            lose(link, strerror(errno), now_ns);
            return;
        }
        if (sent < 0 && errno == EAGAIN) {
            break;
        }
        note_sent(link, sent > 0 ? (size_t)sent : 0);
        output = next_output(link, now_ns);
    }
    if ((output.size > 0) != link->wants_out) {
        watch(link, output.size > 0);
    }
}

/* --- receiving --- */

/* Returns false if the connection is lost. */
static bool shake(struct link *link, uint64_t now_ns)
{
    switch (tls_stream_shake(link->stream)) {
    case TLS_STEP_DONE:
        link->shaken = true;
        if (slice_equal(tls_stream_protocol(link->stream), SLICE("h2"))) {
            return true;
        }
        lose_tls(link, "the server does not offer HTTP/2", now_ns);
        return false;
    case TLS_STEP_MORE:
        return true;
    case TLS_STEP_ENDED:
        lose_tls(link, "the server ended the handshake", now_ns);
        return false;
    case TLS_STEP_FAILED:
        break;
    }
    lose_tls(link, tls_stream_reason(link->stream), now_ns);
    return false;
}

/* Decrypts a record. Returns false if the connection is lost. */
static bool read_record(struct link *link, uint64_t now_ns)
{
    uint8_t *plain = link->room->plain;
    size_t size = 0;

    switch (tls_stream_peek(link->stream, plain, TLS_RECORD_BYTES_MAX, &size)) {
    case TLS_STEP_DONE:
        run_feed(link->room->run, link->index, slice_of(plain, size), now_ns);
        tls_stream_take(link->stream, plain, size);
        return true;
    case TLS_STEP_MORE:
    case TLS_STEP_ENDED: /* the socket ends, too */
        return true;
    case TLS_STEP_FAILED:
        break;
    }
    lose_tls(link, tls_stream_reason(link->stream), now_ns);
    return false;
}

static void feed(struct link *link, struct slice bytes, uint64_t now_ns)
{
    bool going = true;

    if (link->stream == NULL) {
        run_feed(link->room->run, link->index, bytes, now_ns);
        return;
    }
    while (going && bytes.size > 0) {
        bytes = slice_after(bytes, tls_stream_lend(link->stream, bytes));
        going = link->shaken ? read_record(link, now_ns) : shake(link, now_ns);
    }
}

void link_receive(struct link *link, uint64_t now_ns)
{
    ssize_t size = recv(link->fd, link->room->in, LINK_IN_BYTES, 0);
    const char *said = connection_problem(connection_of(link));

    if (size > 0) {
        feed(link, slice_of(link->room->in, (size_t)size), now_ns);
    } else if (size < 0 && errno != EAGAIN && errno != EINTR) {
        lose(link, strerror(errno), now_ns);
    } else if (size == 0) {
        lose(link, said[0] != '\0' ? said : "the server closed the connection", now_ns);
    }
}
