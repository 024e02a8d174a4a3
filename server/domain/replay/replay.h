/*
 * replay.h: the tables rebuilt from the log, and compared with those that are stored. Of a source
 * one snapshot is read; a target is an empty back end of the caller's own. Nothing
 * here knows LMDB, a clock of its own or a process: who spawns, who renames and who reports is
 * above.
 *
 * Order: organisation by organisation as the log's table has them, each by number. So an event may
 * change rows of its own organisation, and rows of no organisation (organisations, tokens) that no
 * other organisation's events read. Memory: one batch of the target, and what one event needs.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_H
#define ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_H

#include "store/log.h"

/* Events in one transaction of the target, and about how many bytes of them; rows between two calls
 * of on_progress. */
#define REPLAY_BATCH_EVENTS 1000
#define REPLAY_BATCH_BYTES (8u << 20)
#define REPLAY_PROGRESS_ROWS 10000
/* Idempotency rows are made for events of the last so many microseconds: as long as a repeated write
 * is looked for. Of the organisation's log, and of the wall clock: an event that a clock wrote which
 * was ahead ends no key of the writes before it, a clock that is ahead now none of the log's. */
#define REPLAY_KEYS_US (25ll * 3600 * 1000000)

/* Progress of a replay or of a comparison. */
struct replay_progress {
    const char *step; /* a literal: "replay", "compare" */
    uint64_t events; /* replayed */
    uint64_t events_total; /* sum of the logs' last sequence numbers */
    uint64_t rows; /* rows compared so far; the total is not known in advance */
};

struct replay_config {
    struct store_backend *source; /* store to read, as it is at the start; owned by the caller */
    struct store_backend *target; /* empty store to fill; owned by the caller */
    const struct clock *clock; /* passed to apply's ctx, although apply must not read it */
    struct random *random; /* the same */
    /* The wall clock, for replay_log's choice of idempotency rows only. */
    int64_t now_us;
    /* Called after each batch; false ends the work with ERR_CANCELLED. May be NULL. */
    bool (*on_progress)(void *user, const struct replay_progress *progress);
    void *user;
};

#define REPLAY_DIFFERENCES_MAX 100

/* Difference between a row and its expected value. */
enum replay_difference_kind {
    REPLAY_ROW_MISSING, /* the log makes it, the tables lack it */
    REPLAY_ROW_EXTRA, /* the tables have it, the log does not make it */
    REPLAY_ROW_OTHER /* the bytes differ */
};

struct replay_difference {
    enum replay_difference_kind kind;
    enum store_table table;
    uint8_t key[STORE_KEY_BYTES_MAX];
    size_t key_bytes;
};

/* Defect of an event. */
enum replay_break {
    REPLAY_WHOLE, /* nothing */
    REPLAY_GAP, /* the event is missing, although later ones exist */
    REPLAY_BYTES, /* the bytes cannot be decoded */
    REPLAY_HASH, /* facts or content do not match their hashes */
    REPLAY_CHAIN, /* the event does not continue the chain */
    REPLAY_APPLY /* its rows cannot be created */
};

/* The findings. */
struct replay_report {
    uint64_t organizations; /* organisations with events */
    uint64_t events; /* valid events that were replayed */
    uint64_t rows; /* compared rows of the class PROJECTION */
    /* The first event that does not hold: of this organisation, with this number. Rows of an
     * organisation that has one, and (since its events make them too) of none, are not compared. */
    struct org_id broken_org;
    uint64_t broken_seq;
    enum replay_break broken_by;
    uint64_t broken_count; /* organisations with a broken log */
    uint64_t difference_count; /* number of all differences, of which only the first are listed */
    struct replay_difference differences[REPLAY_DIFFERENCES_MAX];
};

/* Every event of every organisation into the target, byte for byte, with the generic rows, what apply
 * makes of it, and the idempotency rows of the last hours. Errors of the target as they come;
 * ERR_CORRUPT at the first event that does not hold: the report, which is filled then too, names it. */
MUST_CHECK enum err replay_log(const struct replay_config *config,
                               struct replay_report *ret_report);
/* Checks the chain of every organisation, replays it into the target, and compares every key of the
 * tables of class PROJECTION. OK for any finding: the report says it (replay_is_clean). ERR_CORRUPT
 * where the source can't even be walked. */
MUST_CHECK enum err replay_verify(const struct replay_config *config,
                                  struct replay_report *ret_report);
bool replay_is_clean(const struct replay_report *report);
/* Describes the defect, as the end of a sentence whose subject is the event. */
const char *replay_break_text(enum replay_break broken_by);

#endif
