/*
 * token_use.h: the last day on which each token was used, so that those no one uses can be found and revoked. A value of
 * this node (table META), not of the log: replicas differ, and a replay has none.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_TOKEN_USE_H
#define ERRATA_SERVER_DOMAIN_ADMIN_TOKEN_USE_H

#include "store/base/ctx.h"
#include "store/key.h"

#define TOKEN_USE_DAY_US (INT64_C(24) * 3600 * 1000000)

/* Returns the number of the day, in UTC, counted from 1970. */
static inline uint64_t token_use_day(int64_t time_us)
{
    return time_us > 0 ? (uint64_t)(time_us / TOKEN_USE_DAY_US) : 0;
}

/* Records a day, unless a later one is stored, or the token was deleted. */
MUST_CHECK enum err token_use_record(struct ctx *ctx, struct store_txn *txn, uint32_t key_id,
                                     uint64_t day);
/* Reads the last day, as the time at which it began; 0: none was recorded. */
MUST_CHECK enum err token_use_read(struct store_txn *txn, uint32_t key_id, int64_t *ret_day_us);
/* Returns whether a key of the table META is that of a day, of a token that does not exist. */
MUST_CHECK enum err token_use_is_stale(struct store_txn *txn, struct slice key, bool *ret_is_stale);
/* Removes what is recorded of a token. */
MUST_CHECK enum err token_use_delete(struct store_txn *txn, uint32_t key_id);

#endif
