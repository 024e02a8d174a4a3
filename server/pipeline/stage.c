/*
 * stage.c: processes a request before its transaction: checks it against the contract, decodes it
 * into an arena with a limit, and calls the method's _prepare. Small requests are processed at once
 * on the loop; large ones, and methods marked so, on the pool, which must not use data of the loop;
 * requests with a document as the document's job, which waits for its turn.
 */
#include "server/pipeline/decode.h"
#include "server/pipeline/rpc.h"

enum err rpc_decode(struct rpc *rpc, struct slice message)
{
    ProtobufCMessage *request = NULL;
    enum err err = decode_request(&rpc->ctx, rpc->method, rpc->handler->request, message, &request);

    if (err == OK) {
        rpc->request = request;
    }
    return err;
}

static enum err run_stage(struct rpc *rpc)
{
    enum err err = OK;

    /* The messages of a streamed request were received one by one. */
    if (rpc->method->stream != METHOD_CLIENT_STREAM) {
        err = rpc_decode(rpc, rpc->message);
    }
    if (err == OK && rpc->handler->prepare != NULL) {
        struct method_call call = rpc_method_call(rpc, NULL, NULL);

        err = rpc->handler->prepare(&call);
        rpc->prepared = call.prepared;
    }
    if (err == OK && rpc->write != NULL) {
        rpc_write_hash(rpc);
    }
    return err;
}

/* A job of the pool, or of a document. */
static void pool_work(void *job)
{
    struct rpc *rpc = (struct rpc *)job;

    rpc->stage_result = run_stage(rpc);
}

static void pool_done(void *job, enum err result)
{
    struct rpc *rpc = (struct rpc *)job;
    enum err err = result != OK ? result : rpc->stage_result;

    rpc->state = RPC_RECEIVING;
    if (rpc->service.job != NULL) {
        err = rpc_document_explain(rpc, err);
        rpc_document_close(rpc); /* the bytes are no longer needed */
    }
    rpc_continue(rpc, err);
}

/* Prepares the stage of a complete request, if it was not opened at the start. */
static enum err open_stage(struct rpc *rpc)
{
    enum err err = OK;

    if (rpc->method->transaction == METHOD_WRITE && rpc->write == NULL) {
        err = rpc_write_begin(rpc);
    }
    if (err == OK && rpc_takes_document(rpc) && rpc->service.job == NULL) {
        err = rpc_document_open(rpc, rpc->message.size);
    }
    return err;
}

/* Returns whether the stage is short enough for the loop. */
static bool stays_on_loop(const struct rpc *rpc)
{
    switch (rpc->method->stage) {
    case METHOD_STRAIGHT:
    case METHOD_PREPARE:
        return rpc->message.size <= PIPELINE_INLINE_BYTES_MAX;
    case METHOD_PREPARE_ON_POOL:
    case METHOD_PREPARE_DOCUMENT:
        return false;
    }
    return false;
}

void rpc_stage(struct rpc *rpc)
{
    struct pipeline *pipeline = rpc->pipeline;
    enum err err = open_stage(rpc);

    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    if (stays_on_loop(rpc)) {
        rpc_continue(rpc, run_stage(rpc));
        return;
    }
    rpc->stage_arena = pipeline_take_arena(pipeline, PIPELINE_STAGE_BYTES_MAX);
    rpc->ctx.arena = &rpc->stage_arena;
    rpc->service.kept = NULL; /* owned by the loop from here on */
    fault_init(&rpc->fault, &rpc->stage_arena);
    rpc->state = RPC_ON_POOL;
    if (rpc_takes_document(rpc)) {
        err = rpc_document_submit(rpc, pool_work, pool_done);
    } else {
        err = pipeline->config.run_on_pool(pipeline->config.user, pool_work, pool_done, rpc);
    }
    if (err != OK) {
        rpc->state = RPC_RECEIVING;
        rpc_finish(rpc, err);
    }
}
