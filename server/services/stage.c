/*
 * stage.c: what happens to a request before its transaction: checked against the contract, decoded
 * into an arena with a cap, prepared by its method. Small ones at once on the loop, large ones and
 * methods marked so on the pool, which touches nothing of the loop's.
 */
#include "server/services/rpc.h"

#include "server/codec/check.h"

static void *allocate(void *data, size_t size)
{
    return arena_alloc((struct arena *)data, size);
}

static void release(void *data, void *pointer)
{
    (void)data; /* the arena frees it all at once */
    (void)pointer;
}

enum err rpc_decode(struct rpc *rpc, struct slice message)
{
    ProtobufCAllocator allocator = {allocate, release, rpc->ctx.arena};
    enum err err = check_request(&rpc->ctx, rpc->method->request, message);

    if (err != OK) {
        return err;
    }
    /* Bytes that passed the check decode, unless the arena is full. */
    rpc->request =
        protobuf_c_message_unpack(rpc->handler->request, &allocator, message.size, message.data);
    return rpc->request != NULL ? OK : ERR_MEMORY;
}

static enum err run_stage(struct rpc *rpc)
{
    enum err err = rpc_decode(rpc, rpc->message);

    if (err != OK) {
        return err;
    }
    if (rpc->write != NULL) {
        rpc_write_hash(rpc);
    }
    if (rpc->handler->prepare == NULL) {
        return OK;
    }
    return rpc->handler->prepare(&rpc->service, rpc->request, &rpc->prepared);
}

/* A job of the pool. */
static void pool_work(void *job)
{
    struct rpc *rpc = (struct rpc *)job;

    rpc->stage_result = run_stage(rpc);
}

static void pool_done(void *job, enum err result)
{
    struct rpc *rpc = (struct rpc *)job;

    rpc->state = RPC_RECEIVING;
    rpc_continue(rpc, result != OK ? result : rpc->stage_result);
}

void rpc_stage(struct rpc *rpc)
{
    struct services *services = rpc->services;
    enum err err = OK;

    if (rpc->method->transaction == METHOD_WRITE) {
        err = rpc_write_begin(rpc);
        if (err != OK) {
            rpc_finish(rpc, err);
            return;
        }
    }
    if (rpc->message.size <= SERVICES_INLINE_BYTES_MAX &&
        rpc->method->stage != METHOD_PREPARE_ON_POOL) {
        rpc_continue(rpc, run_stage(rpc));
        return;
    }
    rpc->stage_arena = services_take_arena(services, SERVICES_STAGE_BYTES_MAX);
    rpc->ctx.arena = &rpc->stage_arena;
    fault_init(&rpc->fault, &rpc->stage_arena);
    rpc->state = RPC_ON_POOL;
    err = services->config.run_on_pool(services->config.user, pool_work, pool_done, rpc);
    if (err != OK) {
        rpc->state = RPC_RECEIVING;
        rpc_finish(rpc, err);
    }
}
