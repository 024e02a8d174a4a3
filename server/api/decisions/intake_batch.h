/*
 * intake_batch.h: stores a batch of entries of a stream, each as a decision or as a dead letter, in a write of its own. It
 * is a component of the loop: entries are prepared on the pool, and then submitted to the writer. An entry that the writer
 * can't take, since its queue or the disk is full, waits and is submitted again, for as long as it takes; nothing is
 * dropped, unless the organisation of the entries may not have them: then they are left to the caller, and none becomes a dead
 * letter for that. An entry has ended only once it is durable, or left. It knows nothing of Redis.
 */
#ifndef ERRATA_SERVER_API_DECISIONS_INTAKE_BATCH_H
#define ERRATA_SERVER_API_DECISIONS_INTAKE_BATCH_H

#include "server/domain/dead_letters/dead_letters.h"
#include "store/work.h"

/* Maximum entries of a batch, which are in memory at once: a commit has up to WORK_BATCH_REQUESTS_MAX. */
#define INTAKE_ENTRIES_MAX 64
/* Wait before an entry is submitted again; doubled up to the maximum until one was stored. */
#define INTAKE_RETRY_US 100000
#define INTAKE_RETRY_US_MAX (INT64_C(5) * 1000000)
/* Attempts after an error of the server, such as a lack of memory, before the entry is a dead letter, so that one entry
 * can't stop all that follow it. */
#define INTAKE_ATTEMPTS_MAX 5

struct service_env; /* server/pipeline/env.h */

/* Result of an entry. */
enum intake_outcome {
    INTAKE_OPEN, /* it has not ended */
    INTAKE_STORED, /* as a decision */
    INTAKE_REPEATED, /* its decision was stored before, with the same content */
    INTAKE_DEAD, /* as a dead letter, now or before */
    INTAKE_LEFT /* nothing is stored, since the server ends, or the organisation may not have it */
};

struct intake_config {
    struct service_env *env; /* with backend and writer */
    const struct clock *clock;
    struct random *random;
    /* Runs `work` on the pool, then `done` on the loop; ERR_BUSY. */
    enum err (*run_on_pool)(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job);
    /* Returns whether the organisation may have entries now. Called after the preparation on the pool, and after each wait:
     * entries that are open then, and may not be stored, are left. */
    bool (*may_store)(void *user, struct org_id org);
    /* Every entry has ended. Never called inside intake_start. */
    void (*on_done)(void *user);
    /* Events were appended to the log. */
    void (*on_stored)(void *user, struct org_id org);
    void *user;
};

/* Counters since the start. */
struct intake_counts {
    uint64_t stored;
    uint64_t repeated;
    uint64_t dead;
    uint64_t waits; /* submissions that were refused for lack of room, and made again */
};

struct intake;

/* Makes it in the arena, which exists longer. */
MUST_CHECK enum err intake_new(struct arena *arena, const struct intake_config *config,
                               struct intake **ret_intake);
/* Starts a batch of 1 to INTAKE_ENTRIES_MAX entries, which are borrowed until on_done. The last batch has ended. */
void intake_start(struct intake *intake, struct org_id org, const struct stream_entry *entries,
                  size_t count);
/* Continues after a wait; called every 100 ms or so. */
void intake_tick(struct intake *intake);
/* Ends the batch early: entries that are not in the writer's queue are left. on_done follows. */
void intake_stop(struct intake *intake);
bool intake_is_idle(const struct intake *intake);
/* Returns the outcome of an entry of the last batch. */
enum intake_outcome intake_outcome_of(const struct intake *intake, size_t index);
/* Returns whether entries wait for room, and why. */
bool intake_is_waiting(const struct intake *intake, enum err *ret_why);
struct intake_counts intake_read_counts(const struct intake *intake);

#endif
