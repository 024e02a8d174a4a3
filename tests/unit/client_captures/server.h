/*
 * server.h: a server of CaptureFeedbackEvent over TCP, on a thread of its own, that a test can take away and
 * bring back at the same address. It remembers each capture by its idempotency key, as the real one
 * does, and whether a key ever came with two captures, or a capture with two keys.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CAPTURES_SERVER_H
#define ERRATA_TESTS_UNIT_CLIENT_CAPTURES_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#define SERVER_CAPTURES_MAX 20000

/* Probabilities of its reactions to a request, in percent; otherwise it answers with OK. */
struct server_habits {
    unsigned unavailable; /* answers UNAVAILABLE, with or without storing the capture */
    unsigned hang_up; /* stores the capture, and closes the connection without an answer */
    const char *token; /* other tokens are UNAUTHENTICATED; NULL: any token is accepted */
};

struct server;

/* Does not listen yet. */
struct server *server_new(const struct server_habits *habits);
/* Listens, at the same port as the last time. */
void server_up(struct server *server);
/* Closes its connections and stops listening. */
void server_down(struct server *server);
void server_free(struct server *server);

/* HOST:PORT. */
const char *server_address(const struct server *server);
/* Return, for a server that is down, the number of stored captures, and of mismatches between keys
 * and captures. */
unsigned server_count_stored(const struct server *server);
unsigned server_count_wrong(const struct server *server);

#endif
