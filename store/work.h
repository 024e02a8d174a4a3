/*
 * work.h: the path of writes to the store. A write is submitted to the writer, waits in a bounded
 * queue that is fair by organisation, runs on the writer thread in a group commit, and is answered
 * after the commit is durable. No libuv: `wake` notifies the loop that completions wait, and
 * writer_complete runs them on the loop. A request's `run` is a command of the domain, (ctx, txn,
 * org, actor, input) -> events: it decides and puts through the transaction; it may refuse only
 * before its first put (check first, then put). A late failure (full map) aborts the batch and runs
 * its members again one by one, so `run` may be called several times: it starts over each time, and
 * its results count only once `done` is called with OK. Any component may submit a request: a call,
 * a timer, a consumer of a stream, an import. A request may have an idempotency key. The first one
 * with a key runs; a repeat within 24 hours does not run, but has the events of the first; a
 * different request with the same key is refused.
 */
#ifndef ERRATA_STORE_WORK_H
#define ERRATA_STORE_WORK_H

#include "store/base/histogram.h"
#include "store/log.h"

#define WORK_QUEUE_REQUESTS_MAX 4096
#define WORK_QUEUE_BYTES_MAX (16u << 20)
#define WORK_BATCH_REQUESTS_MAX 256
#define WORK_BATCH_BYTES_MAX (4u << 20)
/* Limit of a batch's work besides its sync, estimated from the last commits. If a sync takes
 * longer, its duration is the limit: so a slow disk makes batches larger, and the work at most
 * doubles the wait. */
#define WORK_BATCH_WORK_US 20000

/* The events that a write appended, from which its response is built. */
struct work_result {
    struct org_id org; /* owner of the log */
    uint64_t
        first_seq; /* with a count of 0: the earlier event of which the response is built, or 0 */
    uint32_t count;
    bool repeated; /* found by its idempotency key; nothing was appended now */
};

struct work_request;

/* Runs on the writer thread. Sets request->written to the appended events; the organisation there
 * is request->org unless it sets another. */
typedef enum err work_run_fn(struct work_request *request, struct store_txn *txn);
/* Runs on the writer thread, in the same transaction as `run`, or without it for a repeat: builds
 * the submitter's result from request->written. It puts nothing; if it fails, nothing is stored. */
typedef enum err work_answer_fn(struct work_request *request, struct store_txn *txn);
/* Runs on the loop, in writer_complete. It may free the request. */
typedef void work_done_fn(struct work_request *request, enum err result);

/* Embedded in the caller's object; owned by the writer from writer_submit until `done`. */
struct work_request {
    struct work_request
        *next; /* next in exactly one of: an organisation's queue, a batch, completions */
    /* Organisation whose share of the queue it uses; zeros: the server itself. The request is refused if it is deleted or
     * being deleted: ERR_ORGANIZATION_DELETED. */
    struct org_id org;
    size_t bytes; /* size counted for the queue's limit */
    /* Monotonic; INT64_MAX: none. After the deadline the request is not started: ERR_DEADLINE. If
     * the last commits show that the deadline cannot be met, the request is refused earlier:
     * ERR_BUSY. */
    int64_t deadline_us;
    _Atomic bool
        cancelled; /* set by the loop; the request then ends with ERR_CANCELLED instead of being started */
    struct event_idempotency key; /* from idempotency_key_of; zeros: none */
    /* Context for `run` and `answer`: its arena is reset and its fault cleared before each run.
     * Both outlive the request. NULL if they need none, and there is no key. */
    struct ctx *ctx;
    work_run_fn *run;
    work_answer_fn *answer; /* NULL: none */
    work_done_fn *done;
    /* Owned by the writer until `done`: */
    struct work_result written; /* result of the last run, or of the write found by the key */
    enum err
        decided; /* result of the last run, explained in ctx->fault, unless `done` has another result */
    enum err result;
};

/* Runs a request once, in a write transaction: used for each member of a batch, and by callers that
 * have a transaction. ERR_EXISTS, explained in ctx->fault, if a different request had the same key;
 * else the result of `run` and `answer`. */
MUST_CHECK enum err work_run(struct work_request *request, struct store_txn *txn);

struct writer;

struct writer_config {
    struct store_backend *backend;
    const struct clock *clock;
    void (*wake)(void *user); /* reports waiting completions; called on any thread */
    void *user;
    bool manual; /* without a thread: writer_step runs a batch (for tests and simulation) */
};

/* Counters since the start, readable on the loop at any time. */
struct writer_stats {
    uint64_t commits;
    uint64_t commit_requests; /* requests in those commits */
    uint64_t commit_duration_us; /* sum */
    uint64_t commit_failures;
    struct histogram commit_sizes; /* requests of each commit, by histogram_sizes */
    struct histogram commit_durations_us; /* time of each sync, by histogram_durations_us */
    uint32_t queue_requests; /* current */
    uint32_t queue_bytes; /* current */
    int64_t
        newest_recorded_at_us; /* newest time of all organisations' events, including earlier runs; 0: none */
    bool writable; /* false if the disk is full or failing */
};

MUST_CHECK enum err writer_new(const struct writer_config *config, struct writer **ret_writer);
/* ERR_BUSY if the queue (or the organisation's half of it) is full, or if the request's deadline is
 * before the forecast end of its wait; ERR_DISK_FULL or ERR_UNAVAILABLE while nothing can be
 * written, ERR_DRAINING after writer_drain. On failure the caller keeps the request. */
MUST_CHECK enum err writer_submit(struct writer *writer, struct work_request *request);
/* Runs the waiting completions, on the loop. */
void writer_complete(struct writer *writer);
/* Runs one batch; only in manual mode. Returns the number of requests in it. */
size_t writer_step(struct writer *writer);
/* Refuses new requests, and finishes the queued ones. */
void writer_drain(struct writer *writer);
struct writer_stats writer_read_stats(struct writer *writer);
/* The number of committed batches; increased before their completions run, and before the versions
 * of their tables: a snapshot taken after reading it includes those batches. Any thread. */
uint64_t writer_commit_count(const struct writer *writer);
/* The number of committed batches that wrote to this table; increased before their completions run.
 * Shows a cache on the loop that it is stale. Any thread. */
uint64_t writer_table_version(const struct writer *writer, enum store_table table);
/* Ends the thread and frees the writer. The queue must be empty (drained and completed). NULL is
 * allowed. */
void writer_free(struct writer *writer);

/* Length limit of an idempotency key, by the contract. */
#define IDEMPOTENCY_KEY_BYTES_MAX 128
/* Returns whether the text has 1 to IDEMPOTENCY_KEY_BYTES_MAX printable ASCII characters. */
bool idempotency_key_is_valid(struct slice text);
/* Returns the key of a request: `text` (valid) is scoped to one token of an organisation and one
 * method. A submitter other than a method uses a name of its own, without NUL, and without a token
 * the key id 0. */
struct event_idempotency idempotency_key_of(struct org_id org, uint32_t token_key_id,
                                            struct slice method, struct slice text,
                                            const struct sha256_digest *request_sha256);

/* Looks up a key for work_run. OK with `ret_result` (repeated) if the same request was written
 * before, ERR_NOT_FOUND if none was, ERR_EXISTS if a different one was. */
MUST_CHECK enum err idempotency_find(struct ctx *ctx, struct store_txn *txn,
                                     const struct event_idempotency *key,
                                     struct work_result *ret_result);
/* Stores the key with the appended events (there may be none). */
MUST_CHECK enum err idempotency_keep(struct ctx *ctx, struct store_txn *txn,
                                     const struct event_idempotency *key,
                                     const struct work_result *result);
/* Does the same for a write at another time, for a replay of the log. */
MUST_CHECK enum err idempotency_keep_at(struct ctx *ctx, struct store_txn *txn,
                                        const struct event_idempotency *key,
                                        const struct work_result *result, int64_t time_us);

#endif
