/*
 * retry.c: see retry.h. The wait is that of gRPC's connection back-off (doc/connection-backoff.md),
 * the bucket that of its retry throttling (proposal A6).
 */
#include "client/retry.h"

#include "client/details.h"
#include "client/header.h"

#define FIFTHS_MAX (5 * CLIENT_RETRY_TOKENS_MAX)
/* Maximum steps of growth: 1.6^64 ms are 300 years. */
#define GROWTHS_MAX 64u
/* Maximum wait of any policy. */
#define BACKOFF_LIMIT_MS ((int64_t)24 * 3600 * 1000)
#define PUSHBACK_NEVER (-1)
/* Twelve years in milliseconds fit. */
#define PUSHBACK_DIGITS_MAX 12

int64_t client_backoff_ms(const struct client_retry_policy *policy, uint32_t repeat,
                          struct random *random)
{
    int64_t max_ms =
        policy->backoff_max_ms < BACKOFF_LIMIT_MS ? policy->backoff_max_ms : BACKOFF_LIMIT_MS;
    int64_t wait_ms = policy->backoff_initial_ms;
    uint64_t word = 0;

    for (uint32_t i = 0; i < repeat && i < GROWTHS_MAX && wait_ms < max_ms; i++) {
        wait_ms = (wait_ms * 8 + 4) / 5;
    }
    wait_ms = wait_ms < max_ms ? wait_ms : max_ms;
    random_fill(random, &word, sizeof(word));
    return wait_ms - wait_ms / 5 + (int64_t)(word % (uint64_t)(wait_ms / 5 * 2 + 1));
}

void client_retry_bucket_fill(struct client_retry_bucket *bucket)
{
    bucket->fifths = FIFTHS_MAX;
}

bool client_retry_bucket_take(struct client_retry_bucket *bucket)
{
    if (bucket->fifths < 5) {
        return false;
    }
    bucket->fifths -= 5;
    return true;
}

void client_retry_bucket_give(struct client_retry_bucket *bucket)
{
    if (bucket->fifths < FIFTHS_MAX) {
        bucket->fifths++;
    }
}

/* Reads the trailer grpc-retry-pushback-ms (gRFC A6): the wait in ms, or PUSHBACK_NEVER for a
 * negative number and for any other text. */
static int64_t read_pushback(const struct client_status *status)
{
    for (size_t i = 0; i < status->metadata_count; i++) {
        const struct client_metadata *field = &status->metadata[i];
        int64_t wait_ms = 0;

        if (!slice_equal(field->key, SLICE("grpc-retry-pushback-ms"))) {
            continue;
        }
        if (field->value.size == 0 || field->value.size > PUSHBACK_DIGITS_MAX) {
            return PUSHBACK_NEVER;
        }
        for (size_t at = 0; at < field->value.size; at++) {
            uint8_t digit = field->value.data[at];

            if (digit < '0' || digit > '9') {
                return PUSHBACK_NEVER;
            }
            wait_ms = wait_ms * 10 + (digit - '0');
        }
        return wait_ms;
    }
    return 0;
}

enum client_repeat client_repeat_allowed(const struct client_status *status, int64_t *ret_wait_ms)
{
    struct client_details details = {.retry_ms = -1};
    int64_t pushback_ms = read_pushback(status);

    *ret_wait_ms = 0;
    if (status->code == CLIENT_CODE_OK || pushback_ms == PUSHBACK_NEVER) {
        return CLIENT_REPEAT_NEVER;
    }
    *ret_wait_ms = pushback_ms;
    if (status->details.size > 0 && client_details_read(status->details, &details) == OK &&
        details.retry_ms > pushback_ms) {
        *ret_wait_ms = details.retry_ms;
    }
    if (status->unseen) {
        return CLIENT_REPEAT_ANY;
    }
    return status->code == CLIENT_CODE_UNAVAILABLE || details.retry_ms >= 0 ? CLIENT_REPEAT_HARMLESS
                                                                            : CLIENT_REPEAT_NEVER;
}
