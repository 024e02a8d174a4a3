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

/* Refuses a write of an organisation that is deleted or being deleted: it was admitted before, and what it stores would be
 * left over. The log of one that exists has an event at least, that of its creation. */
static enum err check_organization(const struct work_request *request, struct store_txn *txn)
{
    static const struct uuid no_org;
    struct log_head head = {.last_seq = 0};
    bool is_marked = false;
    enum err err = OK;

    if (uuid_equal(request->org.uuid, no_org)) {
        return OK; /* the server's own work */
    }
    err = log_deletion_is_marked(txn, request->org, &is_marked);
    if (err == OK && !is_marked) {
        err = log_read_head(txn, request->org, &head);
    }
    return err == OK && head.last_seq == 0 ? ERR_ORGANIZATION_DELETED : err;
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
