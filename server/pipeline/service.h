/*
 * service.h: how methods are implemented. A method has one to four plain functions, which the generator names and
 * declares. Each takes the method's own struct, `struct X_call`, whose members are those that the method needs:
 *
 *   | method                   | function   | reads                          | sets, or appends to |
 *   |--------------------------|------------|--------------------------------|---------------------|
 *   | read, or no transaction  | X_read     | txn, request, prepared         | body                |
 *   | write                    | X_write    | txn, request, prepared         | result              |
 *   |                          | X_answer   | txn, request, prepared, result | body                |
 *   | with a prepare stage     | X_prepare  | request; before either         | prepared            |
 *   | read whose cost differs  | X_cost     | txn, request; before X_read    | prepared, cost      |
 *   | client stream            | X_receive  | each request; before X_prepare | prepared            |
 *   | server stream            | X_start    | request                        | stream              |
 *   | that works on the pool   | X_work     | txn, request; after X_start    | stream              |
 *   |                          | X_writable | txn                            | stream              |
 *   |                          | X_stopped  |                                | stream              |
 *   | bidi stream              | X_message  | each request; after X_start    | stream              |
 *
 * A list also has `page`, the requested page, to which X_read appends; the pipeline writes
 * next_page_token. A method with an `as_of` has it in `as_of`. X is the service and method in snake
 * case: prompt_service_get_examples (with the package for services that are not ours:
 * grpc_health_v1_health_check). The request has passed check_request, so its formats, limits and
 * required fields are valid. A function explains errors in ctx->fault.
 *
 * _prepare may run on the pool: it must only use its struct. _receive runs on the loop, in an arena
 * that is freed after each request. _write runs on the writer thread, and may run more than once
 * (store/work.h). _answer builds the response from the events that _write appended. A repeated
 * request with the same idempotency key calls only _answer, with result->repeated. A response that
 * must not be sent twice is an error there.
 */
#ifndef ERRATA_SERVER_PIPELINE_SERVICE_H
#define ERRATA_SERVER_PIPELINE_SERVICE_H

#include "server/codec/contract.h"
#include "server/pipeline/backup_jobs.h"
#include "server/pipeline/document_jobs.h"
#include "server/pipeline/eraser.h"
#include "server/pipeline/export_recorder.h"
#include "server/pipeline/verify_jobs.h"
#include "store/base/buffer.h"
#include "store/base/cancel.h"
#include "store/base/ctx.h"
#include "store/page.h"
#include "store/work.h"

#include <errata/v1/role.fields.h>
#include <protobuf-c/protobuf-c.h>
#include <stdatomic.h>

/* The authenticated caller; created from the token, only by the auth layer. */
struct principal {
    struct org_id org;
    enum role role;
    bool server; /* may administer other organisations in AdminService */
    uint32_t key_id; /* key id of the token */
    struct slice user_id; /* the user it is bound to, or empty */
};

/* A read that takes longer than about a millisecond would delay all other calls, so it runs on the
 * pool. X_cost decides on the loop, in the transaction that X_read gets if it is short; it may keep
 * its results in `prepared`. A long read has a snapshot of its own, taken after the call arrived;
 * it gets `prepared` as it was before X_cost, reads only constant members of the env, and must
 * check service_is_cancelled regularly if it reads many rows. */
enum read_cost {
    READ_IS_SHORT,
    READ_IS_LONG
};

/* The `as_of` of a request: by a seq, by a time, or not given. */
struct as_of {
    bool is_given;
    uint64_t seq; /* the last event that the response may depend on; UINT64_MAX: not given */
};

struct quota_book; /* server/auth/quota_book.h */
struct service_env; /* health, counters, page-token key: server/pipeline/env.h */

struct service {
    struct ctx *ctx; /* arena of the call, clock, random source, fault */
    /* In X_receive: memory for the lifetime of the call, for data kept from its requests. */
    struct arena *kept;
    /* For a method with the stage PREPARE_DOCUMENT, otherwise NULL. X_prepare runs as the job's
     * work, with reserved memory for the request's bytes; cancelling ends it. The job is closed
     * afterwards. */
    const struct document_jobs *documents;
    struct document_job *job;
    /* For writes among the same methods: the hash to which an idempotency key is bound; set by
     * X_prepare. */
    struct sha256_digest request_sha256;
    /* Bytes that X_prepare keeps for X_answer; counted while the write is queued. */
    size_t prepared_bytes;
    const struct principal *principal; /* NULL for open methods */
    const struct method_info *method;
    struct service_env *env;
    const struct verify_jobs *verify; /* NULL: this server verifies nothing */
    const struct backup_jobs *backup; /* NULL: this server makes no backups */
    struct eraser *eraser; /* NULL: this server erases nothing */
    struct export_recorder *exports; /* NULL: this server exports nothing */
    struct quota_book *quotas; /* what callers have used of their quotas; for the loop */
    atomic_bool
        cancelled; /* the call was cancelled while on the pool; read by service_is_cancelled */
};

/* Returns whether the result of the read on the pool is no longer needed. */
static inline bool service_is_cancelled(const struct service *service)
{
    return cancel_requested(&service->cancelled);
}

/* The same as a callback of modules that know no services; `user` is the struct service. */
static inline bool service_was_cancelled(const void *user)
{
    return service_is_cancelled(user);
}

/* In X_receive: stores the next bytes of the call's document; on failure the fault contains the
 * reason. */
MUST_CHECK enum err service_keep_document(struct service *service, struct slice bytes);

/* Returns the actor: the token's user, or `token:KEYID`; empty if memory is exhausted. */
struct slice service_actor(const struct service *service);

/* A streamed response. A stream that works on the pool runs X_work as a long read, with a snapshot of its own; X_work only
 * changes what `state` points to, and has memory of ctx->arena until it returns. After it,
 * X_writable sends at least one message once the stream has room, or waits for events, and then X_work runs again, until
 * the stream is finished. */
struct stream {
    const struct service *service;
    void *state; /* private data of the method, in the call's arena */
};

/* Returns whether there is room for another message and the stream was not stopped. Call it before
 * each message. */
bool stream_wants(const struct stream *stream);
/* Starts and ends one message of the stream; its bytes are appended in between. */
struct buffer *stream_reply_begin(struct stream *stream, size_t likely_bytes);
MUST_CHECK enum err stream_reply_end(struct stream *stream);
/* Requests another call of X_writable after the next commit to the organisation's log,
 * pipeline_wake, or (the streams of a verification and of a backup) pipeline_wake_verify and
 * pipeline_wake_backup. */
void stream_wait_for_events(struct stream *stream);
/* Ends the stream with the status OK, after X_writable has returned. */
void stream_finish(struct stream *stream);

#endif
