/*
 * keepalive.h: when a connection asks whether the other end is still there, and when it gives it up.
 * Arithmetic on a clock that is handed in: who uses it sends the PING and drops the connection.
 * Internal to the client.
 *
 * It asks after `silence_ms` in which nothing came, while there is somebody who waits for an answer;
 * so a call that starts on a connection which was silent for longer asks at once. PINGs are never
 * closer together than `silence_ms`, since the answer to one is a sign of life too.
 */
#ifndef ERRATA_CLIENT_KEEPALIVE_H
#define ERRATA_CLIENT_KEEPALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Time to read what came meanwhile, for a program that was stopped or did not run its loop: the time
 * that passed unseen proves nothing about the other end. */
#define CLIENT_KEEPALIVE_GRACE_MS 20

/* Starts with its first two members set and the others zeroed. */
struct client_keepalive {
    int64_t silence_ms; /* silence before a PING; 0: never sends one */
    int64_t timeout_ms; /* time limit of an answer */
    int64_t heard_ms; /* time of the last received bytes */
    int64_t give_up_ms; /* deadline of the answer to a PING; 0: no PING is outstanding */
    bool heard; /* bytes have been received since the last step */
    bool in_grace; /* the answer is overdue; it waits for what was not read yet */
};

enum client_keepalive_verdict {
    CLIENT_KEEPALIVE_WAIT, /* nothing to do */
    CLIENT_KEEPALIVE_ASK, /* send a PING */
    CLIENT_KEEPALIVE_GONE /* the other end does not answer */
};

/* Bytes were received; the next step notes the time. */
void client_keepalive_hear(struct client_keepalive *keepalive);
/* Returns the action that is due at `now_ms`; `waited_for` is true if a call waits for the server.
 * Also returns the latest time of the next step; 0: not before another event. */
enum client_keepalive_verdict client_keepalive_step(struct client_keepalive *keepalive,
                                                    int64_t now_ms, bool waited_for,
                                                    int64_t *ret_next_ms);

#endif
