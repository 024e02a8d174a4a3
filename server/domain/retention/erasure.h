/*
 * erasure.h: removes the content of events at a person's request: of given events, or of all that are about a subject. They
 * are found in the log, part by part, by a reader; each step then removes the content of a few of them and appends an
 * event that lists them. Facts, hashes and counts stay, as after a sweep (retention.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_RETENTION_ERASURE_H
#define ERRATA_SERVER_DOMAIN_RETENTION_ERASURE_H

#include "store/log.h"

/* Events that lose their content in one step: an example has about ten rows, and a transaction is to change at most
 * 1,000. */
#define ERASURE_STEP_EVENTS 64
/* Events that one search examines: about 100 ms, on the pool. */
#define ERASURE_EXAMINED_MAX 20000
/* Ids of one request. */
#define ERASURE_IDS_MAX 1000
/* Kinds of events have numbers below this. */
#define ERASURE_KINDS 128

/* Subject of the events. */
enum erasure_subject {
    ERASURE_OF_DOCUMENT,
    ERASURE_OF_CUSTOMER,
    ERASURE_OF_SESSION,
    ERASURE_OF_USER,
    ERASURE_OF_EVENTS
};

struct erasure_target {
    struct org_id org;
    enum erasure_subject subject;
    struct slice id; /* of the subject; empty for ERASURE_OF_EVENTS */
    const uint64_t *seqs; /* for ERASURE_OF_EVENTS: ascending */
    size_t seq_count;
};

/* Events of one kind. */
struct erasure_count {
    uint64_t erased;
    uint64_t erased_bytes;
    uint64_t removed_before;
    uint64_t facts; /* without content */
    uint64_t kept_artifact;
    uint64_t kept_format;
};

/* A search, which goes on where it ended. */
struct erasure_search {
    uint64_t examined_seq; /* the last event that was examined */
    uint64_t until_seq; /* the last one to examine */
    struct erasure_count kinds[ERASURE_KINDS];
    /* Found by the last call, to be erased: ascending. */
    uint64_t seqs[ERASURE_STEP_EVENTS];
    size_t seq_count;
};

/* Finds the numbers of events, sorted, in memory of the arena. ERR_NOT_FOUND if there is no event with an id, whose index is
 * then in `ret_index`. */
MUST_CHECK enum err erasure_find_ids(struct arena *arena, struct store_txn *txn,
                                     struct erasure_target *target, const struct uuid *ids,
                                     size_t count, size_t *ret_index);
/* Examines the next events, at most ERASURE_EXAMINED_MAX, until there are enough for a step. The search has ended if
 * examined_seq is until_seq. `ctx` needs the memory of a few events. */
MUST_CHECK enum err erasure_find(struct ctx *ctx, struct store_txn *txn,
                                 const struct erasure_target *target,
                                 struct erasure_search *search);

/* Events that a step erases. */
struct erasure_step {
    const struct erasure_target *target;
    const uint64_t *seqs; /* ascending, at most ERASURE_STEP_EVENTS */
    size_t seq_count;
    struct slice actor_user_id;
    struct slice reason;
};

/* Removes the content of the events that still have it, appends the event and applies it. `ret_seq`: that of the event; 0 if
 * there was no content. */
MUST_CHECK enum err erasure_remove_content(struct ctx *ctx, struct store_txn *txn,
                                           const struct erasure_step *step, uint64_t *ret_seq);

#endif
