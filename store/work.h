/*
 * work.h: how writes reach the store. A write is handed to the writer, waits in a bounded queue that
 * is fair by organisation, runs on the writer thread inside a group commit, and is answered after
 * the commit is durable. Nothing here knows libuv: `wake` is how the writer tells the loop that
 * completions wait, and writer_complete runs them on the loop.
 *
 * A request's `run` decides and puts through the transaction; it fails by its own decision only
 * before its first put (check first, then put). A late failure (full map) aborts the batch and runs
 * its members again one by one, so `run` may be called more than once: it starts from scratch each
 * time, and its results count only once `done` is called with OK.
 */
#ifndef ERRATA_STORE_WORK_H
#define ERRATA_STORE_WORK_H

#include "store/log.h"

#define WORK_QUEUE_REQUESTS_MAX 4096
#define WORK_QUEUE_BYTES_MAX (16u << 20)
#define WORK_BATCH_REQUESTS_MAX 256
#define WORK_BATCH_BYTES_MAX (4u << 20)
/* What the requests of a batch cost beside its sync, by the last commits; or as long as the sync takes, if
 * that is longer: then a slow disk makes batches larger, and the work at most doubles the wait. */
#define WORK_BATCH_WORK_US 20000

/* What a write appended: its answer is a function of these. */
struct work_result {
    struct org_id org; /* whose log */
    uint64_t first_seq;
    uint32_t count;
    bool repeated; /* found under its idempotency key; nothing was appended now */
};

struct work_request;

/* Runs on the writer thread. */
typedef enum err work_run_fn(struct work_request *request, struct store_txn *txn);
/* Runs on the loop, in writer_complete. Everything of the request may be freed in it. */
typedef void work_done_fn(struct work_request *request, enum err result);

/* Embedded in the caller's own object; the writer's from writer_submit until `done`. */
struct work_request {
    struct work_request
        *next; /* in exactly one of: an organisation's queue, a batch, completions */
    struct org_id org; /* whose share of the queue it takes */
    size_t bytes; /* what it counts for in the queue */
    /* Monotonic; INT64_MAX: none. Not started after it: ERR_DEADLINE. Refused before it if the last
     * commits show that it cannot be met: ERR_BUSY. */
    int64_t deadline_us;
    _Atomic bool cancelled; /* set by the loop; not started after it: ERR_CANCELLED */
    work_run_fn *run;
    work_done_fn *done;
    enum err result; /* the writer's until done */
};

struct writer;

struct writer_config {
    struct store_backend *backend;
    const struct clock *clock;
    void (*wake)(void *user); /* any thread; completions wait */
    void *user;
    bool manual; /* no thread: writer_step runs a batch (tests, simulation) */
};

/* Numbers since start, readable from the loop at any time. */
struct writer_stats {
    uint64_t commits;
    uint64_t commit_requests; /* requests in them */
    uint64_t commit_duration_us; /* sum */
    uint64_t commit_failures;
    uint32_t queue_requests; /* now */
    uint32_t queue_bytes; /* now */
    int64_t newest_recorded_at_us; /* of all organisations' events, also those of before; 0: none */
    bool writable; /* false: the disk is full or failing */
};

MUST_CHECK enum err writer_new(const struct writer_config *config, struct writer **ret_writer);
/* ERR_BUSY if the queue (or the organisation's half of it) is full, or if the forecast of the queue's
 * wait misses the request's deadline; ERR_DISK_FULL or ERR_UNAVAILABLE while nothing can be written,
 * ERR_DRAINING after writer_drain. On failure the request stays the caller's. */
MUST_CHECK enum err writer_submit(struct writer *writer, struct work_request *request);
/* Runs the completions that wait; on the loop. */
void writer_complete(struct writer *writer);
/* Runs one batch now; manual mode alone. Gives the number of requests it took. */
size_t writer_step(struct writer *writer);
/* Takes no more, and finishes what is queued. */
void writer_drain(struct writer *writer);
struct writer_stats writer_read_stats(struct writer *writer);
/* How many batches were committed; grows before their completions run, and before the versions of
 * their tables do: whoever takes a snapshot behind this number has all that those batches wrote. Any
 * thread. */
uint64_t writer_commit_count(const struct writer *writer);
/* How often a committed batch wrote to this table; grows before the batch's completions run. Lets a
 * cache on the loop know when it is stale. Any thread. */
uint64_t writer_table_version(const struct writer *writer, enum store_table table);
/* Ends the thread; the queue must be empty (drained and completed). Takes NULL. */
void writer_free(struct writer *writer);

/* Idempotency, inside `run`: an earlier write under the same key.
 * OK with `ret_result` (repeated) where the same request was written, ERR_NOT_FOUND where none was,
 * ERR_EXISTS where another request was. */
MUST_CHECK enum err idempotency_find(struct ctx *ctx, struct store_txn *txn,
                                     const struct event_idempotency *key,
                                     struct work_result *ret_result);
/* Keeps the key with what the write appended (an append may be none). */
MUST_CHECK enum err idempotency_keep(struct ctx *ctx, struct store_txn *txn,
                                     const struct event_idempotency *key,
                                     const struct work_result *result);
/* The same for a write of another time: what a replay of the log does. */
MUST_CHECK enum err idempotency_keep_at(struct ctx *ctx, struct store_txn *txn,
                                        const struct event_idempotency *key,
                                        const struct work_result *result, int64_t time_us);

#endif
