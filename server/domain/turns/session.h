/*
 * session.h: the current stretch of a session: its turns since the last silence.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_SESSION_H
#define ERRATA_SERVER_DOMAIN_TURNS_SESSION_H

#include "server/domain/turns/turns.h"

/* Maximum turns of a stretch that are counted. */
#define SESSION_TURNS_MAX 2000

struct session_counts {
    uint32_t turns;
    uint32_t rejected;
    uint32_t accepted;
    uint32_t neutral;
    uint32_t consecutive; /* number of rejected turns at the end */
    uint32_t longest; /* longest run of rejected turns */
    int64_t started_at_us;
    int64_t last_turn_at_us;
};

/* Counts the newest stretch. ERR_NOT_FOUND for a session without turns. */
MUST_CHECK enum err session_count(struct store_txn *txn, struct org_id org, struct slice session_id,
                                  struct session_counts *ret_counts);

#endif
