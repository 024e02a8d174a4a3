/*
 * stream.c: streamed responses. A stream gets a turn when it starts, when its peer has read, and
 * after a commit to its organisation's log. The work of a turn is bounded, and so is that of all
 * streams in one turn of the loop, so that a thousand watchers do not delay a lookup. The output of
 * a stream is limited by its connection: the stream waits for a slow peer and does not buffer.
 */
#include "server/pipeline/rpc.h"

#include "store/base/assert.h"

#include <errata/contract_methods.h>
#include <stddef.h>

static struct rpc_list *bucket_of(struct pipeline *pipeline, struct org_id org)
{
    return &pipeline->waiting[org.uuid.bytes[UUID_BYTES - 1] % PIPELINE_BUCKETS];
}

/* Returns the list of a queue; NULL for a stream in no queue. */
static struct rpc_list *list_of(const struct rpc *rpc, enum rpc_queue queue)
{
    return queue == RPC_IN_READY ? &rpc->pipeline->ready
                                 : bucket_of(rpc->pipeline, rpc->principal.org);
}

static void leave_queue(struct rpc *rpc)
{
    struct rpc_list *list = list_of(rpc, rpc->queue);

    if (rpc->queue == RPC_IN_NONE) {
        return;
    }
    if (rpc->queue_previous != NULL) {
        rpc->queue_previous->queue_next = rpc->queue_next;
    } else {
        list->first = rpc->queue_next;
    }
    if (rpc->queue_next != NULL) {
        rpc->queue_next->queue_previous = rpc->queue_previous;
    } else {
        list->last = rpc->queue_previous;
    }
    rpc->queue_next = NULL;
    rpc->queue_previous = NULL;
    rpc->queue = RPC_IN_NONE;
}

/* Appends the stream to the list of a queue. */
static void enter_queue(struct rpc *rpc, enum rpc_queue queue)
{
    struct rpc_list *list = list_of(rpc, queue);

    ASSERT(queue != RPC_IN_NONE);
    leave_queue(rpc);
    rpc->queue = queue;
    rpc->queue_previous = list->last;
    if (list->last != NULL) {
        list->last->queue_next = rpc;
    } else {
        list->first = rpc;
    }
    list->last = rpc;
}

/* Schedules a turn of the stream. */
static void make_ready(struct rpc *rpc)
{
    if (rpc->queue != RPC_IN_READY) {
        enter_queue(rpc, RPC_IN_READY);
        rpc->pipeline->config.want_turn(rpc->pipeline->config.user);
    }
}

static void end_stream(struct rpc *rpc, enum err result)
{
    rpc_stream_stop(rpc);
    rpc_finish(rpc, result);
}

/* Runs X_writable once, within its snapshot if the method uses one. */
static enum err run_writable(struct rpc *rpc)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct store_txn *txn = NULL;
    struct method_call call;
    enum err err = OK;

    if (rpc->method->transaction == METHOD_READ) {
        err = pipeline_begin_read(pipeline, &txn);
        if (err != OK) {
            return err;
        }
    }
    call = rpc_method_call(rpc, txn, NULL);
    err = rpc->handler->writable(&call);
    if (txn != NULL) {
        pipeline_end_read(pipeline);
    }
    return err;
}

/* Runs a turn, and puts the stream into the queue where it waits next; an error ends it. */
static enum err take_turn(struct rpc *rpc)
{
    /* A token that has expired or was revoked meanwhile, or whose organisation was suspended, ends the stream. */
    enum err err = rpc->method->open ? OK : rpc_authenticate(rpc);

    if (err == OK) {
        err = run_writable(rpc);
    }
    if (err != OK || rpc->is_finished) {
        return err;
    }
    if (rpc->handler->work != NULL && !rpc->wants_events) {
        rpc->wants_work = rpc->turn_messages > 0; /* else its peer has to read first */
        return OK;
    }
    if (rpc->wants_events && rpc->pipeline->draining) {
        return ERR_DRAINING;
    }
    if (rpc->wants_events) {
        enter_queue(rpc, RPC_IN_WAITING);
    } else if (call_writable(rpc->call)) {
        make_ready(rpc);
    }
    return OK;
}

/* Runs one turn with a temporary arena, since a stream may live for months. */
static void run_turn(struct rpc *rpc)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct arena turn = pipeline_take_arena(pipeline, PIPELINE_TURN_BYTES_MAX);
    struct arena *kept = rpc->ctx.arena;
    bool wants_work = false;
    enum err result = OK;

    leave_queue(rpc);
    rpc->turn_messages = 0;
    rpc->wants_events = false;
    rpc->wants_work = false;
    rpc->is_finished = false;
    rpc->ctx.arena = &turn;
    fault_init(&rpc->fault, &turn);
    result = take_turn(rpc);
    if (result != OK || rpc->is_finished) {
        end_stream(rpc, result);
    } else {
        rpc->ctx.arena = kept;
        fault_init(&rpc->fault, kept);
        wants_work = rpc->wants_work;
    }
    pipeline_give_arena(pipeline, &turn);
    if (wants_work) {
        rpc_pool_read(rpc);
    }
}

void rpc_stream_worked(struct rpc *rpc, enum err result)
{
    if (result != OK) {
        end_stream(rpc, result);
        return;
    }
    rpc->ctx.arena = rpc->kept_arena;
    fault_init(&rpc->fault, rpc->kept_arena);
    arena_reset(&rpc->work_arena);
    make_ready(rpc);
}

void rpc_stream_start(struct rpc *rpc)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct method_call call = rpc_method_call(rpc, NULL, NULL);
    enum err err = OK;

    if (pipeline->stream_count >= PIPELINE_STREAMS_MAX) {
        rpc_finish(rpc, ERR_BUSY);
        return;
    }
    err = rpc_quota_take(rpc, QUOTA_STREAMS);
    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    rpc->stream = (struct stream){.service = &rpc->service};
    pipeline->stream_count++;
    rpc->state = RPC_STREAMING;
    err = rpc->handler->start(&call);
    rpc->started = err == OK;
    if (err != OK) {
        end_stream(rpc, err);
    } else if (rpc->handler->work != NULL) {
        rpc_pool_read(rpc);
    } else if (rpc->handler->writable != NULL) {
        make_ready(rpc);
    }
}

/* Handles one request of a bidi stream; an error ends it. */
static enum err take_message(struct rpc *rpc, struct slice message)
{
    enum err err = OK;

    if (!call_writable(rpc->call)) {
        return fault_say(&rpc->fault, ERR_BUSY,
                         "stream: responses to earlier requests have not been read; expected them "
                         "to be read first");
    }
    if (message.size > PIPELINE_INLINE_BYTES_MAX) {
        return fault_say(&rpc->fault, ERR_TOO_LARGE,
                         "message: %zu bytes; expected at most %d in a request of this stream",
                         message.size, PIPELINE_INLINE_BYTES_MAX);
    }
    err = rpc_decode(rpc, message);
    if (err == OK) {
        struct method_call call = rpc_method_call(rpc, NULL, NULL);

        err = rpc->handler->message(&call);
    }
    return err;
}

void rpc_stream_message(struct rpc *rpc, struct slice message)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct arena turn = pipeline_take_arena(pipeline, PIPELINE_TURN_BYTES_MAX);
    struct arena *kept = rpc->ctx.arena;
    enum err result = OK;

    rpc->turn_messages = 0;
    rpc->ctx.arena = &turn;
    fault_init(&rpc->fault, &turn);
    result = take_message(rpc, message);
    if (result != OK) {
        end_stream(rpc, result);
    } else {
        rpc->ctx.arena = kept;
        fault_init(&rpc->fault, kept);
    }
    pipeline_give_arena(pipeline, &turn);
}

void rpc_stream_writable(struct rpc *rpc)
{
    if (rpc->queue == RPC_IN_NONE && rpc->handler->writable != NULL) {
        make_ready(rpc);
    }
}

void rpc_stream_stop(struct rpc *rpc)
{
    leave_queue(rpc);
    rpc->pipeline->stream_count--;
    if (rpc->started) {
        struct method_call call = rpc_method_call(rpc, NULL, NULL);

        rpc->started = false;
        rpc->handler->stopped(&call);
    }
}

/* Wakes the waiting streams of an organisation; only those of one method, if one is given. */
static void wake(struct pipeline *pipeline, struct org_id org, const struct method_handler *method)
{
    struct rpc *rpc = bucket_of(pipeline, org)->first;

    while (rpc != NULL) {
        struct rpc *next = rpc->queue_next;

        if (uuid_equal(rpc->principal.org.uuid, org.uuid) &&
            (method == NULL || rpc->handler == method)) {
            make_ready(rpc);
        }
        rpc = next;
    }
}

void pipeline_wake(struct pipeline *pipeline, struct org_id org)
{
    wake(pipeline, org, NULL);
}

void pipeline_wake_verify(struct pipeline *pipeline, struct org_id org)
{
    wake(pipeline, org, &dispatch_handlers[CONTRACT_METHOD_ADMIN_SERVICE_VERIFY]);
}

void pipeline_wake_backup(struct pipeline *pipeline, struct org_id org)
{
    wake(pipeline, org, &dispatch_handlers[CONTRACT_METHOD_ADMIN_SERVICE_BACKUP]);
}

void pipeline_end_backup(struct pipeline *pipeline)
{
    const struct method_handler *method = &dispatch_handlers[CONTRACT_METHOD_ADMIN_SERVICE_BACKUP];

    for (struct rpc *rpc = pipeline->live; rpc != NULL; rpc = rpc->next) {
        if (rpc->state == RPC_STREAMING && rpc->handler == method) {
            make_ready(rpc);
        }
    }
}

bool pipeline_turn(struct pipeline *pipeline)
{
    for (unsigned count = 0; count < PIPELINE_TURN_STREAMS_MAX; count++) {
        struct rpc *rpc = pipeline->ready.first;

        if (rpc == NULL) {
            return false;
        }
        run_turn(rpc);
    }
    return pipeline->ready.first != NULL;
}

void pipeline_set_health(struct pipeline *pipeline, enum health_part part,
                         enum health_status status)
{
    /* Open methods have no organisation; their streams wait in the bucket of the zero id. */
    static const struct org_id no_org;

    if (env_set_health(pipeline->config.env, part, status)) {
        pipeline_wake(pipeline, no_org);
    }
}

void pipeline_end_expired(struct pipeline *pipeline)
{
    uint64_t version = auth_version(pipeline->config.writer);

    for (struct rpc *rpc = pipeline->live; rpc != NULL; rpc = rpc->next) {
        bool is_old = !rpc->method->open && rpc->identity_version != version;

        if (rpc->state == RPC_STREAMING && rpc->handler->writable != NULL &&
            (is_old || rpc_has_expired(rpc))) {
            make_ready(rpc); /* its turn detects that the token is no longer valid */
        }
    }
}

void pipeline_drain(struct pipeline *pipeline)
{
    pipeline->draining = true;
    for (unsigned part = 0; part < HEALTH_PART_COUNT; part++) {
        pipeline_set_health(pipeline, (enum health_part)part, HEALTH_NOT_SERVING);
    }
    for (struct rpc *rpc = pipeline->live, *next = NULL; rpc != NULL; rpc = next) {
        next = rpc->next;
        if (rpc->state != RPC_STREAMING) {
            continue;
        }
        if (rpc->queue == RPC_IN_WAITING) {
            make_ready(rpc);
        } else if (rpc->handler->writable == NULL) {
            end_stream(rpc, ERR_DRAINING);
        }
    }
}

/* Functions for the implementations of methods (service.h). */

static struct rpc *rpc_of(struct stream *stream)
{
    return (struct rpc *)(void *)((char *)stream - offsetof(struct rpc, stream));
}

bool stream_wants(const struct stream *stream)
{
    const struct rpc *rpc =
        (const struct rpc *)(const void *)((const char *)stream - offsetof(struct rpc, stream));

    return rpc->cancel_why == OK && rpc->turn_messages < PIPELINE_TURN_MESSAGES_MAX &&
           call_writable(rpc->call);
}

struct buffer *stream_reply_begin(struct stream *stream, size_t likely_bytes)
{
    struct rpc *rpc = rpc_of(stream);

    rpc->stream_body = call_reply_begin(rpc->call, likely_bytes);
    rpc->stream_start = rpc->stream_body->size;
    return rpc->stream_body;
}

enum err stream_reply_end(struct stream *stream)
{
    struct rpc *rpc = rpc_of(stream);
    enum err err = rpc_redact(rpc, rpc->stream_body, rpc->stream_start);

    rpc->turn_messages++;
    return err != OK ? err : call_reply_end(rpc->call);
}

void stream_wait_for_events(struct stream *stream)
{
    rpc_of(stream)->wants_events = true;
}

void stream_finish(struct stream *stream)
{
    rpc_of(stream)->is_finished = true;
}
