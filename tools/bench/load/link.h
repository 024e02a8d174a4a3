/*
 * link.h: one connection of a run on its socket, in cleartext or by TLS: moves bytes between both, as far as
 * the socket takes or has them. What the bytes say is connection.h's; when to read and to send, the engine's.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_LINK_H
#define ERRATA_TOOLS_BENCH_LOAD_LINK_H

#include "tools/bench/load/run.h"

/* Received at once, and encrypted at once: two records with what TLS adds. */
#define LINK_IN_BYTES ((size_t)256 * 1024)
#define LINK_OUT_BYTES ((size_t)33 * 1024)

struct tls_context;
struct tls_stream;

/* State that the links of a run share; zeroed before link_room_init. */
struct link_room {
    struct run *run; /* borrowed */
    int epoll; /* borrowed; events carry the number of the connection */
    uint8_t *in; /* owned, LINK_IN_BYTES */
    uint8_t *plain; /* owned: decrypted bytes of one record; NULL: cleartext */
};

/* Encrypted bytes that the socket did not take yet. */
struct link_rest {
    uint8_t *bytes; /* owned; NULL: cleartext */
    size_t from;
    size_t to;
};

struct link {
    struct link_room *room; /* borrowed */
    size_t index; /* of the connection in the run */
    int fd; /* owned; -1: none */
    bool wants_out; /* the socket took no more */
    bool shaken; /* the handshake is complete, or there is none */
    struct tls_stream *stream; /* owned; NULL: cleartext */
    struct link_rest rest;
};

/* `tls` is that of a client; NULL: cleartext. ERR_MEMORY. */
MUST_CHECK enum err link_room_init(struct link_room *room, struct run *run,
                                   const struct tls_context *tls);
void link_room_deinit(struct link_room *room);

/* Takes a connected socket that does not block, in any case. By TLS the server's certificate must have the
 * name or address `host`. ERR_MEMORY; ERR_UNAVAILABLE with a sentence. */
MUST_CHECK enum err link_open(struct link *link, int take_fd, struct tls_context *tls,
                              const char *host, struct fault *fault);
/* Takes one without a socket. */
void link_close(struct link *link);
/* Sends what the socket takes. */
void link_flush(struct link *link, uint64_t now_ns);
/* Reads once: epoll is level-triggered, so the rest is reported again. */
void link_receive(struct link *link, uint64_t now_ns);

#endif
