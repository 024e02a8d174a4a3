/*
 * receive.c: streamed requests. Resources are reserved at the call's start, so that a request for
 * which there is no room is refused before its bytes arrive. Each message is decoded, a large one
 * on the pool, into an arena that is freed after it; the method may copy values from it. The end of
 * the request is handled like that of a unary call.
 */
#include "server/pipeline/rpc.h"

void rpc_receive_start(struct rpc *rpc)
{
    enum err err = OK;

    rpc->service.kept = rpc->call->arena;
    err = rpc_quota_take(rpc, QUOTA_STREAMS);
    if (err == OK && rpc->method->transaction == METHOD_WRITE) {
        err = rpc_write_begin(rpc);
    }
    if (err == OK && rpc_takes_document(rpc)) {
        err = rpc_document_open(rpc, 0);
    }
    if (err != OK) {
        rpc_finish(rpc, err);
    }
}

/* Passes the decoded message to the method; an error ends the call. */
static enum err receive(struct rpc *rpc)
{
    struct method_call call = rpc_method_call(rpc, NULL, NULL);
    enum err err = rpc->handler->receive(&call);

    rpc->prepared = call.prepared;
    return err;
}

/* The message was handled: frees the decoded form. */
static void forget_message(struct rpc *rpc)
{
    rpc->request = NULL;
    rpc->ctx.arena = rpc->call->arena;
    fault_init(&rpc->fault, rpc->call->arena);
}

static void receive_here(struct rpc *rpc, struct slice message)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct arena turn = pipeline_take_arena(pipeline, PIPELINE_STAGE_BYTES_MAX);
    enum err err = OK;

    rpc->ctx.arena = &turn;
    fault_init(&rpc->fault, &turn);
    err = rpc_decode(rpc, message);
    if (err == OK) {
        err = receive(rpc);
    }
    if (err != OK) {
        rpc_finish(rpc, err);
    } else {
        forget_message(rpc);
    }
    pipeline_give_arena(pipeline, &turn);
}

/* Runs on the pool. */
static void receive_work(void *job)
{
    struct rpc *rpc = (struct rpc *)job;

    rpc->stage_result = rpc_decode(rpc, rpc->message);
}

/* Runs on the loop. */
static void receive_done(void *job, enum err result)
{
    struct rpc *rpc = (struct rpc *)job;
    enum err err = result != OK ? result : rpc->stage_result;

    rpc->state = RPC_RECEIVING;
    rpc->message = slice_of(NULL, 0);
    if (rpc->cancel_why != OK) {
        err = rpc->cancel_why;
    }
    if (err == OK) {
        err = receive(rpc);
    }
    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    forget_message(rpc);
    pipeline_give_arena(rpc->pipeline, &rpc->stage_arena);
    rpc->stage_arena = (struct arena){.limit_bytes = 0};
    call_end_message(rpc->call); /* the next steps may end the call */
}

/* Decodes a large message on the pool, since it would delay all other calls; its call waits. */
static void receive_on_pool(struct rpc *rpc, struct slice message)
{
    const struct pipeline_config *config = &rpc->pipeline->config;
    enum err err = OK;

    rpc->stage_arena = pipeline_take_arena(rpc->pipeline, PIPELINE_STAGE_BYTES_MAX);
    rpc->ctx.arena = &rpc->stage_arena;
    fault_init(&rpc->fault, &rpc->stage_arena);
    rpc->message = message;
    rpc->state = RPC_ON_POOL;
    call_hold_message(rpc->call);
    err = config->run_on_pool(config->user, receive_work, receive_done, rpc);
    if (err != OK) {
        rpc->state = RPC_RECEIVING;
        rpc_finish(rpc, err);
    }
}

void rpc_receive_message(struct rpc *rpc, struct slice message)
{
    if (message.size > PIPELINE_INLINE_BYTES_MAX) {
        receive_on_pool(rpc, message);
    } else {
        receive_here(rpc, message);
    }
}
