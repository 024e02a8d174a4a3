/*
 * rpc.h: one call in the services; private to the pipeline's files (methods.c, receive.c, stage.c,
 * documents.c, read.c, pool_read.c, quotas.c, write.c, stream.c). In the call's arena, until rpc_finish.
 *
 *   RECEIVING --a large message of a stream--> ON_POOL --> RECEIVING
 *   RECEIVING --half-close--> [ON_POOL] --> [READ_WAITING] --> [ON_POOL] --> read and answered --> ENDED
 *                                       --> WRITING  --commit-->          ENDED
 *                                       --> STREAMING --finish, cancel--> ENDED
 *
 * READ_WAITING: waits until a read on the pool may begin; the loop owns the call. ON_POOL and
 * WRITING: the pool or the writer owns `ctx`, `service`, the request and the arenas named below;
 * the loop may only set `cancel_why` and the write's cancelled flag, and cancel the document job,
 * until the completion. A document job is open from its call's start (a streamed request) or
 * half-close on, and closed as soon as the pool is done with it, or with the call.
 */
#ifndef ERRATA_SERVER_PIPELINE_RPC_H
#define ERRATA_SERVER_PIPELINE_RPC_H

#include "server/pipeline/dispatch.h"
#include "server/pipeline/pipeline.h"

enum rpc_state {
    RPC_RECEIVING, /* the request is incomplete */
    RPC_READ_WAITING, /* the limit of reads on the pool is reached */
    RPC_ON_POOL, /* the pool checks, decodes and prepares, or reads; or decodes a streamed message */
    RPC_WRITING, /* the writer has it */
    RPC_STREAMING, /* a streamed response is being sent */
    RPC_ENDED
};

/* The state of a stream among the pipeline's streams. */
enum rpc_queue {
    RPC_IN_NONE, /* waits for the peer to read, or to send a request */
    RPC_IN_WAITING, /* in a bucket: waits for a commit to its organisation */
    RPC_IN_READY /* waits for its turn */
};

struct rpc_write; /* write.c */

struct rpc {
    struct pipeline *pipeline;
    struct call *call;
    struct rpc *next; /* next in the list of all calls that have not ended */
    struct rpc *previous;
    enum rpc_state state;
    enum err cancel_why; /* OK: not cancelled */
    const struct method_info *method;
    const struct method_handler *handler;
    struct principal principal;
    uint64_t identity_version; /* auth_version at the creation of the principal */
    int64_t token_expire_at_us; /* 0: never expires */
    struct quota_user quota_user; /* whose streams and PDFs the call counts for, if it has any */
    bool uses_quota
        [QUOTA_KIND_COUNT]; /* of streams and PDFs: one was taken, and is given back at the end */
    struct service service;
    struct ctx ctx;
    struct fault fault;
    struct slice
        message; /* bytes of the request, owned by the call; for a streamed request those on the
                  * pool, or empty */
    bool has_message;
    void *
        request; /* decoded request, in the arena of the call or of the stage; NULL for streamed requests */
    void *prepared; /* data received from a streamed request, until it is prepared */
    struct arena stage_arena; /* memory for the pool; zeros if the stage ran inline */
    enum err stage_result; /* result on the pool */
    struct rpc_write *write; /* state of a write, from its stage on */
    /* Members for a read on the pool: */
    struct buffer pool_answer; /* allocated in the stage's arena */
    struct rpc *read_next; /* next in the queue of waiting reads */
    /* Members for a stream: */
    struct stream stream;
    enum rpc_queue queue;
    struct rpc *queue_next; /* next in the queue identified by `queue` */
    struct rpc *queue_previous;
    unsigned turn_messages; /* messages sent in this turn */
    struct buffer *stream_body; /* the call's buffer of the message that is being written */
    size_t stream_start; /* start of that message in it */
    bool started; /* X_start succeeded, so X_stopped must be called */
    bool wants_events; /* stream_wait_for_events was called in this turn */
    bool is_finished; /* stream_finish was called in this turn */
    /* Members for a stream that works on the pool: */
    struct arena work_arena; /* memory of X_work, emptied after each run; zeros before the first */
    struct arena *kept_arena; /* the arena of ctx while X_work runs or waits */
    bool wants_work; /* a message was sent in this turn, so X_work runs again */
};

/* Streams of an organisation wait in the bucket of its id. */
#define PIPELINE_BUCKETS 64

struct rpc_list {
    struct rpc *first;
    struct rpc *last;
};

/* Reads on the pool. */
struct rpc_reads {
    struct rpc *running[PIPELINE_POOL_READS_MAX]; /* running reads, or NULL */
    struct rpc *first; /* waiting reads, oldest first */
    unsigned waiting_count;
};

/* The last log line about the clock (clock_check.c). */
struct clock_line {
    bool is_ahead; /* the event log is ahead of the clock by more than ENV_LOG_AHEAD_US_MAX */
    bool was_written;
    int64_t written_us; /* monotonic */
};

/* State of the log lines of one kind of refusal. */
struct refusal_log {
    bool has_line; /* a line has been logged */
    int64_t next_us; /* earliest time of the next line, by the monotonic clock */
    uint64_t count; /* refusals since the last line */
};

struct pipeline {
    struct pipeline_config config;
    struct call_handlers handlers;
    struct store_txn *read_txn; /* reset at the end of each turn of the loop */
    uint64_t read_commits; /* commits of the writer before the snapshot of `read_txn` */
    bool reading; /* between pipeline_begin_read and its end */
    struct rpc *live;
    size_t live_count;
    size_t stream_count;
    struct rpc_list waiting[PIPELINE_BUCKETS];
    struct rpc_list ready;
    struct rpc_reads reads;
    bool draining;
    struct arena arenas[PIPELINE_ARENAS_MAX]; /* arenas that were reset for reuse */
    size_t arena_count;
    struct clock_line clock_line;
    struct refusal_log refusals[REFUSAL_KIND_COUNT];
    uint64_t reported_fallbacks; /* fallbacks of the sanitiser that have been logged */
    uint32_t *
        likely_bytes; /* expected size of a method's next response, by index: that of its last one */
};

/* methods.c */
/* Sets rpc->principal, the identity of the caller. */
MUST_CHECK enum err rpc_authenticate(struct rpc *rpc);
/* Returns whether the token has expired since then. */
bool rpc_has_expired(const struct rpc *rpc);
/* Ends the call with a status built from `result` and the fault. The rpc must not be used
 * afterwards. */
void rpc_finish(struct rpc *rpc, enum err result);
/* Returns the arguments for a function of the method; `body` and `txn` may be NULL. */
struct method_call rpc_method_call(struct rpc *rpc, struct store_txn *txn, struct buffer *body);
/* Continues with the transaction, after the stage; on the loop. */
void rpc_continue(struct rpc *rpc, enum err result);
/* Returns the shared read transaction, whose snapshot has everything that is committed now: the
 * reads of a turn share a snapshot until the next commit. Each begin must be followed by its end
 * before the next begin. */
MUST_CHECK enum err pipeline_begin_read(struct pipeline *pipeline, struct store_txn **ret_txn);
void pipeline_end_read(struct pipeline *pipeline);
/* Take an empty arena, and give it back. */
struct arena pipeline_take_arena(struct pipeline *pipeline, size_t limit_bytes);
void pipeline_give_arena(struct pipeline *pipeline, struct arena *arena);

/* refusals.c */
/* Refused part of a call, for the log. */
struct refused {
    struct slice peer;
    struct slice method; /* path of the method, or of a plain request */
    const struct principal *principal; /* NULL: unknown */
};
/* Counts a result, and logs it at intervals, if it is a refusal of one of these kinds. */
void pipeline_note_refusal(struct pipeline *pipeline, const struct refused *refused,
                           enum err result);
/* Does the same at the end of a call. */
void rpc_note_refusal(const struct rpc *rpc, enum err result);

/* quotas.c: all on the loop. ERR_QUOTA, with a fault, beyond a limit. */
/* Counts the call as a request of its organisation and token. */
MUST_CHECK enum err rpc_quota_admit(struct rpc *rpc);
/* Counts a stream or a PDF, unless the method needs no token; gives back what was counted. */
MUST_CHECK enum err rpc_quota_take(struct rpc *rpc, enum quota_kind kind);
void rpc_quota_give(struct rpc *rpc, enum quota_kind kind);
/* Checks that the organisation may store more. */
MUST_CHECK enum err rpc_quota_check_storage(struct rpc *rpc);

/* receive.c */
/* Begins a streamed request: opens the resources that its messages need. May end the call. */
void rpc_receive_start(struct rpc *rpc);
/* Handles one message of a streamed request; an error ends the call. */
void rpc_receive_message(struct rpc *rpc, struct slice message);

/* documents.c */
static inline bool rpc_takes_document(const struct rpc *rpc)
{
    return rpc->method->stage == METHOD_PREPARE_DOCUMENT;
}
/* Returns OK if documents can be accepted. */
MUST_CHECK enum err rpc_document_admit(struct rpc *rpc);
/* Opens the call's document job, with room for `size` bytes. */
MUST_CHECK enum err rpc_document_open(struct rpc *rpc, size_t size);
/* Queues `work` as the job's; after an error neither runs. */
MUST_CHECK enum err rpc_document_submit(struct rpc *rpc, void (*work)(void *job),
                                        void (*done)(void *job, enum err result));
/* Returns the error of a job or of its work, after adding a message to the fault if there is
 * none. */
enum err rpc_document_explain(struct rpc *rpc, enum err err);
/* Makes a queued or running job end soon. */
void rpc_document_cancel(struct rpc *rpc);
/* Closes the job, if there is one; it must not be on the pool. */
void rpc_document_close(struct rpc *rpc);

/* stage.c */
/* Checks, decodes and prepares; inline, or on the pool. Ends in rpc_continue. */
void rpc_stage(struct rpc *rpc);
/* Checks a message and decodes it into ctx->arena, as rpc->request. */
MUST_CHECK enum err rpc_decode(struct rpc *rpc, struct slice message);

/* read.c */
/* Appends the reply of a read to `body`. */
MUST_CHECK enum err rpc_read(struct rpc *rpc, struct store_txn *txn, struct buffer *body);
/* Determines whether the read is long; if it is short, keeps the data that X_cost prepared. */
MUST_CHECK enum err rpc_find_cost(struct rpc *rpc, struct store_txn *txn, enum read_cost *ret_cost);
/* Removes from a response, which starts at `start` in `body`, the fields that the caller's role may
 * not see. */
MUST_CHECK enum err rpc_redact(const struct rpc *rpc, struct buffer *body, size_t start);

/* pool_read.c */
/* Runs the read on the pool, immediately or after others have ended, and ends the call; of a stream, runs its work,
 * and gives it a turn. */
void rpc_pool_read(struct rpc *rpc);
/* Removes a waiting read from the queue. */
void rpc_pool_read_leave(struct rpc *rpc);

/* write.c */
/* Creates rpc->write, with the checked idempotency key of the call's metadata; on the loop. */
MUST_CHECK enum err rpc_write_begin(struct rpc *rpc);
/* Hashes the key and the request; in the stage, after the preparation of a streamed request. */
void rpc_write_hash(struct rpc *rpc);
/* Passes the write to the writer; its completion ends the call. */
void rpc_write_submit(struct rpc *rpc);
void rpc_write_cancel(struct rpc *rpc);
/* Returns the arena of the write, which must be given back after the call's end; a zeroed one if
 * there is none. */
struct arena rpc_write_take_arena(struct rpc *rpc);

/* stream.c */
void rpc_stream_start(struct rpc *rpc);
void rpc_stream_message(struct rpc *rpc, struct slice message);
/* Reports that the peer has read, so that more may be sent. */
void rpc_stream_writable(struct rpc *rpc);
/* Gives the stream a turn after its work on the pool, or ends it with the error of the work. */
void rpc_stream_worked(struct rpc *rpc, enum err result);
/* Takes a stream out of its queue and reports its end to its method. */
void rpc_stream_stop(struct rpc *rpc);

#endif
