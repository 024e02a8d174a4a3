/*
 * retry.h: when a call may be repeated, and how long to wait first: back-off, the bucket that
 * prevents repeats from overloading a server, and whether a failed attempt's status allows a
 * repeat. Pure functions of their arguments, used by the files of the channel.
 */
#ifndef ERRATA_CLIENT_RETRY_H
#define ERRATA_CLIENT_RETRY_H

#include "client/channel.h"

/* Pays for repeats after errors of the server. Counted in fifths, so that a call that ends
 * with OK gives back one. Starts full. */
struct client_retry_bucket {
    uint32_t fifths; /* tokens in fifths, at most 5 * CLIENT_RETRY_TOKENS_MAX */
};

/* Condition under which a call may be repeated after one failed attempt. */
enum client_repeat {
    CLIENT_REPEAT_NEVER,
    CLIENT_REPEAT_ANY, /* the server has not seen it: any call */
    CLIENT_REPEAT_HARMLESS /* only for a call that may be executed twice without harm */
};

/* The wait before repeat number `repeat`, the first being 0: it grows by a factor of 1.6 up to the
 * policy's maximum, and is then varied at random by 20% in both directions, so that clients that
 * lost the same server do not reconnect at the same time. */
int64_t client_backoff_ms(const struct client_retry_policy *policy, uint32_t repeat,
                          struct random *random);

void client_retry_bucket_fill(struct client_retry_bucket *bucket);
/* Takes one. Returns false if the bucket is empty. */
MUST_CHECK bool client_retry_bucket_take(struct client_retry_bucket *bucket);
/* Counts a call that ended with OK. */
void client_retry_bucket_give(struct client_retry_bucket *bucket);

/* Returns whether an attempt with this end may be repeated. Also returns the longer one of the
 * waits requested by RetryInfo and by grpc-retry-pushback-ms; 0: none. */
enum client_repeat client_repeat_allowed(const struct client_status *status, int64_t *ret_wait_ms);

#endif
