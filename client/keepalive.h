/*
 * keepalive.h: decides when a connection sends a PING, and when it is considered lost. Works on
 * times that the caller passes; the caller sends the PING and drops the connection. Internal to the
 * client.
 *
 * A PING is due if nothing was received for `silence_ms` while a call waits; so a call that starts
 * on a connection that was silent for longer causes one at once. The interval between PINGs is
 * never shorter than `silence_ms`, since their answers count as received bytes.
 */
#ifndef ERRATA_CLIENT_KEEPALIVE_H
#define ERRATA_CLIENT_KEEPALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Time to read bytes that arrived while a program was stopped or did not run its loop, since that
 * time says nothing about the other end. */
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

/* Bytes were received; the next step records the time. */
void client_keepalive_hear(struct client_keepalive *keepalive);
/* Returns the action that is due at `now_ms`; `waited_for` is true if a call waits for the server.
 * Also returns the latest time of the next step; 0: not before another event. */
enum client_keepalive_verdict client_keepalive_step(struct client_keepalive *keepalive,
                                                    int64_t now_ms, bool waited_for,
                                                    int64_t *ret_next_ms);

#endif
