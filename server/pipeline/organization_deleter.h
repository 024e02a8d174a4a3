/*
 * organization_deleter.h: carries out the deletions of organisations (server/domain/admin/organization_deletion.h), one
 * after the other: a component of the loop. The marks in the store are its only memory, so after a restart it goes on where
 * it was. Each step is a small write, so that other writes run in between; then the pool looks for a row that is left,
 * and has the store's journal overwritten; a last write records the end.
 *   IDLE --a tick finds a mark--> DELETING --nothing left--> CHECKING --> SETTLING --> ENDING --> IDLE
 * Any failure leads to IDLE, and the next tick goes on with another organisation, if there is one.
 */
#ifndef ERRATA_SERVER_PIPELINE_ORGANIZATION_DELETER_H
#define ERRATA_SERVER_PIPELINE_ORGANIZATION_DELETER_H

#include "server/domain/admin/organization_deletion.h"
#include "store/work.h"

/* Maximum time that a step may add to a commit. The number of rows is adapted to it. */
#define DELETER_STEP_US 5000
#define DELETER_ROWS_FIRST 64
/* Requests in the writer's queue, and bytes of a journal's rows in memory, above which the next step waits for a tick: a full
 * memtable is being stored in the tables, and captures need the room in the other one. */
#define DELETER_QUEUE_MAX 64
#define DELETER_JOURNAL_BYTES_MAX (80u << 20)
/* Time before the next attempt after a failure. */
#define DELETER_RETRY_US (INT64_C(5) * 1000000)

struct organization_deleter;

struct organization_deleter_config {
    struct store_backend *backend;
    struct writer *writer;
    const struct clock *clock;
    struct random *random;
    /* Runs `work` on the pool, then `done` on the loop; ERR_BUSY if the pool's queue is full. */
    enum err (*run_on_pool)(void *user, void (*work)(void *job), void (*done)(void *job, enum err),
                            void *job);
    /* Returns after the store's files hold nothing of what was removed before the call; runs on the pool. NULL: a store
     * without such files. */
    enum err (*settle)(void *user);
    /* Nothing of the organisation is left in the store; what is kept of it in memory can go. */
    void (*on_deleted)(void *user, struct org_id org);
    /* An event was appended to the log of `org`. */
    void (*on_news)(void *user, struct org_id org);
    void (*on_idle)(void *user); /* nothing is running any more */
    void *user;
};

/* The only error is ERR_MEMORY. */
MUST_CHECK enum err organization_deleter_new(struct arena *arena,
                                             const struct organization_deleter_config *config,
                                             struct organization_deleter **ret_deleter);
/* Goes on with a deletion, if there is one; call it periodically, like all functions here on the loop. */
void organization_deleter_tick(struct organization_deleter *deleter);
/* Begins nothing more; what is running ends by itself. */
void organization_deleter_stop(struct organization_deleter *deleter);
bool organization_deleter_is_idle(const struct organization_deleter *deleter);
/* It must be idle. Accepts NULL. */
void organization_deleter_deinit(struct organization_deleter *deleter);

#endif
