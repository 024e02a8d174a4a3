/*
 * engine.c: connections of an attack: made, kept busy, noted when the server ends them, and made
 * again. One thread, one epoll; nothing waits for anything.
 */
#include "tests/attack/attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 512
#define READ_BYTES ((size_t)128 * 1024)
/* Maximum connections that are being made at once. */
#define CONNECTING_MAX 256
#define WAIT_MS 5

static int64_t clock_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool wants_to_write(const struct peer *peer)
{
    const struct attack_kind *kind = peer->attack->kind;
    size_t end = (kind->flags & KIND_DRIPS) != 0 ? peer->drip_from : peer->out.size;

    if (peer->state == PEER_CONNECTING || peer->sent < end) {
        return true;
    }
    return kind->more != NULL && !peer->finished && kind->pause_ms == 0 && peer->attack->rate == 0;
}

static void watch(struct peer *peer, int operation)
{
    struct epoll_event event = {.data.ptr = peer};

    event.events = (peer->attack->kind->flags & KIND_DEAF) != 0 ? EPOLLRDHUP : EPOLLIN;
    if (wants_to_write(peer)) {
        event.events |= EPOLLOUT;
    }
    (void)epoll_ctl(peer->attack->epoll_fd, operation, peer->fd, &event);
}

/* Releases the socket. */
static void drop(struct peer *peer)
{
    struct attack *attack = peer->attack;

    if (peer->state == PEER_CONNECTING) {
        attack->connecting--;
    } else if (peer->state == PEER_OPEN) {
        attack->live--;
    }
    (void)close(peer->fd);
    peer->fd = -1;
    peer->state = PEER_NONE;
}

/* Called when the server has closed the connection or sent GOAWAY: counts it, and reconnects if the kind does. */
static void sent_away(struct peer *peer)
{
    struct attack *attack = peer->attack;
    int64_t after_us = attack->now_us - peer->opened_us;

    attack->counts.closed++;
    if (peer->head_bytes == 0 && peer->payload_bytes == 0 && !peer->reported) {
        attack->counts.closed_unanswered++;
    }
    if (after_us > attack->counts.closed_after_us_max) {
        attack->counts.closed_after_us_max = after_us;
    }
    drop(peer);
    if (attack->until_reported || (attack->kind->flags & KIND_STAYS) != 0) {
        peer->ended = true;
        attack->ended++;
    }
}

static void connect_peer(struct peer *peer)
{
    struct attack *attack = peer->attack;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(attack->port)};
    struct sockaddr_in from = {.sin_family = AF_INET};
    int one = 1;

    peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (peer->fd < 0) {
        attack->counts.connects_failed++;
        return;
    }
    (void)setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (attack->from != NULL && inet_pton(AF_INET, attack->from, &from.sin_addr) == 1) {
        uint32_t number = (uint32_t)(peer - attack->peers) % attack->addresses;

        from.sin_addr.s_addr = htonl(ntohl(from.sin_addr.s_addr) + number);
        (void)bind(peer->fd, (struct sockaddr *)&from, sizeof(from));
    }
    (void)inet_pton(AF_INET, attack->host, &to.sin_addr);
    if (connect(peer->fd, (struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS) {
        attack->counts.connects_failed++;
        (void)close(peer->fd);
        peer->fd = -1;
        return;
    }
    peer->state = PEER_CONNECTING;
    attack->connecting++;
    peer->out.size = 0;
    peer->sent = 0;
    peer->drip_from = 0;
    peer->head_bytes = 0;
    peer->payload_bytes = 0;
    peer->next_stream = 1;
    peer->frames = 0;
    peer->step = 0;
    peer->primed = false;
    peer->finished = false;
    peer->leaves = false;
    peer->reported = false;
    watch(peer, EPOLL_CTL_ADD);
}

/* Requests pieces from the kind, as fast as rate and buffer permit. */
static void fill(struct peer *peer)
{
    struct attack *attack = peer->attack;
    const struct attack_kind *kind = attack->kind;
    uint64_t allowed = UINT64_MAX;

    if (kind->more == NULL || peer->reported) {
        return;
    }
    if (kind->pause_ms > 0) {
        allowed = attack->now_us >= peer->due_us ? 1 : 0;
    } else if (attack->rate > 0) {
        uint64_t due = (uint64_t)(attack->now_us - attack->started_us) * attack->rate / 1000000;

        allowed = due > attack->pieces ? (due - attack->pieces) / attack->connections + 1 : 0;
    }
    while (allowed-- > 0 && !peer->finished && peer->out.size - peer->sent < ATTACK_OUT_BYTES) {
        kind->more(peer);
        attack->pieces++;
        peer->due_us = attack->now_us + (int64_t)kind->pause_ms * 1000;
    }
}

static void send_out(struct peer *peer)
{
    struct attack *attack = peer->attack;
    size_t end = peer->out.size;

    if ((attack->kind->flags & KIND_DRIPS) != 0 && end > peer->drip_from) {
        end = peer->drip_from;
        if (attack->now_us >= peer->due_us && end < peer->out.size) {
            peer->drip_from = ++end;
            peer->due_us = attack->now_us + (int64_t)attack->kind->pause_ms * 1000;
        }
    }
    while (peer->sent < end) {
        ssize_t size = send(peer->fd, peer->out.data + peer->sent, end - peer->sent, MSG_NOSIGNAL);

        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (size < 0) {
            sent_away(peer);
            return;
        }
        peer->sent += (size_t)size;
        attack->counts.bytes_sent += (uint64_t)size;
    }
    if (peer->sent == peer->out.size) {
        peer->sent = 0;
        peer->out.size = 0;
        peer->drip_from = 0;
        if (peer->leaves) {
            drop(peer);
        }
    }
}

/* Processes the server's output. False if the connection is closed. */
static bool read_in(struct peer *peer)
{
    uint8_t buffer[READ_BYTES];
    ssize_t size = recv(peer->fd, buffer, sizeof(buffer), 0);

    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (size > 0) {
        peer->attack->counts.bytes_received += (uint64_t)size;
        peer_read_frames(peer, slice_of(buffer, (size_t)size));
    }
    if (size <= 0 || peer->reported) {
        sent_away(peer);
        return false;
    }
    return true;
}

static void begin(struct peer *peer)
{
    struct attack *attack = peer->attack;

    peer->state = PEER_OPEN;
    peer->opened_us = attack->now_us;
    peer->due_us = attack->now_us;
    attack->connecting--;
    attack->live++;
    attack->counts.connects++;
    if (attack->live > attack->counts.live_max) {
        attack->counts.live_max = attack->live;
    }
    if (attack->kind->begin != NULL) {
        attack->kind->begin(peer);
    }
    if ((attack->kind->flags & KIND_DRIPS) == 0) {
        peer->drip_from = peer->out.size;
    }
}

static void on_event(struct peer *peer, uint32_t events)
{
    struct attack *attack = peer->attack;

    if (peer->state == PEER_CONNECTING) {
        int error = 0;
        socklen_t size = sizeof(error);

        (void)getsockopt(peer->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
            attack->counts.connects_failed++;
            drop(peer);
            return;
        }
        begin(peer);
    } else if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0 && !read_in(peer)) {
        return;
    }
    fill(peer);
    send_out(peer);
    if (peer->fd >= 0) {
        watch(peer, EPOLL_CTL_MOD);
    }
}

/* Makes connections that are missing, and gives those with pauses their turn. */
static void visit(struct attack *attack)
{
    bool paced = attack->kind->pause_ms > 0 || attack->rate > 0;

    for (uint32_t i = 0; i < attack->connections; i++) {
        struct peer *peer = &attack->peers[i];

        if (peer->state == PEER_NONE && !peer->ended && attack->connecting < CONNECTING_MAX) {
            connect_peer(peer);
        } else if (paced && peer->state == PEER_OPEN) {
            fill(peer);
            send_out(peer);
            if (peer->fd >= 0) {
                watch(peer, EPOLL_CTL_MOD);
            }
        }
    }
}

static void close_all(struct attack *attack)
{
    attack->counts.live_at_end = attack->live;
    for (uint32_t i = 0; i < attack->connections; i++) {
        if (attack->peers[i].fd >= 0) {
            drop(&attack->peers[i]);
        }
    }
    (void)close(attack->epoll_fd);
}

bool attack_run(struct attack *attack)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t visited_us = 0;

    attack->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    attack->started_us = clock_us();
    attack->now_us = attack->started_us;
    while (attack->now_us - attack->started_us < attack->seconds * 1000000 &&
           attack->ended < attack->connections) {
        int count = 0;

        if (attack->now_us - visited_us >= WAIT_MS * 1000 ||
            attack->live + attack->connecting + attack->ended < attack->connections) {
            visit(attack);
            visited_us = attack->now_us;
        }
        count = epoll_wait(attack->epoll_fd, events, EVENTS_MAX, WAIT_MS);
        attack->now_us = clock_us();
        for (int i = 0; i < count; i++) {
            struct peer *peer = (struct peer *)events[i].data.ptr;

            if (peer->fd >= 0) {
                on_event(peer, events[i].events);
            }
        }
    }
    close_all(attack);
    return attack->counts.connects > 0;
}
