/*
 * writer_internal.h: the writer's struct; private to writer*.c.
 */
#ifndef ERRATA_STORE_WRITER_INTERNAL_H
#define ERRATA_STORE_WRITER_INTERNAL_H

#include "store/idempotency.h"
#include "store/log_engine.h"
#include "store/writer_cost.h"
#include "store/writer_gather.h"
#include "store/writer_queue.h"

#include <pthread.h>
#include <stdatomic.h>

/* Result of a submitted request. */
enum writer_state {
    WRITER_OPEN,
    WRITER_FULL, /* the disk or the map: ERR_DISK_FULL until a probe succeeds */
    WRITER_FAILING /* syncs fail, or the store is broken: ERR_UNAVAILABLE until a probe succeeds */
};

struct writer {
    struct writer_config config;
    const struct log_engine *engine;
    pthread_t thread;
    bool has_thread;

    /* Used only by the writing side: the thread, or writer_step. */
    struct idempotency_time key_time;
    struct idempotency_sweep sweep;
    uint32_t failures_in_a_row; /* consecutive commits that failed because of the disk */
    int64_t next_probe_us; /* monotonic */

    atomic_uint_fast64_t commits;
    atomic_uint_fast64_t versions[TABLE_COUNT];

    pthread_mutex_t lock; /* protects all fields below */
    pthread_cond_t work; /* the thread waits here for requests, state and stop */
    struct writer_queue queue;
    struct writer_cost
        cost; /* changed only by the writing thread, which reads it without the lock */
    struct writer_gather gather;
    /* Monotonic; start and forecast end of the running batch. 0: none runs. */
    int64_t batch_start_us;
    int64_t batch_end_us;
    struct work_request *completed; /* completed requests, oldest first */
    struct work_request *completed_last;
    enum writer_state state;
    bool draining;
    bool stopping;
    struct writer_stats stats; /* statistics except queue_* and writable */
};

/* Requests that are written together. */
struct batch {
    struct work_request *requests[WORK_BATCH_REQUESTS_MAX];
    size_t count;
};

/* Writes a batch and sets each request's result. Returns the state of the disk: OK, or why nothing
 * can be written now. */
MUST_CHECK enum err writer_write_batch(struct writer *writer, struct batch *batch);
/* Makes a small test write, after the reserve was recreated. */
MUST_CHECK enum err writer_probe(struct writer *writer);

#endif
