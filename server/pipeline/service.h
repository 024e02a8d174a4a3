/*
 * service.h: what a method's author writes against. A method is one to three plain functions, named
 * by the generator and declared in the generated header of its service:
 *
 *   unary, read or no transaction:   X_read(service, txn, request, prepared, reply)
 *   unary, write:                    X_write(service, txn, request, prepared, result)
 *                                    X_answer(service, txn, request, prepared, result, reply)
 *   with a prepare stage:            X_prepare(service, request, ret_prepared) before either
 *   a read whose cost differs:       X_cost(service, txn, request, prepared, ret_cost) before X_read
 *   server stream:                   X_start(service, request, stream)
 *                                    X_writable(service, txn, stream)
 *                                    X_stopped(stream)
 *   client stream:                   X_receive(service, request, state) for each request, then
 *                                    as unary, with a NULL request; X_prepare finds in
 *                                    *ret_prepared what X_receive kept in *state
 *   bidi stream (reflection alone):  X_start(service, NULL, stream)
 *                                    X_message(service, request, stream)
 *                                    X_stopped(stream)
 *
 * where X is the service and method in snake case: prompt_service_get_examples (after the
 * package for services that are not ours: grpc_health_v1_health_check). The request has
 * passed check_request, so formats, limits and required fields hold already. A function fails with
 * an error and, where it helps, says why in ctx->fault; the pipeline makes the status of it.
 *
 * _prepare may run on the pool: it touches nothing but its arguments. _receive runs on the loop, in
 * an arena that dies with each request. _read runs where the method's option `execution` says. _write runs on the writer thread, and may run more than once
 * (store/work.h): it decides, appends and applies. _answer makes the reply from the events that
 * _write appended; a repeat under the same idempotency key calls it alone, with result->repeated.
 * What must not be stored or answered twice is _answer's to refuse.
 */
#ifndef ERRATA_SERVER_PIPELINE_SERVICE_H
#define ERRATA_SERVER_PIPELINE_SERVICE_H

#include "server/codec/contract.h"
#include "server/pipeline/backup_jobs.h"
#include "server/pipeline/document_jobs.h"
#include "server/pipeline/verify_jobs.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/work.h"

#include <errata/v1/role.fields.h>
#include <protobuf-c/protobuf-c.h>
#include <stdatomic.h>

/* Who calls: from the token, by the auth layer alone. */
struct principal {
    struct org_id org;
    enum role role;
    bool server; /* may name other organisations in AdminService */
    uint32_t key_id; /* of the token */
    struct slice user_id; /* the user it is bound to, or empty */
};

/* A read that takes longer than about a millisecond would hold up the loop, and so every other call: it
 * runs on the pool. X_cost decides on the loop, in the transaction that X_read gets if it is short; what it
 * found out for that it may keep in *prepared. A long read has a snapshot of its own, taken after the call
 * came; it finds *prepared as it was before X_cost, touches of the env only what never changes, and asks
 * service_is_cancelled now and then if it walks far. */
enum read_cost {
    READ_IS_SHORT,
    READ_IS_LONG
};

struct service_env; /* health, counters, page-token key: server/pipeline/env.h */

struct service {
    struct ctx *ctx; /* arena (the call's), clock, random, fault */
    /* In X_receive: what lives as long as the call, for what is kept of its requests. */
    struct arena *kept;
    /* Of a method whose stage is PREPARE_DOCUMENT, else NULL. X_prepare runs as the job's work, with
     * room reserved for the request's bytes; cancelling ends it. The job is closed behind it. */
    const struct document_jobs *documents;
    struct document_job *job;
    /* Of the same methods, where they write: what an idempotency key binds to; X_prepare sets it. */
    struct sha256_digest request_sha256;
    const struct principal *principal; /* NULL for open methods */
    const struct method_info *method;
    struct service_env *env;
    const struct verify_jobs *verify; /* NULL: this server verifies nothing */
    const struct backup_jobs *backup; /* NULL: this server makes no backups */
    atomic_bool cancelled; /* of a call that is on the pool; service_is_cancelled reads it */
};

/* Nobody waits for what is read on the pool any more: whatever X_read returns now is not sent. */
static inline bool service_is_cancelled(const struct service *service)
{
    return atomic_load_explicit(&service->cancelled, memory_order_relaxed);
}

/* In X_receive: keeps the next bytes of the call's document, or says in the fault why not. */
MUST_CHECK enum err service_keep_document(struct service *service, struct slice bytes);

/* Who acts: the token's user, else `token:KEYID`; empty where there is no memory for it. */
struct slice service_actor(const struct service *service);

/* One reply message: either a protobuf-c message, or bytes appended to `body` as they are. */
struct reply {
    struct buffer *body;
};

/* Appends a packed message. ERR_MEMORY where it does not fit. */
MUST_CHECK enum err reply_message(struct reply *reply, const ProtobufCMessage *message);

/* A streamed answer. */
struct stream {
    const struct service *service;
    void *state; /* the method's own, in the call's arena */
};

/* Room for another message, and nobody stopped it. A producer asks before each. */
bool stream_wants(const struct stream *stream);
/* Starts and ends one message of the stream. */
struct reply stream_reply_begin(struct stream *stream, size_t likely_bytes);
MUST_CHECK enum err stream_reply_end(struct stream *stream);
/* Asks for X_writable again after the next commit to the organisation's log, pipeline_wake, or (the streams
 * of a verification and of a backup) pipeline_wake_verify and pipeline_wake_backup. */
void stream_wait_for_events(struct stream *stream);
/* Ends the stream, with status OK, once X_writable returns. */
void stream_finish(struct stream *stream);

#endif
