/*
 * rpc.h: one call inside the services, only for the pipeline's files (methods.c, receive.c, stage.c,
 * documents.c, read.c, pool_read.c, write.c, stream.c). Lives in the call's arena until rpc_finish.
 *
 *   RECEIVING --a large message of a stream--> ON_POOL --> RECEIVING
 *   RECEIVING --half-close--> [ON_POOL] --> [READ_WAITING] --> [ON_POOL] --> read and answered --> ENDED
 *                                       --> WRITING  --commit-->          ENDED
 *                                       --> STREAMING --finish, cancel--> ENDED
 *
 * READ_WAITING: until a read on the pool may begin; the call is the loop's. ON_POOL and WRITING: the pool or the writer owns `ctx`, `service`, the request and the arenas named
 * below; the loop may only set `cancel_why` and the write's cancelled flag, and cancel the document
 * job, until the completion. A document job is open from its call's start (a streamed request) or
 * half-close on, and closed as soon as the pool is done with it, or with the call.
 */
#ifndef ERRATA_SERVER_PIPELINE_RPC_H
#define ERRATA_SERVER_PIPELINE_RPC_H

#include "server/pipeline/dispatch.h"
#include "server/pipeline/pipeline.h"

enum rpc_state {
    RPC_RECEIVING, /* its request has not come whole */
    RPC_READ_WAITING, /* as many reads as may be are on the pool */
    RPC_ON_POOL, /* the pool checks, decodes and prepares, or reads; or decodes a streamed message */
    RPC_WRITING, /* the writer has it */
    RPC_STREAMING, /* a streamed answer is under way */
    RPC_ENDED
};

/* The place of a stream among those of its services. */
enum rpc_queue {
    RPC_IN_NONE, /* the peer has to read first, or a request has to come */
    RPC_IN_WAITING, /* a bucket: until a commit to its organisation */
    RPC_IN_READY /* its turn comes */
};

struct rpc_write; /* write.c */

struct rpc {
    struct pipeline *pipeline;
    struct call *call;
    struct rpc *next; /* all that have not ended */
    struct rpc *previous;
    enum rpc_state state;
    enum err cancel_why; /* OK: not cancelled */
    const struct method_info *method;
    const struct method_handler *handler;
    struct principal principal;
    uint64_t token_version; /* of the TOKEN table, when the principal was made */
    int64_t token_expire_at_us; /* 0: never */
    struct service service;
    struct ctx ctx;
    struct fault fault;
    struct slice
        message; /* the request's bytes, the call's; of a streamed request those on the pool, or empty */
    bool has_message;
    void *request; /* unpacked; in the call's or the stage's arena; NULL where they are streamed */
    void *prepared; /* of a streamed request: what was received, until it is prepared */
    struct arena stage_arena; /* what the pool works in; zeroed where it stayed inline */
    enum err stage_result; /* of the pool */
    struct rpc_write *write; /* of a write, from its stage on */
    /* Of a read on the pool: */
    struct buffer pool_answer; /* in the stage's arena */
    struct rpc *read_next; /* of those that wait */
    /* Of a stream: */
    struct stream stream;
    enum rpc_queue queue;
    struct rpc *queue_next; /* in the queue that `queue` names */
    struct rpc *queue_previous;
    unsigned turn_messages; /* sent in this turn */
    struct buffer *stream_body; /* the call's, with the message that is being written */
    size_t stream_start; /* of that message in it */
    bool started; /* X_start succeeded: X_stopped is due */
    bool wants_events; /* stream_wait_for_events was called in this turn */
    bool is_finished; /* stream_finish was called in this turn */
};

/* Streams of an organisation wait in the bucket of its id. */
#define PIPELINE_BUCKETS 64

struct rpc_list {
    struct rpc *first;
    struct rpc *last;
};

/* Reads on the pool. */
struct rpc_reads {
    struct rpc *running[PIPELINE_POOL_READS_MAX]; /* or NULL */
    struct rpc *first; /* of those that wait, oldest first */
    unsigned waiting_count;
};

/* What the log said last of the clock (clock_check.c). */
struct clock_line {
    bool is_ahead; /* the event log is, by more than ENV_LOG_AHEAD_US_MAX */
    bool was_written;
    int64_t written_us; /* monotonic */
};

/* One kind of refusal, as the log has it. */
struct refusal_log {
    bool has_line; /* there was one */
    int64_t next_us; /* monotonic; no line before it */
    uint64_t count; /* since the last line */
};

struct pipeline {
    struct pipeline_config config;
    struct call_handlers handlers;
    struct store_txn *read_txn; /* reset at the end of each turn of the loop */
    uint64_t read_commits; /* of the writer, before the snapshot of `read_txn` was taken */
    bool reading; /* between pipeline_begin_read and its end */
    struct rpc *live;
    size_t live_count;
    size_t stream_count;
    struct rpc_list waiting[PIPELINE_BUCKETS];
    struct rpc_list ready;
    struct rpc_reads reads;
    bool draining;
    struct arena arenas[PIPELINE_ARENAS_MAX]; /* reset, for reuse */
    size_t arena_count;
    struct clock_line clock_line;
    struct refusal_log refusals[REFUSAL_KIND_COUNT];
    uint64_t reported_fallbacks; /* of the sanitiser, which were logged */
    uint32_t *likely_bytes; /* of a method's next answer, by index: the size of its last */
};

/* methods.c */
/* The identity of the caller, into rpc->principal. */
MUST_CHECK enum err rpc_authenticate(struct rpc *rpc);
/* The token has ended since then. */
bool rpc_has_expired(const struct rpc *rpc);
/* Ends the call with a status made of `result` and the fault. Nothing touches the rpc after it. */
void rpc_finish(struct rpc *rpc, enum err result);
/* What a function of the method is called with; `body` and `txn` may be NULL. */
struct method_call rpc_method_call(struct rpc *rpc, struct store_txn *txn, struct buffer *body);
/* The stage is over (on the loop): into the transaction. */
void rpc_continue(struct rpc *rpc, enum err result);
/* The kept read transaction, with a snapshot that has all that was committed when it is asked for: the
 * reads of a turn share one until something is. Every begin has its end before the next. */
MUST_CHECK enum err pipeline_begin_read(struct pipeline *pipeline, struct store_txn **ret_txn);
void pipeline_end_read(struct pipeline *pipeline);
/* An empty arena, and its way back. */
struct arena pipeline_take_arena(struct pipeline *pipeline, size_t limit_bytes);
void pipeline_give_arena(struct pipeline *pipeline, struct arena *arena);

/* refusals.c */
/* Counts the end of a call, and writes a line now and then, if it is a refusal of a kind above. */
void rpc_note_refusal(const struct rpc *rpc, enum err result);

/* receive.c */
/* A streamed request begins: what its messages need is opened. May end the call. */
void rpc_receive_start(struct rpc *rpc);
/* One message of it; an error ends the call. */
void rpc_receive_message(struct rpc *rpc, struct slice message);

/* documents.c */
static inline bool rpc_takes_document(const struct rpc *rpc)
{
    return rpc->method->stage == METHOD_PREPARE_DOCUMENT;
}
/* Whether documents can be taken at all. */
MUST_CHECK enum err rpc_document_admit(struct rpc *rpc);
/* Opens the call's document job, with room for `size` bytes. */
MUST_CHECK enum err rpc_document_open(struct rpc *rpc, size_t size);
/* Queues `work` as the job's; after an error neither runs. */
MUST_CHECK enum err rpc_document_submit(struct rpc *rpc, void (*work)(void *job),
                                        void (*done)(void *job, enum err result));
/* The job has ended with an error, its work's or its own: the same error, with a sentence where it has
 * none. */
enum err rpc_document_explain(struct rpc *rpc, enum err err);
/* Has a queued or running job end soon. */
void rpc_document_cancel(struct rpc *rpc);
/* Closes the job, where there is one; the pool does not have it. */
void rpc_document_close(struct rpc *rpc);

/* stage.c */
/* Checks, decodes and prepares; inline, or on the pool. Ends in rpc_continue. */
void rpc_stage(struct rpc *rpc);
/* Checks a message and decodes it into ctx->arena, as rpc->request. */
MUST_CHECK enum err rpc_decode(struct rpc *rpc, struct slice message);

/* read.c */
/* Appends the reply of a read to `body`. */
MUST_CHECK enum err rpc_read(struct rpc *rpc, struct store_txn *txn, struct buffer *body);
/* Whether the read is long; keeps what X_cost prepared if it is short. */
MUST_CHECK enum err rpc_find_cost(struct rpc *rpc, struct store_txn *txn, enum read_cost *ret_cost);
/* Removes from a reply, which `body` has from `start` on, what the caller's role may not see. */
MUST_CHECK enum err rpc_redact(const struct rpc *rpc, struct buffer *body, size_t start);

/* pool_read.c */
/* Has the read run on the pool, now or once others are done. Ends the call. */
void rpc_pool_read(struct rpc *rpc);
/* Takes a read that waits out of the line. */
void rpc_pool_read_leave(struct rpc *rpc);

/* write.c */
/* Makes rpc->write, with the idempotency key of the call's metadata, checked; on the loop. */
MUST_CHECK enum err rpc_write_begin(struct rpc *rpc);
/* Hashes the key and the request; in the stage, after the preparation of a streamed request. */
void rpc_write_hash(struct rpc *rpc);
/* Hands the write to the writer; its completion ends the call. */
void rpc_write_submit(struct rpc *rpc);
void rpc_write_cancel(struct rpc *rpc);
/* The arena of the write, to be given back after the call's end; a zeroed one where there is none. */
struct arena rpc_write_take_arena(struct rpc *rpc);

/* stream.c */
void rpc_stream_start(struct rpc *rpc);
void rpc_stream_message(struct rpc *rpc, struct slice message);
/* The peer has read: more may be sent. */
void rpc_stream_writable(struct rpc *rpc);
/* Takes a stream out of its queue and reports its end to its method. */
void rpc_stream_stop(struct rpc *rpc);

#endif
