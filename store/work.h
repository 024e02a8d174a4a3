/*
 * work.h: how writes reach the store. A write is handed to the writer, waits in a bounded queue that
 * is fair by organisation, runs on the writer thread inside a group commit, and is answered after
 * the commit is durable. Nothing here knows libuv: `wake` is how the writer lets the loop know that
 * completions wait, and writer_complete runs them on the loop.
 *
 * A request's `run` is a command of the domain, (ctx, txn, org, actor, input) -> events: it decides and puts
 * through the transaction; it fails by its own decision only before its first put (check first, then put).
 * A late failure (full map) aborts the batch and runs its members again one by one, so `run` may be called
 * more than once: it starts from scratch each time, and its results count only once `done` is called with OK.
 * Who submits a request is of no account here: a call, a timer, a consumer of a stream, an import.
 *
 * A request may have an idempotency key. The first one under a key runs; a repeat of it within 24 hours does
 * not, but has the events of the first; another request under the same key is refused.
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

/* Runs on the writer thread. Leaves in request->written what it appended; the organisation there is
 * request->org until it says otherwise. */
typedef enum err work_run_fn(struct work_request *request, struct store_txn *txn);
/* Runs on the writer thread, in the same transaction as `run`, or for a repeat without it: makes of
 * request->written what the submitter wants to know. It puts nothing; what it refuses is not stored. */
typedef enum err work_answer_fn(struct work_request *request, struct store_txn *txn);
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
    struct event_idempotency key; /* idempotency_key_of; zeroed: none */
    /* What `run` and `answer` work with: its arena is emptied and its fault cleared before each run. Both
     * outlive the request. NULL: they need none, and there is no key. */
    struct ctx *ctx;
    work_run_fn *run;
    work_answer_fn *answer; /* NULL: none is made */
    work_done_fn *done;
    /* The writer's until done: */
    struct work_result written; /* by the last run, or found under the key */
    enum err
        decided; /* of the last run: what ctx->fault explains, unless `done` has another result */
    enum err result;
};

/* Runs a request once, in a write transaction: what a batch does for each of its members, and a caller with a
 * transaction of its own. ERR_EXISTS, explained in ctx->fault, where another request had the same key; else
 * what `run` and `answer` give. */
MUST_CHECK enum err work_run(struct work_request *request, struct store_txn *txn);

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
/* Runs one batch now; manual mode only. Returns the number of requests it took. */
size_t writer_step(struct writer *writer);
/* Takes no more, and finishes what is queued. */
void writer_drain(struct writer *writer);
struct writer_stats writer_read_stats(struct writer *writer);
/* How many batches were committed; grows before their completions run, and before the versions of
 * their tables do: a snapshot taken after this number has all that those batches wrote. Any
 * thread. */
uint64_t writer_commit_count(const struct writer *writer);
/* How often a committed batch wrote to this table; grows before the batch's completions run. Lets a
 * cache on the loop know when it is stale. Any thread. */
uint64_t writer_table_version(const struct writer *writer, enum store_table table);
/* Ends the thread; the queue must be empty (drained and completed). Accepts NULL. */
void writer_free(struct writer *writer);

/* The most characters of an idempotency key, by the contract. */
#define IDEMPOTENCY_KEY_BYTES_MAX 128
/* 1 to IDEMPOTENCY_KEY_BYTES_MAX printable ASCII characters. */
bool idempotency_key_is_valid(struct slice text);
/* The key of a request: `text` (valid) counts for one token of an organisation and one method. A submitter
 * that is no method has a name of its own, without NUL, and without a token the key id 0. */
struct event_idempotency idempotency_key_of(struct org_id org, uint32_t token_key_id,
                                            struct slice method, struct slice text,
                                            const struct sha256_digest *request_sha256);

/* What work_run does with a key. An earlier write under the same key: OK with `ret_result`
 * (repeated) where the same request was written, ERR_NOT_FOUND if none was, ERR_EXISTS if another
 * request was. */
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
