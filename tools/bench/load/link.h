/*
 * link.h: one connection of a run on its socket, in cleartext or by TLS: moves bytes between the connection
 * and its socket, as far as the socket allows. connection.h interprets the bytes; the engine decides when to
 * read and to send.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_LINK_H
#define ERRATA_TOOLS_BENCH_LOAD_LINK_H

#include "tools/bench/load/run.h"

/* Maximum bytes that are received or encrypted at once: two records with the overhead of TLS. */
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

/* Encrypted bytes that were not sent yet. */
struct link_rest {
    uint8_t *bytes; /* owned; NULL: cleartext */
    size_t from;
    size_t to;
};

struct link {
    struct link_room *room; /* borrowed */
    size_t index; /* of the connection in the run */
    int fd; /* owned; -1: none */
    bool wants_out; /* the socket accepts no more bytes */
    bool shaken; /* the handshake is complete, or there is none */
    struct tls_stream *stream; /* owned; NULL: cleartext */
    struct link_rest rest;
};

/* Initializes the shared state; `tls` is that of a client; NULL: cleartext. Returns OK or
 * ERR_MEMORY. */
MUST_CHECK enum err link_room_init(struct link_room *room, struct run *run,
                                   const struct tls_context *tls);
void link_room_deinit(struct link_room *room);

/* Takes ownership of a connected non-blocking socket, even if it fails. With TLS the server's certificate
 * must have the name or address `host`. ERR_MEMORY; ERR_UNAVAILABLE with a sentence. */
MUST_CHECK enum err link_open(struct link *link, int take_fd, struct tls_context *tls,
                              const char *host, struct fault *fault);
/* Closes the link; accepts one without a socket. */
void link_close(struct link *link);
/* Sends as much as the socket accepts. */
void link_flush(struct link *link, uint64_t now_ns);
/* Reads once: epoll is level-triggered, so the rest is reported again. */
void link_receive(struct link *link, uint64_t now_ns);

#endif
