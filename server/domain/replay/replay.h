/*
 * replay.h: the tables made anew from the log, and compared with those that are stored. A source is
 * a read transaction over a snapshot; a target is an empty back end of the caller's own. Nothing
 * here knows LMDB, a clock of its own or a process: who spawns, who renames and who tells people is
 * above.
 *
 * Order: organisation by organisation as the log's table has them, each by number. So an event may
 * change rows of its own organisation, and rows of no organisation (organisations, tokens) that no
 * other organisation's events read.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_H
#define ERRATA_SERVER_DOMAIN_REPLAY_REPLAY_H

#include "store/log.h"

/* Events in one transaction of the target. */
#define REPLAY_BATCH_EVENTS 1000

/* How far a replay or a comparison has come; totals are 0 where they are not known. */
struct replay_progress {
    const char *step; /* a literal: "chain", "replay", "compare" */
    uint64_t events; /* done in this step */
    uint64_t rows; /* compared */
};

struct replay_config {
    struct store_txn *source; /* a read transaction; the caller's */
    struct store_backend *target; /* empty; the caller's */
    const struct clock *clock; /* handed to apply's ctx, which must not read it */
    struct random *random; /* the same */
    /* Called about every REPLAY_BATCH_EVENTS; false ends the work with ERR_CANCELLED. May be NULL. */
    bool (*on_progress)(void *user, const struct replay_progress *progress);
    void *user;
};

#define REPLAY_DIFFERENCES_MAX 100

/* What a row is, beside what it should be. */
enum replay_difference_kind {
    REPLAY_ROW_MISSING, /* the log makes it, the tables lack it */
    REPLAY_ROW_EXTRA, /* the tables have it, the log does not make it */
    REPLAY_ROW_OTHER /* other bytes */
};

struct replay_difference {
    enum replay_difference_kind kind;
    enum store_table table;
    uint8_t key[STORE_KEY_BYTES_MAX];
    size_t key_bytes;
};

/* What a verification found. */
struct replay_report {
    uint64_t organizations;
    uint64_t events;
    uint64_t rows; /* of class PROJECTION, compared */
    /* The first event whose chain, bytes or apply do not hold: of this organisation, with this
     * number. Zero seq: none. Where there is one, the rows of that organisation are not compared. */
    struct org_id broken_org;
    uint64_t broken_seq;
    uint64_t broken_count; /* organisations with one */
    uint64_t difference_count; /* all; the first ones are listed */
    struct replay_difference differences[REPLAY_DIFFERENCES_MAX];
};

/* Every event of every organisation into the target, with the generic rows, what apply makes of it,
 * and the idempotency rows of its last 25 hours. Errors of the target as they come; ERR_CORRUPT at
 * an event that does not decode or apply. */
MUST_CHECK enum err replay_log(const struct replay_config *config,
                               struct replay_report *ret_report);
/* Checks the chain of every organisation, replays it into the target, and compares every key of the
 * tables of class PROJECTION. OK whatever was found: the report says it (replay_is_clean). */
MUST_CHECK enum err replay_verify(const struct replay_config *config,
                                  struct replay_report *ret_report);
bool replay_is_clean(const struct replay_report *report);

#endif
