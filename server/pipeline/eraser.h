/*
 * eraser.h: erases content at a person's request (server/domain/retention/erasure.h): a component of the loop. The pool finds
 * the events, part by part; each part is a small write, so that other writes run in between; at the end the store's journal is
 * overwritten. One erasure at a time; it belongs to the stream that started it, until cancel.
 *   IDLE --start--> FINDING <--> WRITING
 *                   FINDING --nothing is left--> ENDING --> ENDED --cancel--> IDLE
 * Cancelled, it becomes IDLE when the current part has ended: what was written stays erased.
 */
#ifndef ERRATA_SERVER_PIPELINE_ERASER_H
#define ERRATA_SERVER_PIPELINE_ERASER_H

#include "server/domain/retention/erasure.h"
#include "store/work.h"

/* Maximum size of the reason for a failure. */
#define ERASER_WHY_BYTES 256

struct eraser;

struct eraser_config {
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
    /* Called on progress; `org` is that of the stream, or that of the log that was written to. Never inside a call of this
     * header. */
    void (*on_news)(void *user, struct org_id org);
    void (*on_idle)(void *user); /* nothing is running any more */
    void *user;
};

/* Events to erase. Everything is borrowed for the duration of eraser_start. */
struct eraser_request {
    struct org_id caller_org;
    bool is_server; /* the token has the `server` flag */
    struct slice org_id; /* text of the organisation's id; empty: the caller's */
    enum erasure_subject subject;
    struct slice id;
    const struct uuid *event_ids;
    size_t event_id_count; /* at most ERASURE_IDS_MAX */
    struct slice actor_user_id;
    struct slice reason;
    bool dry_run;
};

struct eraser_state {
    uint64_t version; /* incremented by each change */
    uint64_t examined_seq;
    uint64_t until_seq;
    uint64_t erased_count; /* by steps that are committed */
    bool in_journal; /* it is being overwritten */
    bool dry_run;
    bool ended;
    /* After the end: */
    const struct erasure_search *search; /* what was found */
    enum err err;
    char why[ERASER_WHY_BYTES]; /* reason of `err`; empty if the error needs no explanation */
};

/* The only error is ERR_MEMORY. */
MUST_CHECK enum err eraser_new(struct arena *arena, const struct eraser_config *config,
                               struct eraser **ret_eraser);
/* Starts an erasure; call it, like all functions here, on the loop. ERR_PRECONDITION: another one is running or ending;
 * ERR_BUSY; ERR_MEMORY. */
MUST_CHECK enum err eraser_start(struct eraser *eraser, const struct eraser_request *request,
                                 struct fault *fault);
/* May be called between start and cancel. */
const struct eraser_state *eraser_state(const struct eraser *eraser);
/* Call it once for each successful start. */
void eraser_cancel(struct eraser *eraser);
bool eraser_is_idle(const struct eraser *eraser);

#endif
