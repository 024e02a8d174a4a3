/*
 * replay_internal.h: functions that replay and comparison share, for this folder's own files.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_INTERNAL_H

#include "server/domain/replay/replay.h"

/* State of one run. */
struct replay {
    const struct replay_config *config;
    struct replay_report *report; /* owned by the caller */
    struct replay_progress progress;
    bool keeps_keys; /* idempotency rows are kept */
    bool stops; /* stop at the first invalid event */
    bool needs_organizations; /* a log without an organisation is invalid */
    struct ctx ctx;
    struct arena arena; /* memory of ctx, emptied after each event */
};

/* The 16 bytes with which the keys of an organisation, or of none, begin. */
struct key replay_prefix(struct uuid org);
/* The zero id: the owner of rows that belong to no organisation. */
bool replay_is_no_org(struct uuid org);
/* Reads the number in the key of an organisation's last event. ERR_NOT_FOUND if it has no events,
 * ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err replay_last_seq(struct store_txn *txn, struct uuid org, uint64_t *ret_seq);
/* Reports the progress to the caller; ERR_CANCELLED if the caller stops the work. */
MUST_CHECK enum err replay_report_progress(struct replay *replay);
/* Replays every organisation's events into the target. */
MUST_CHECK enum err replay_events(struct replay *replay, struct store_txn *source);
/* Compares the stored rows with those of the replay. */
MUST_CHECK enum err replay_compare(struct replay *replay, struct store_txn *source);

#endif
