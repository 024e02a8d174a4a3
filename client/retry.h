/*
 * retry.h: when a call may be repeated, and how long to wait first: back-off, the bucket that keeps
 * repeats from weighing a server down, what a failed attempt's status allows. Pure functions of their
 * arguments; channel.c and its neighbours act on them.
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

/* The wait before repeat number `repeat`, the first being 0: it grows 1.6-fold up to the policy's
 * greatest, and then is spread by 20% to both sides, so that clients who lost the same server do not
 * come back together. */
int64_t client_backoff_ms(const struct client_retry_policy *policy, uint32_t repeat,
                          struct random *random);

void client_retry_bucket_fill(struct client_retry_bucket *bucket);
/* Takes one. Returns false if the bucket is empty. */
MUST_CHECK bool client_retry_bucket_take(struct client_retry_bucket *bucket);
/* A call ended with OK. */
void client_retry_bucket_give(struct client_retry_bucket *bucket);

/* Returns whether an attempt with this end may be repeated. Also returns the longer one of the
 * waits requested by RetryInfo and by grpc-retry-pushback-ms; 0: none. */
enum client_repeat client_repeat_allowed(const struct client_status *status, int64_t *ret_wait_ms);

#endif
