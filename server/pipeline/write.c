/*
 * write.c: a method's write as a unit of work (store/work.h). On the loop: reads the idempotency
 * key and passes the request to the writer. On the writer thread: runs the method's decision, or
 * finds the events of an earlier write with the same key; then writes the response into the write's
 * own arena, so that no data of the loop is used. On the loop again, after the commit is durable:
 * sends the response, and wakes the watchers of the log.
 */
#include "server/pipeline/rpc.h"

#include <stdatomic.h>
#include <stddef.h>

/* Size counted in the queue for a write, in addition to its request. */
#define WRITE_OVERHEAD_BYTES 512
/* Size counted for a document instead of its bytes, which are already freed: its snippet, and the
 * page sizes of most documents. */
#define WRITE_DOCUMENT_BYTES 16384

struct rpc_write {
    struct work_request work; /* owned by the writer until its completion */
    struct rpc *rpc;
    struct slice key_text; /* idempotency key of the metadata; empty: none */
    struct arena arena; /* memory of `run`: emptied before each run, read by the completion */
    struct buffer answer; /* response of the last run */
};

static struct rpc_write *write_of(struct work_request *work)
{
    return (struct rpc_write *)(void *)((char *)work - offsetof(struct rpc_write, work));
}

enum err rpc_write_begin(struct rpc *rpc)
{
    struct rpc_write *write = (struct rpc_write *)arena_calloc(rpc->call->arena, 1, sizeof(*write));

    if (write == NULL) {
        return ERR_MEMORY;
    }
    write->rpc = rpc;
    rpc->write = write;
    if (!call_metadata(rpc->call, SLICE("idempotency-key"), &write->key_text)) {
        return OK;
    }
    if (!idempotency_key_is_valid(write->key_text)) {
        fault_add(&rpc->fault, SLICE("idempotency-key"),
                  "invalid, %zu bytes; expected 1 to %d printable ASCII characters",
                  write->key_text.size, IDEMPOTENCY_KEY_BYTES_MAX);
        return ERR_INVALID;
    }
    return OK;
}

void rpc_write_hash(struct rpc *rpc)
{
    struct rpc_write *write = rpc->write;
    struct sha256_digest request_sha256;

    if (write->key_text.size == 0) {
        return;
    }
    request_sha256 = rpc_takes_document(rpc) ? rpc->service.request_sha256 : sha256(rpc->message);
    write->work.key = idempotency_key_of(rpc->principal.org, rpc->principal.key_id,
                                         rpc->method->path, write->key_text, &request_sha256);
}

static enum err run_write(struct work_request *work, struct store_txn *txn)
{
    struct rpc *rpc = write_of(work)->rpc;
    struct method_call call = rpc_method_call(rpc, txn, NULL);

    call.result = &work->written;
    return rpc->handler->write(&call);
}

static enum err make_answer(struct work_request *work, struct store_txn *txn)
{
    struct rpc_write *write = write_of(work);
    struct rpc *rpc = write->rpc;
    struct method_call call = rpc_method_call(rpc, txn, &write->answer);
    enum err err = OK;

    buffer_init(&write->answer, &write->arena, 0);
    call.result = &work->written;
    err = rpc->handler->answer(&call);
    if (err != OK) {
        return err;
    }
    return buffer_ok(&write->answer) ? OK : ERR_MEMORY;
}

static enum err send_answer(struct rpc_write *write)
{
    struct buffer *body = call_reply_begin(write->rpc->call, write->answer.size);

    buffer_append(body, buffer_slice(&write->answer));
    return call_reply_end(write->rpc->call);
}

/* Runs on the loop, after the write is durable or has failed. */
static void write_done(struct work_request *work, enum err result)
{
    struct rpc_write *write = write_of(work);
    struct rpc *rpc = write->rpc;
    struct pipeline *pipeline = rpc->pipeline;
    bool appended = result == OK && !work->written.repeated && work->written.count > 0;
    struct org_id org = work->written.org;
    enum err err = result;

    if (result != work->decided) {
        fault_init(&rpc->fault,
                   rpc->fault.arena); /* it explains a decision that was not committed */
    }
    if (rpc->cancel_why == OK && err == OK) {
        err = send_answer(write);
    } else if (rpc->cancel_why != OK) {
        err = rpc->cancel_why == ERR_DEADLINE && result == OK ? ERR_DEADLINE_UNKNOWN
                                                              : rpc->cancel_why;
    }
    rpc_finish(rpc, err);
    if (appended) {
        pipeline_wake(pipeline, org);
    }
}

void rpc_write_submit(struct rpc *rpc)
{
    struct rpc_write *write = rpc->write;
    enum err err = OK;

    write->arena = pipeline_take_arena(rpc->pipeline, PIPELINE_WRITE_BYTES_MAX);
    write->work.org = rpc->principal.org;
    write->work.bytes = (rpc_takes_document(rpc) ? WRITE_DOCUMENT_BYTES : rpc->message.size) +
                        rpc->service.prepared_bytes + WRITE_OVERHEAD_BYTES;
    write->work.deadline_us = rpc->call->deadline_us;
    rpc->ctx.arena = &write->arena;
    write->work.ctx = &rpc->ctx;
    write->work.run = run_write;
    write->work.answer = make_answer;
    write->work.done = write_done;
    rpc->state = RPC_WRITING;
    err = writer_submit(rpc->pipeline->config.writer, &write->work);
    if (err != OK) {
        rpc_finish(rpc, err);
    }
}

void rpc_write_cancel(struct rpc *rpc)
{
    atomic_store(&rpc->write->work.cancelled, true);
}

struct arena rpc_write_take_arena(struct rpc *rpc)
{
    struct arena arena = {0};

    if (rpc->write != NULL) {
        arena = rpc->write->arena;
        rpc->write->arena = (struct arena){0};
    }
    return arena;
}
