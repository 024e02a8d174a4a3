/*
 * replay_internal.h: functions that replay and comparison share, for this folder's own files.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_INTERNAL_H

#include "server/domain/replay/replay.h"
#include "store/work.h"

/* State of one run. */
struct replay {
    const struct replay_config *config;
    struct replay_report *report; /* owned by the caller */
    struct replay_progress progress;
    bool keeps_keys; /* idempotency rows are kept */
    bool stops; /* stop at the first invalid event */
    bool needs_organizations; /* a log without an organisation is invalid */
    /* The target has earlier events, whose rows the events may remove: the content of events, and organisations. */
    bool restores;
    struct ctx ctx;
    struct arena arena; /* memory of ctx, emptied after each event */
};

/* State of the replay of one organisation. */
struct org_walk {
    struct org_id org;
    struct store_cursor cursor; /* cursor over the source's events; zeroed: they come from a file */
    uint64_t last_seq; /* replayed */
    int64_t keys_from_us; /* time before which events need no idempotency row */
    bool done;
    enum replay_break broken_by;
    uint64_t broken_seq;
    /* A write with an idempotency key, until all of its events were read. */
    struct event_idempotency key;
    struct work_result write;
    int64_t written_at_us;
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
/* Finds the next organisation with a log that is not being deleted, of which a part may be missing. ERR_NOT_FOUND after the
 * last one. */
MUST_CHECK enum err replay_next_log(struct store_txn *source, const struct uuid *after,
                                    struct uuid *ret_org);
/* Copies one event into the target, which must be the next one of its log, and applies it. ERR_CORRUPT: the walk says
 * what is wrong. */
MUST_CHECK enum err replay_event(struct replay *replay, struct store_txn *target,
                                 struct org_walk *walk, struct slice key, struct slice value);
/* Writes the row of the write that is being read, with the events that were read of it. */
MUST_CHECK enum err replay_put_key(struct replay *replay, struct store_txn *target,
                                   const struct org_walk *walk);
/* Takes up the last write of the target's log, of which further events may follow. */
MUST_CHECK enum err replay_resume_write(struct replay *replay, struct store_txn *target,
                                        struct org_walk *walk);
/* Writes the row of the previous write, whose number of events is known now. */
MUST_CHECK enum err replay_keep_key(struct replay *replay, struct store_txn *target,
                                    struct org_walk *walk);
/* Replays every organisation's events into the target. */
MUST_CHECK enum err replay_events(struct replay *replay, struct store_txn *source);
/* Compares the stored rows with those of the replay. */
MUST_CHECK enum err replay_compare(struct replay *replay, struct store_txn *source);

#endif
