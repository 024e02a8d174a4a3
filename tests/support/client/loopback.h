/*
 * loopback.h: a scripted server on the loopback, on a thread of its own: for tests of what connects by
 * itself.
 */
#ifndef ERRATA_TESTS_SUPPORT_CLIENT_LOOPBACK_H
#define ERRATA_TESTS_SUPPORT_CLIENT_LOOPBACK_H

#include "tests/unit/client/peer.h"

#include <pthread.h>

#define LOOPBACK_CONNECTIONS_MAX 4

/* Serves this many connections, one after the other, each by a separate script. */
struct loopback {
    char address[32]; /* 127.0.0.1:PORT */
    uint16_t port;
    int listener;
    size_t connection_count;
    struct peer *peers[LOOPBACK_CONNECTIONS_MAX]; /* the thread's, until loopback_wait */
    pthread_t thread;
};

void loopback_start(struct loopback *server, const struct peer_script *scripts, size_t count);
/* Connects and hangs up: so loopback_wait returns though no one else may have come. */
void loopback_knock(const struct loopback *server);
/* Waits until the last connection has been closed from the other side. What came over it can be looked
 * at then. */
void loopback_wait(struct loopback *server);
/* Frees the server, after loopback_wait. */
void loopback_free(struct loopback *server);
/* An address where no one listens. */
void loopback_nowhere(char address[32]);

#endif
