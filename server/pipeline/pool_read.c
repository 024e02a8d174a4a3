/*
 * pool_read.c: reads that are too long for the loop. A few at a time run on reserved threads of the
 * pool, each in a transaction of its own; the others wait in a queue, from which the oldest read of
 * an organisation without a running read is taken next. The response is written into the stage's
 * arena on the pool, and sent by the loop. The work of a stream is such a read, too, one part at a time, in an arena of
 * its own.
 */
#include "server/pipeline/rpc.h"

#include "store/base/assert.h"

/* An organisation's share of the queue. */
#define ORG_WAITING_MAX (PIPELINE_POOL_READS_WAITING_MAX / 2)

/* Returns whether the read is work of a stream. */
static bool is_work(const struct rpc *rpc)
{
    return rpc->handler->work != NULL;
}

static enum rpc_state state_off_pool(const struct rpc *rpc)
{
    return is_work(rpc) ? RPC_STREAMING : RPC_RECEIVING;
}

/* Ends the call of a read that could not run. */
static void end_read(struct rpc *rpc, enum err err)
{
    if (is_work(rpc)) {
        rpc_stream_stop(rpc);
    }
    rpc_finish(rpc, err);
}

static bool is_of(const struct rpc *rpc, const struct rpc *other)
{
    return uuid_equal(rpc->principal.org.uuid, other->principal.org.uuid);
}

/* Returns a free slot; NULL if all are in use. */
static struct rpc **find_place(struct rpc_reads *reads, const struct rpc *taken_by)
{
    for (size_t i = 0; i < PIPELINE_POOL_READS_MAX; i++) {
        if (reads->running[i] == taken_by) {
            return &reads->running[i];
        }
    }
    return NULL;
}

static bool org_runs(const struct rpc_reads *reads, const struct rpc *rpc)
{
    for (size_t i = 0; i < PIPELINE_POOL_READS_MAX; i++) {
        if (reads->running[i] != NULL && is_of(reads->running[i], rpc)) {
            return true;
        }
    }
    return false;
}

/* Appends the read to the queue. */
static enum err join_line(struct rpc *rpc)
{
    struct rpc_reads *reads = &rpc->pipeline->reads;
    struct rpc **end = &reads->first;
    unsigned of_org = 0;

    while (*end != NULL) {
        of_org += is_of(*end, rpc) ? 1 : 0;
        end = &(*end)->read_next;
    }
    if (reads->waiting_count == PIPELINE_POOL_READS_WAITING_MAX || of_org >= ORG_WAITING_MAX) {
        return fault_say(&rpc->fault, ERR_BUSY,
                         "server: too many long reads are waiting, for this organisation or for "
                         "the server; expected another attempt after the given delay");
    }
    *end = rpc;
    rpc->read_next = NULL;
    reads->waiting_count++;
    rpc->state = RPC_READ_WAITING;
    return OK;
}

void rpc_pool_read_leave(struct rpc *rpc)
{
    struct rpc_reads *reads = &rpc->pipeline->reads;
    struct rpc **link = &reads->first;

    while (*link != rpc) {
        link = &(*link)->read_next;
    }
    *link = rpc->read_next;
    reads->waiting_count--;
    rpc->state = state_off_pool(rpc);
}

/* Takes the next read to run from the queue. */
static struct rpc *take_next(struct rpc_reads *reads)
{
    struct rpc *next = reads->first;

    while (next != NULL && org_runs(reads, next)) {
        next = next->read_next;
    }
    if (next == NULL) {
        next = reads->first;
    }
    rpc_pool_read_leave(next);
    return next;
}

/* Runs on the pool. */
static enum err read_in_snapshot(struct rpc *rpc)
{
    const struct pipeline_config *config = &rpc->pipeline->config;
    struct store_txn *txn = NULL;
    enum err err = OK;

    if (service_is_cancelled(&rpc->service)) {
        return ERR_CANCELLED;
    }
    if (rpc->call->deadline_us != INT64_MAX &&
        clock_monotonic_us(config->clock) > rpc->call->deadline_us) {
        return ERR_DEADLINE;
    }
    if (rpc->method->transaction == METHOD_READ) {
        err = store_begin(config->backend, STORE_READ, &txn);
    }
    if (err == OK && is_work(rpc)) {
        struct method_call call = rpc_method_call(rpc, txn, NULL);

        err = rpc->handler->work(&call);
    } else if (err == OK) {
        err = rpc_read(rpc, txn, &rpc->pool_answer);
    }
    store_abort(txn);
    return err;
}

static void read_work(void *job)
{
    struct rpc *rpc = (struct rpc *)job;

    rpc->stage_result = read_in_snapshot(rpc);
}

static enum err send_answer(struct rpc *rpc)
{
    struct slice answer = buffer_slice(&rpc->pool_answer);

    rpc->pipeline->likely_bytes[rpc->method->index] = (uint32_t)answer.size;
    buffer_append(call_reply_begin(rpc->call, answer.size), answer);
    return call_reply_end(rpc->call);
}

static void start_waiting(struct pipeline *pipeline);

/* Runs on the loop. */
static void read_done(void *job, enum err result)
{
    struct rpc *rpc = (struct rpc *)job;
    struct pipeline *pipeline = rpc->pipeline;
    struct rpc **place = find_place(&pipeline->reads, rpc);
    enum err err = result != OK ? result : rpc->stage_result;

    ASSERT(place != NULL);
    *place = NULL;
    rpc->state = state_off_pool(rpc);
    if (rpc->cancel_why != OK) {
        err = rpc->cancel_why;
    }
    if (is_work(rpc)) {
        rpc_stream_worked(rpc, err);
    } else {
        rpc_finish(rpc, err == OK ? send_answer(rpc) : err);
    }
    start_waiting(pipeline);
}

/* Puts the read into a free slot. The results of the stage are kept. */
static enum err start(struct rpc *rpc, struct rpc **place)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct arena *arena = is_work(rpc) ? &rpc->work_arena : &rpc->stage_arena;
    enum err err = OK;

    if (arena->limit_bytes == 0) {
        *arena = pipeline_take_arena(pipeline, PIPELINE_READ_BYTES_MAX);
    }
    rpc->kept_arena = rpc->ctx.arena;
    rpc->ctx.arena = arena;
    fault_init(&rpc->fault, arena);
    if (!is_work(rpc)) {
        buffer_init(&rpc->pool_answer, arena, pipeline->likely_bytes[rpc->method->index]);
    }
    rpc->state = RPC_ON_POOL;
    *place = rpc;
    err = pipeline->config.run_read(pipeline->config.user, read_work, read_done, rpc);
    if (err != OK) {
        *place = NULL;
        rpc->state = state_off_pool(rpc);
    }
    return err;
}

static void start_waiting(struct pipeline *pipeline)
{
    struct rpc_reads *reads = &pipeline->reads;
    struct rpc **place = find_place(reads, NULL);

    while (place != NULL && reads->first != NULL) {
        struct rpc *rpc = take_next(reads);
        enum err err = start(rpc, place);

        if (err != OK) {
            end_read(rpc, err);
        }
        place = find_place(reads, NULL);
    }
}

void rpc_pool_read(struct rpc *rpc)
{
    struct rpc **place = find_place(&rpc->pipeline->reads, NULL);
    enum err err = place != NULL ? start(rpc, place) : join_line(rpc);

    if (err != OK) {
        end_read(rpc, err);
    }
}
