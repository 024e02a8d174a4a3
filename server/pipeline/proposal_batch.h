/*
 * proposal_batch.h: the batch that proposes rules from clusters of decisions, for all organisations, without a call. It
 * is a component of the loop: each step is a write of its own, so that other writes run in between. A timer starts it.
 */
#ifndef ERRATA_SERVER_PIPELINE_PROPOSAL_BATCH_H
#define ERRATA_SERVER_PIPELINE_PROPOSAL_BATCH_H

#include "server/domain/generation/generation.h"
#include "store/work.h"

/* Time between two batches. */
#define PROPOSAL_BATCH_INTERVAL_MS (15u * 60 * 1000)

struct proposal_batch {
    struct work_request work; /* must be first; owned by the writer while `running` */
    struct store_backend *backend;
    struct writer *writer;
    struct arena arena; /* arena of a step */
    struct fault fault;
    struct ctx ctx;
    struct generation_batch position; /* position of the organisation */
    struct generation_batch next; /* position after the step; owned by the writer while `running` */
    bool running;
    uint64_t drafted; /* proposals since the start of the server */
};

/* Prepares the batch. `clock` and `random` outlive it. */
void proposal_batch_init(struct proposal_batch *batch, struct store_backend *backend,
                         struct writer *writer, const struct clock *clock, struct random *random);
/* Starts the batch, unless it runs. */
void proposal_batch_start(struct proposal_batch *batch);
/* Frees the batch, which must not run. Accepts a zeroed one. */
void proposal_batch_deinit(struct proposal_batch *batch);

#endif
