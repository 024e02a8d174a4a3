/*
 * receive.c: streamed requests. What they need is opened at the call's start, so that one which has
 * no place is refused before its bytes come; each message is decoded into an arena of its turn, which
 * the method may keep something of; the end of the request goes on as that of a unary call does.
 */
#include "server/services/rpc.h"

void rpc_receive_start(struct rpc *rpc)
{
    enum err err = OK;

    rpc->service.kept = rpc->call->arena;
    if (rpc->method->transaction == METHOD_WRITE) {
        err = rpc_write_begin(rpc);
    }
    if (err == OK && rpc_takes_document(rpc)) {
        err = rpc_document_open(rpc, 0);
    }
    if (err != OK) {
        rpc_finish(rpc, err);
    }
}

void rpc_receive_message(struct rpc *rpc, struct slice message)
{
    struct services *services = rpc->services;
    struct arena turn = services_take_arena(services, SERVICES_STAGE_BYTES_MAX);
    struct arena *kept = rpc->ctx.arena;
    enum err err = OK;

    rpc->ctx.arena = &turn;
    fault_init(&rpc->fault, &turn);
    err = rpc_decode(rpc, message);
    if (err == OK) {
        err = rpc->handler->receive(&rpc->service, rpc->request, &rpc->prepared);
    }
    if (err != OK) {
        rpc_finish(rpc, err);
    } else {
        rpc->request = NULL;
        rpc->ctx.arena = kept;
        fault_init(&rpc->fault, kept);
    }
    services_give_arena(services, &turn);
}
