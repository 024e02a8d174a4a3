/*
 * server.h: scripted peers on a real socket of the loopback, on a thread of their own: one after
 * another takes a connection and serves it to its end.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_SERVER_H
#define ERRATA_TESTS_UNIT_CLIENT_SERVER_H

#include "tests/unit/client/peer.h"

#include <pthread.h>
#include <stdatomic.h>

struct server {
    int listener;
    uint16_t port;
    const struct peer_script *scripts; /* borrowed: of the first connection, the second, ... */
    unsigned script_count;
    atomic_int connection; /* the one that is served */
    atomic_uint served; /* number of connections that have ended */
    char request_fields
        [4096]; /* fields of the last request of the last peer; valid after server_stop */
    pthread_t thread;
};

/* A socket that listens on a free port of 127.0.0.1, where no one accepts. */
int server_listen(uint16_t *ret_port);
/* Starts to take as many connections as there are scripts. */
void server_start(struct server *server, const struct peer_script *scripts, unsigned count);
/* Waits until the current connection has ended, and accepts no others. */
void server_stop(struct server *server);

#endif
