/*
 * work.c: one unit of work: runs the write of a request, or finds the earlier write with its
 * idempotency key.
 */
#include "store/work.h"

#include "store/base/assert.h"
#include "store/log_deletion.h"

/* Runs the request, and stores its key with the events that it appended. */
static enum err run_with_key(struct work_request *request, struct store_txn *txn)
{
    struct ctx *ctx = request->ctx;
    enum err err = idempotency_find(ctx, txn, &request->key, &request->written);

    if (err == ERR_EXISTS) {
        return fault_say(ctx->fault, err,
                         "idempotency-key: used for a different request within the last 24 "
                         "hours; expected the same request, or a new key");
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    log_begin_write(txn, &request->key);
    err = request->run(request, txn);
    if (err != OK) {
        return err;
    }
    return idempotency_keep(ctx, txn, &request->key, &request->written);
}

/* Refuses a write of an organisation that is being deleted: it was admitted before, and its row would be left over. */
static enum err check_organization(struct work_request *request, struct store_txn *txn)
{
    bool is_marked = false;
    enum err err = log_deletion_is_marked(txn, request->org, &is_marked);

    if (err != OK || !is_marked) {
        return err;
    }
    return request->ctx == NULL ? ERR_NOT_FOUND
                                : fault_say(request->ctx->fault, ERR_NOT_FOUND,
                                            "authorization: the token's organisation is being "
                                            "deleted; expected a token of another one");
}

static enum err run_and_answer(struct work_request *request, struct store_txn *txn)
{
    enum err err = check_organization(request, txn);

    if (err != OK) {
        return err;
    }
    if (request->key.present) {
        err = run_with_key(request, txn);
    } else {
        log_begin_write(txn, NULL);
        err = request->run(request, txn);
    }
    if (err != OK || request->answer == NULL) {
        return err;
    }
    return request->answer(request, txn);
}

enum err work_run(struct work_request *request, struct store_txn *txn)
{
    struct ctx *ctx = request->ctx;

    ASSERT(ctx != NULL || !request->key.present);
    if (ctx != NULL) {
        arena_reset(ctx->arena);
        fault_init(ctx->fault, ctx->arena);
    }
    request->written = (struct work_result){.org = request->org};
    request->decided = run_and_answer(request, txn);
    return request->decided;
}
