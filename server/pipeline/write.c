/*
 * write.c: a write on its way through the group commit. On the loop: the idempotency key is taken
 * and the request handed to the writer. On the writer thread: an earlier write under the key, or the
 * method's decision and its events; then the answer, into the write's own arena, so that nothing of
 * the loop's is touched. On the loop again, once the commit is durable: the answer is sent, and
 * those who watch the log are woken.
 */
#include "server/pipeline/rpc.h"

#include "store/base/bytes.h"

#include <stdatomic.h>
#include <stddef.h>

/* 1 to 128 printable ASCII characters, by the contract. */
#define IDEMPOTENCY_KEY_BYTES_MAX 128
/* What a write counts for in the queue beside its request. */
#define WRITE_OVERHEAD_BYTES 512
/* What a document counts for instead of its bytes, which are behind it: its snippet, and the sizes of
 * most documents' pages. */
#define WRITE_DOCUMENT_BYTES 16384

struct rpc_write {
    struct work_request work; /* the writer's until its completion */
    struct rpc *rpc;
    struct slice key_text; /* of the metadata; empty: none */
    struct event_idempotency key;
    struct arena arena; /* what `run` works in: emptied at each run, read by the completion */
    struct work_result result; /* of the last run */
    enum err decided; /* by the last run: what rpc->fault explains */
    struct buffer answer; /* of the last run */
};

static struct rpc_write *write_of(struct work_request *work)
{
    return (struct rpc_write *)(void *)((char *)work - offsetof(struct rpc_write, work));
}

static bool is_printable(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < 0x20 || text.data[i] > 0x7e) {
            return false;
        }
    }
    return true;
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
    if (write->key_text.size == 0 || write->key_text.size > IDEMPOTENCY_KEY_BYTES_MAX ||
        !is_printable(write->key_text)) {
        fault_add(&rpc->fault, SLICE("idempotency-key"),
                  "must be 1 to %d printable ASCII characters; it has %zu bytes",
                  IDEMPOTENCY_KEY_BYTES_MAX, write->key_text.size);
        return ERR_INVALID;
    }
    write->key.present = true;
    return OK;
}

void rpc_write_hash(struct rpc *rpc)
{
    struct rpc_write *write = rpc->write;
    struct sha256_digest digest;
    uint8_t key_id[4];

    if (!write->key.present) {
        return;
    }
    bytes_put_be32(key_id, rpc->principal.key_id);

    /* The path has no NUL, so no two triples give the same bytes. */
    const struct slice pieces[] = {slice_of(key_id, sizeof(key_id)), rpc->method->path,
                                   slice_of("", 1), write->key_text};

    digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));
    memcpy(write->key.key_hash, digest.bytes, sizeof(write->key.key_hash));
    write->key.org = rpc->principal.org;
    write->key.request_sha256 =
        rpc_takes_document(rpc) ? rpc->service.request_sha256 : sha256(rpc->message);
}

/* The write itself: an earlier one under the same key, or the method's own decision. */
static enum err find_or_write(struct rpc_write *write, struct store_txn *txn)
{
    struct rpc *rpc = write->rpc;
    const struct event_idempotency *key = write->key.present ? &write->key : NULL;
    enum err err = ERR_NOT_FOUND;

    if (key != NULL) {
        err = idempotency_find(&rpc->ctx, txn, key, &write->result);
    }
    if (err == ERR_EXISTS) {
        return fault_say(&rpc->fault, err,
                         "this idempotency key came with a different request within the last 24 "
                         "hours; send the same request, or use a new key");
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    log_begin_write(txn, key);
    err = rpc->handler->write(&rpc->service, txn, rpc->request, rpc->prepared, &write->result);
    if (err != OK || key == NULL) {
        return err;
    }
    return idempotency_keep(&rpc->ctx, txn, key, &write->result);
}

/* The write, and its answer. */
static enum err write_and_answer(struct rpc_write *write, struct store_txn *txn)
{
    struct rpc *rpc = write->rpc;
    struct reply reply = {&write->answer};
    enum err err = find_or_write(write, txn);

    if (err != OK) {
        return err;
    }
    err = rpc->handler->answer(&rpc->service, txn, rpc->request, rpc->prepared, &write->result,
                               &reply);
    if (err != OK) {
        return err;
    }
    return buffer_ok(&write->answer) ? OK : ERR_MEMORY;
}

/* On the writer thread, perhaps more than once: everything starts from scratch. */
static enum err run_write(struct work_request *work, struct store_txn *txn)
{
    struct rpc_write *write = write_of(work);
    struct rpc *rpc = write->rpc;

    arena_reset(&write->arena);
    rpc->ctx.arena = &write->arena;
    fault_init(&rpc->fault, &write->arena);
    write->result = (struct work_result){.org = rpc->principal.org};
    buffer_init(&write->answer, &write->arena, 0);
    write->decided = write_and_answer(write, txn);
    return write->decided;
}

static enum err send_answer(struct rpc_write *write)
{
    struct buffer *body = call_reply_begin(write->rpc->call, write->answer.size);

    buffer_append(body, buffer_slice(&write->answer));
    return call_reply_end(write->rpc->call);
}

/* On the loop: the write is durable, or it is not there. */
static void write_done(struct work_request *work, enum err result)
{
    struct rpc_write *write = write_of(work);
    struct rpc *rpc = write->rpc;
    struct pipeline *pipeline = rpc->pipeline;
    bool appended = result == OK && !write->result.repeated && write->result.count > 0;
    struct org_id org = write->result.org;
    enum err err = result;

    if (result != write->decided) {
        fault_init(&rpc->fault, rpc->fault.arena); /* it explains a decision that does not hold */
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
    write->work.bytes =
        (rpc_takes_document(rpc) ? WRITE_DOCUMENT_BYTES : rpc->message.size) + WRITE_OVERHEAD_BYTES;
    write->work.deadline_us = rpc->call->deadline_us;
    write->work.run = run_write;
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
