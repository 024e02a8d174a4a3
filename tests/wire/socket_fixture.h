/*
 * socket_fixture.h: net over real sockets on loopback. The client is plain blocking sockets in a thread; the
 * server runs in the test's loop.
 */
#ifndef ERRATA_TESTS_WIRE_SOCKET_FIXTURE_H
#define ERRATA_TESTS_WIRE_SOCKET_FIXTURE_H

#include "server/net/server.h"
#include "tests/wire/wire.h"

#include <pthread.h>
#include <stdatomic.h>

struct fixture {
    uv_loop_t loop;
    struct call_handlers handlers;
    struct call_server *calls;
    struct grpc_server *grpc;
    struct net_server *net;
    uint16_t port;
    uv_async_t client_done; /* the client's thread has ended */
    bool drain; /* drains the server while a client stays connected */
    bool drained;
    bool closed;
    size_t reply_bytes;
    uint64_t queued_bytes_max; /* maximum at the ticks */
    const struct net_protocol *protocol; /* protocol to use; NULL: gRPC */
    uint32_t address_connections_max; /* 0: the server's default */
    struct clock clock; /* the machine's, and `ahead_us` */
    _Atomic int64_t ahead_us;
    unsigned floods; /* connections closed for flooding before one was refused */
    unsigned floods_again; /* those of the next 20 connections */
    struct net_link *link; /* the only session of the endless protocol */
    bool ended; /* it has no more output */
    atomic_bool session_closed;
    bool closed_in_time; /* closed before the client read anything */
    atomic_uint heavy_pieces; /* for the weighing protocol: pieces of a heavy connection */
    unsigned heavy_pieces_before; /* the light one was answered */
    void (*client)(struct fixture *fixture);
    pthread_t thread;
    char got[16 << 20]; /* bytes read by the client */
    size_t got_size;
};

/* Runs the server with a limit of connections, until the client's function has returned and all is closed. */
void fixture_run(struct fixture *fixture, void (*client)(struct fixture *fixture),
                 uint32_t connections_max);

/* Connects from 127.0.0.1, 127.0.0.2, ...; returns -1 on failure. */
int client_connect_from(const struct fixture *fixture, uint32_t number);
int client_connect(const struct fixture *fixture);
bool client_send(int fd, struct slice bytes);
/* Reads until the server ends, an error, or `enough` bytes. */
void client_read(struct fixture *fixture, int fd, size_t enough);

/* Preface; SETTINGS with a window of 16 MiB; WINDOW_UPDATE of the connection; HEADERS of literal
 * fields (RFC 7541, 6.2.2); DATA with an empty message. */
#define CLIENT_PRELUDE_BYTES (sizeof(H2_PREFACE) - 1 + 15 + 13)
#define CLIENT_HEADERS_BYTES ((size_t)9 + 0x4c)
#define CLIENT_DATA_BYTES ((size_t)14)
#define CLIENT_CALL_BYTES (CLIENT_HEADERS_BYTES + CLIENT_DATA_BYTES)
extern const uint8_t client_bytes[CLIENT_PRELUDE_BYTES + CLIENT_CALL_BYTES];

/* Sends a call: its first bytes one by one. The socket; -1 where that fails. */
int client_start_call(struct fixture *fixture);
/* Makes a call, and reads its answer. */
void client_call(struct fixture *fixture);
/* Bytes of an answer with this reply, at least: each DATA frame has a head of 9. */
size_t answer_bytes(size_t reply_bytes);

#endif
