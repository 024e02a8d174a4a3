/*
 * sim_store.h: the disk. A back end over the memory one, whose commits take time, fail, and break.
 * What a commit has not finished is the volatile part: a server that dies while its commit is under
 * way loses it or keeps it, by the draw, and knows nothing of it. What was committed is durable.
 */
#ifndef ERRATA_TESTS_SIM_SIM_STORE_H
#define ERRATA_TESTS_SIM_SIM_STORE_H

#include "tests/sim/sim.h"
#include "tests/support/store/fault_store.h"

struct sim_store {
    struct fault_store faults; /* must be the first member: makes single calls fail */
    struct store_backend_ops
        ops; /* its operations, with replaced begin, renew, commit and restore */
    const struct store_backend_ops *inner_ops;
    struct sim *sim;
    struct store_backend *disk; /* owned; what is durable */
    bool broken; /* refuses all calls until the next start */
    bool dead; /* its process was killed: as above, and nothing is counted */
    int64_t full_until_us;
    uint64_t commits; /* number of durable commits */
};

void sim_store_open(struct sim *sim);
void sim_store_close(struct sim *sim);
/* Returns the back end for the server. */
struct store_backend *sim_store_backend(struct sim *sim);
/* Called when the process has ended, or a new one starts. */
void sim_store_set_dead(struct sim *sim, bool dead);
/* A few of the next reads fail. */
void sim_store_fail_reads(struct sim *sim);
/* The disk is full for a while. */
void sim_store_fill(struct sim *sim, int64_t duration_us);

#endif
