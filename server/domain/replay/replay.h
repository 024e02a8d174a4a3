/*
 * replay.h: rebuilds the tables from the log, and compares them with the stored ones. One snapshot
 * of the source is read; the target is an empty back end that the caller provides. Independent of
 * LMDB, clocks and processes: the caller starts processes, renames files and reports.
 *
 * Order: organisation by organisation in the order of the log's table, each by sequence number. So
 * an event may change only rows of its own organisation, and rows of no organisation
 * (organisations, tokens) that events of other organisations do not read. Memory: one batch of the
 * target, and that of one event.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_H
#define ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_H

#include "store/log.h"

/* Maximum events in one transaction of the target, and their approximate bytes; rows between two
 * calls of on_progress. */
#define REPLAY_BATCH_EVENTS 1000
#define REPLAY_BATCH_BYTES (8u << 20)
#define REPLAY_PROGRESS_ROWS 10000
/* Idempotency rows are written for events of the last microseconds, this many, the time for which a
 * repeated write is recognised; counted from the last event of the organisation's log or from the
 * wall clock, whichever is earlier. So keys are kept even if the clock was ahead at the last event,
 * or is ahead now. */
#define REPLAY_KEYS_US (25ll * 3600 * 1000000)

/* The progress of a replay or of a comparison. */
struct replay_progress {
    const char *step; /* a literal: "replay", "compare" */
    uint64_t events; /* replayed */
    uint64_t events_total; /* sum of the logs' last sequence numbers */
    uint64_t rows; /* rows compared so far; the total is not known in advance */
};

struct replay_config {
    struct store_backend *source; /* store to read, as it is at the start; owned by the caller */
    struct store_backend *target; /* empty store to fill; owned by the caller */
    const struct clock *clock; /* put into apply's ctx, although apply must not read it */
    struct random *random; /* put into apply's ctx, although apply must not read it */
    /* The wall clock, for replay_log's choice of idempotency rows only. */
    int64_t now_us;
    /* Called after each batch; if it returns false, the work ends with ERR_CANCELLED. May be
     * NULL. */
    bool (*on_progress)(void *user, const struct replay_progress *progress);
    void *user;
};

#define REPLAY_DIFFERENCES_MAX 100

/* Difference between a row and its expected value. */
enum replay_difference_kind {
    REPLAY_ROW_MISSING, /* expected from the log, but missing in the tables */
    REPLAY_ROW_EXTRA, /* in the tables, but not expected from the log */
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
    REPLAY_APPLY, /* its rows cannot be written */
    REPLAY_NO_ORGANIZATION /* it is the first one, and does not create the organisation; only replay_verify reports it */
};

/* The findings. */
struct replay_report {
    uint64_t organizations; /* organisations with events */
    uint64_t events; /* valid events that were replayed */
    uint64_t rows; /* compared rows of the class PROJECTION */
    /* The first invalid event: its organisation and number. Rows of an organisation with an invalid
     * event are not compared, nor are rows that belong to no organisation, since its events change
     * these, too. */
    struct org_id broken_org;
    uint64_t broken_seq;
    enum replay_break broken_by;
    uint64_t broken_count; /* organisations with a broken log */
    uint64_t difference_count; /* number of all differences, of which only the first are listed */
    struct replay_difference differences[REPLAY_DIFFERENCES_MAX];
};

/* Copies every event of every organisation into the target, byte for byte, and writes the generic
 * rows, the rows that apply derives, and the idempotency rows of the last hours. Returns errors of
 * the target unchanged, and ERR_CORRUPT at the first invalid event, which the report names. */
MUST_CHECK enum err replay_log(const struct replay_config *config,
                               struct replay_report *ret_report);
/* Checks the chain of every organisation, replays it into the target, and compares every key of the
 * tables of class PROJECTION. Returns OK regardless of the findings, which are in the report
 * (replay_is_clean); ERR_CORRUPT if the source cannot be read. */
MUST_CHECK enum err replay_verify(const struct replay_config *config,
                                  struct replay_report *ret_report);
bool replay_is_clean(const struct replay_report *report);
/* Describes the defect: the predicate of a sentence whose subject is the event. */
const char *replay_break_text(enum replay_break broken_by);

#endif
