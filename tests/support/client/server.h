/*
 * server.h: a scripted server on the loopback, on a thread of its own: for tests of what connects by
 * itself.
 */
#ifndef ERRATA_TESTS_SUPPORT_CLIENT_SERVER_H
#define ERRATA_TESTS_SUPPORT_CLIENT_SERVER_H

#include "tests/unit/client/peer.h"

#include <pthread.h>

#define SERVER_CONNECTIONS_MAX 4

/* Serves so many connections, one after the other, each by a script of its own. */
struct server {
    char address[32]; /* 127.0.0.1:PORT */
    int listener;
    size_t connection_count;
    struct peer *peers[SERVER_CONNECTIONS_MAX]; /* the thread's, until server_wait */
    pthread_t thread;
};

void server_start(struct server *server, const struct peer_script *scripts, size_t count);
/* Waits until the last connection has been closed from the other side. What came over it can be looked
 * at then. */
void server_wait(struct server *server);
/* After server_wait. */
void server_free(struct server *server);
/* An address where nobody listens. */
void server_nowhere(char address[32]);

#endif
