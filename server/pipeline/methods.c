/*
 * methods.c: handles a call from its headers to its status, for all methods alike: checks who may
 * call, waits for the complete request, then runs the stage and the read, write or stream, and ends
 * the call. All properties of methods come from the generated tables.
 */
#include "server/call/status.h"
#include "server/domain/text/sanitise.h"
#include "server/pipeline/rpc.h"

#include "store/base/assert.h"
#include "store/base/logger.h"

#include <inttypes.h>

static const char *const role_names[] = {
    [ROLE_VIEWER] = "VIEWER",   [ROLE_OPERATOR] = "OPERATOR",     [ROLE_REVIEWER] = "REVIEWER",
    [ROLE_SERVICE] = "SERVICE", [ROLE_INTEGRATOR] = "INTEGRATOR", [ROLE_ADMIN] = "ADMIN",
};

#define AUTHORIZATION_REPEATED                                                                     \
    "authorization: given several times; expected one header with 'Bearer errata_...'"

#define ROLE_NAMES_COUNT (sizeof(role_names) / sizeof(role_names[0]))

enum err pipeline_begin_read(struct pipeline *pipeline, struct store_txn **ret_txn)
{
    /* Read before the snapshot is taken, so that an entry may be considered stale too early, but
     * never too late. */
    uint64_t commits = writer_commit_count(pipeline->config.writer);
    enum err err = OK;

    ASSERT(!pipeline->reading);
    if (commits != pipeline->read_commits) {
        store_reset(pipeline->read_txn);
    }
    err = store_renew(pipeline->read_txn);
    if (err != OK) {
        return err;
    }
    pipeline->read_commits = commits;
    pipeline->reading = true;
    *ret_txn = pipeline->read_txn;
    return OK;
}

void pipeline_end_read(struct pipeline *pipeline)
{
    ASSERT(pipeline->reading);
    pipeline->reading = false;
}

/* Logs texts that became empty because they could not be made safe: one line per turn of the loop,
 * since this happens in any thread and method. */
static void report_fallbacks(struct pipeline *pipeline)
{
    uint64_t count = sanitise_fallback_count();
    const struct logger_field fields[] = {
        LOGGER_NUMBER_FIELD("texts", count - pipeline->reported_fallbacks),
        LOGGER_NUMBER_FIELD("texts_total", count),
    };

    if (count != pipeline->reported_fallbacks) {
        logger_write(LOGGER_DEBUG, "sanitiser fallback", fields,
                     sizeof(fields) / sizeof(fields[0]));
        pipeline->reported_fallbacks = count;
    }
}

void pipeline_end_turn(struct pipeline *pipeline)
{
    ASSERT(!pipeline->reading);
    store_reset(pipeline->read_txn);
    report_fallbacks(pipeline);
}

struct arena pipeline_take_arena(struct pipeline *pipeline, size_t limit_bytes)
{
    struct arena arena;

    if (pipeline->arena_count == 0) {
        arena_init(&arena, limit_bytes);
        return arena;
    }
    arena = pipeline->arenas[--pipeline->arena_count];
    arena.limit_bytes = limit_bytes;
    return arena;
}

void pipeline_give_arena(struct pipeline *pipeline, struct arena *arena)
{
    if (arena->limit_bytes == 0) {
        return; /* no message was taken */
    }
    if (pipeline->arena_count == PIPELINE_ARENAS_MAX) {
        arena_deinit(arena);
        return;
    }
    arena_reset_by(arena, pipeline->config.run_on_pool, pipeline->config.user);
    pipeline->arenas[pipeline->arena_count++] = *arena;
}

/* Authenticates by the cache, or by the store if that does not have the identity. `version` is
 * auth_version, read before. */
static enum err identify(struct pipeline *pipeline, struct ctx *ctx, struct slice authorization,
                         uint64_t version, struct auth_identity *ret_identity)
{
    struct store_txn *txn = NULL;
    enum err err = OK;

    if (auth_check_cached(pipeline->config.auth, authorization, version, pipeline->config.clock,
                          ret_identity)) {
        return OK;
    }
    err = pipeline_begin_read(pipeline, &txn);
    if (err != OK) {
        return err;
    }
    err = auth_check(pipeline->config.auth, ctx, txn, authorization, version, ret_identity);
    pipeline_end_read(pipeline);
    return err;
}

/* Authenticates a plain request. */
static enum err identify_plain(struct pipeline *pipeline, const struct plain_request *request,
                               struct fault *fault, struct auth_identity *ret_identity)
{
    uint64_t version = auth_version(pipeline->config.writer);
    struct ctx ctx = {request->arena, pipeline->config.clock, pipeline->config.random, fault};
    enum err err = OK;

    if (request->authorization_repeated) {
        return fault_say(fault, ERR_UNAUTHENTICATED, AUTHORIZATION_REPEATED);
    }
    err = identify(pipeline, &ctx, request->authorization, version, ret_identity);
    pipeline_note_refusal(pipeline,
                          &(struct refused){.peer = request->peer, .method = request->path}, err);
    return err;
}

enum err pipeline_admit_server(struct pipeline *pipeline, const struct plain_request *request,
                               struct fault *fault)
{
    struct auth_identity identity = {.server = false};
    enum err err = identify_plain(pipeline, request, fault, &identity);

    if (err == OK && !identity.server) {
        err = fault_say(fault, ERR_DENIED,
                        "authorization: the token has no server flag; expected a token with it");
    }
    return err;
}

enum err pipeline_find_role(struct pipeline *pipeline, const struct plain_request *request,
                            struct fault *fault, uint32_t *ret_role)
{
    struct auth_identity identity = {.server = false};
    enum err err = identify_plain(pipeline, request, fault, &identity);

    if (err == OK) {
        *ret_role = identity.role;
    }
    return err;
}

enum err rpc_authenticate(struct rpc *rpc)
{
    struct pipeline *pipeline = rpc->pipeline;
    /* Read before the snapshot is taken, so that an entry may be considered stale too early, but
     * never too late. */
    uint64_t version = auth_version(pipeline->config.writer);
    struct auth_identity identity;
    enum err err = OK;

    err = identify(pipeline, &rpc->ctx, rpc->call->authorization, version, &identity);
    if (err != OK) {
        return err;
    }
    rpc->identity_version = version;
    rpc->token_expire_at_us = identity.expire_at_us;
    rpc->principal.org = identity.org;
    rpc->principal.server = identity.server;
    rpc->principal.key_id = identity.key_id;
    if (!role_from_wire((int32_t)identity.role, &rpc->principal.role)) {
        return ERR_CORRUPT;
    }
    if (!slice_equal(rpc->principal.user_id, identity.user_id) &&
        !arena_copy(rpc->call->arena, identity.user_id, &rpc->principal.user_id)) {
        return ERR_MEMORY;
    }
    rpc->service.principal = &rpc->principal;
    return OK;
}

bool rpc_has_expired(const struct rpc *rpc)
{
    return rpc->token_expire_at_us != 0 &&
           rpc->token_expire_at_us <= clock_wall_us(rpc->pipeline->config.clock);
}

/* Checks the token again at the end of the request: a minute may pass after the headers, in which
 * the token may be revoked or expire, or its organisation be suspended. */
static enum err authenticate_again(struct rpc *rpc)
{
    uint64_t version = auth_version(rpc->pipeline->config.writer);

    if (rpc->method->open || (rpc->identity_version == version && !rpc_has_expired(rpc))) {
        return OK;
    }
    return rpc_authenticate(rpc);
}

/* Checks that the role is in the method's options; the error lists the roles that are. */
static enum err check_role(struct rpc *rpc)
{
    role_set roles = rpc->method->roles;
    struct buffer allowed;

    if ((roles >> rpc->principal.role & 1) != 0) {
        return OK;
    }
    buffer_init(&allowed, rpc->call->arena, 64);
    for (size_t role = 1; role < ROLE_NAMES_COUNT; role++) {
        if ((roles >> role & 1) != 0) {
            buffer_printf(&allowed, "%s%s", allowed.size == 0 ? "" : ", ", role_names[role]);
        }
    }
    if (allowed.size == 0) {
        buffer_append(&allowed, SLICE("no role"));
    }
    return fault_say(
        &rpc->fault, ERR_DENIED, "authorization: the role %s may not call %.*s; expected %.*s",
        role_names[rpc->principal.role], (int)rpc->method->path.size - 1,
        (const char *)rpc->method->path.data + 1, (int)allowed.size, (const char *)allowed.data);
}

/* Authorises a call: open methods need no token, others a token with one of the method's roles. */
static enum err admit(struct rpc *rpc)
{
    enum err err = OK;

    if (rpc->method->open) {
        return OK;
    }
    if (rpc->pipeline->draining) {
        return ERR_DRAINING;
    }
    if (rpc->call->authorization_repeated) {
        return fault_say(&rpc->fault, ERR_UNAUTHENTICATED, AUTHORIZATION_REPEATED);
    }
    err = rpc_authenticate(rpc);
    if (err == OK) {
        err = rpc_quota_admit(rpc);
    }
    if (err == OK) {
        err = check_role(rpc);
    }
    if (err != OK || !rpc_takes_document(rpc)) {
        return err;
    }
    return rpc_document_admit(rpc);
}

static void link_live(struct pipeline *pipeline, struct rpc *rpc)
{
    rpc->next = pipeline->live;
    if (rpc->next != NULL) {
        rpc->next->previous = rpc;
    }
    pipeline->live = rpc;
    pipeline->live_count++;
}

static void unlink_live(struct pipeline *pipeline, struct rpc *rpc)
{
    if (rpc->previous != NULL) {
        rpc->previous->next = rpc->next;
    } else {
        pipeline->live = rpc->next;
    }
    if (rpc->next != NULL) {
        rpc->next->previous = rpc->previous;
    }
    pipeline->live_count--;
}

static void on_start(void *user, struct call *call)
{
    struct pipeline *pipeline = (struct pipeline *)user;
    struct rpc *rpc = (struct rpc *)arena_calloc(call->arena, 1, sizeof(*rpc));
    enum err err = OK;

    if (rpc == NULL) {
        struct status status = status_of(call->arena, ERR_MEMORY, NULL);

        call->user = NULL;
        call_finish(call, &status);
        return;
    }
    call->user = rpc;
    rpc->pipeline = pipeline;
    rpc->call = call;
    rpc->state = RPC_RECEIVING;
    rpc->method = call->method;
    rpc->handler = &dispatch_handlers[call->method->index];
    rpc->ctx =
        (struct ctx){call->arena, pipeline->config.clock, pipeline->config.random, &rpc->fault};
    fault_init(&rpc->fault, call->arena);
    rpc->service = (struct service){.ctx = &rpc->ctx,
                                    .method = call->method,
                                    .env = pipeline->config.env,
                                    .verify = pipeline->config.verify,
                                    .backup = pipeline->config.backup,
                                    .eraser = pipeline->config.eraser,
                                    .exports = pipeline->config.exports,
                                    .quotas = auth_quota_book(pipeline->config.auth)};
    link_live(pipeline, rpc);
    err = admit(rpc);
    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    if (rpc->method->stream == METHOD_BIDI_STREAM) {
        rpc_stream_start(rpc);
    } else if (rpc->method->stream == METHOD_CLIENT_STREAM) {
        rpc_receive_start(rpc);
    }
}

/* Handles one message of a streamed request. */
static void take_part(struct rpc *rpc, struct slice message)
{
    enum err err = authenticate_again(rpc);

    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    rpc->has_message = true;
    rpc_receive_message(rpc, message);
}

static void on_message(void *user, struct call *call, struct slice message)
{
    struct rpc *rpc = (struct rpc *)call->user;

    (void)user;
    if (rpc->method->stream == METHOD_BIDI_STREAM) {
        rpc_stream_message(rpc, message);
        return;
    }
    if (rpc->method->stream == METHOD_CLIENT_STREAM) {
        take_part(rpc, message);
        return;
    }
    rpc->message = message;
    rpc->has_message = true;
}

/* A request without a message; the transport accepts this only for streamed ones. */
static enum err refuse_empty(struct rpc *rpc)
{
    if (UNEXPECTED(rpc->method->stream != METHOD_CLIENT_STREAM)) {
        return ERR_INTERNAL;
    }
    return fault_say(&rpc->fault, ERR_INVALID,
                     "request: no message; %.*s expects one or more messages of type %.*s",
                     (int)rpc->method->path.size - 1, (const char *)rpc->method->path.data + 1,
                     (int)rpc->method->request->full_name.size,
                     (const char *)rpc->method->request->full_name.data);
}

static void on_half_close(void *user, struct call *call)
{
    struct rpc *rpc = (struct rpc *)call->user;
    enum err err = OK;

    (void)user;
    if (rpc->method->stream == METHOD_BIDI_STREAM) {
        rpc_stream_stop(rpc);
        rpc_finish(rpc, OK);
        return;
    }
    if (!rpc->has_message) {
        rpc_finish(rpc, refuse_empty(rpc));
        return;
    }
    err = authenticate_again(rpc);
    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    rpc_stage(rpc);
}

static void on_writable(void *user, struct call *call)
{
    struct rpc *rpc = (struct rpc *)call->user;

    (void)user;
    if (rpc->state == RPC_STREAMING) {
        rpc_stream_writable(rpc);
    }
}

static void on_cancel(void *user, struct call *call, enum err why)
{
    struct rpc *rpc = (struct rpc *)call->user;

    (void)user;
    rpc->cancel_why = why;
    switch (rpc->state) {
    case RPC_RECEIVING:
        rpc_finish(rpc, why);
        return;
    case RPC_STREAMING:
        rpc_stream_stop(rpc);
        rpc_finish(rpc, why);
        return;
    case RPC_WRITING:
        rpc_write_cancel(rpc);
        return;
    case RPC_READ_WAITING:
        rpc_pool_read_leave(rpc);
        if (rpc->state == RPC_STREAMING) {
            rpc_stream_stop(rpc);
        }
        rpc_finish(rpc, why);
        return;
    case RPC_ON_POOL: /* its completion reads cancel_why */
        atomic_store(&rpc->service.cancelled, true);
        rpc_document_cancel(rpc);
        return;
    case RPC_ENDED:
        return;
    }
}

struct method_call rpc_method_call(struct rpc *rpc, struct store_txn *txn, struct buffer *body)
{
    return (struct method_call){
        .service = &rpc->service,
        .txn = txn,
        .request = rpc->request,
        .prepared = rpc->prepared,
        .cost = READ_IS_SHORT,
        .body = body,
        .stream = &rpc->stream,
    };
}

/* Writes the reply, in a transaction that is open if the method has one. */
static enum err write_reply(struct rpc *rpc, struct store_txn *txn)
{
    uint32_t *likely_bytes = &rpc->pipeline->likely_bytes[rpc->method->index];
    struct buffer *body = call_reply_begin(rpc->call, *likely_bytes);
    enum err err = rpc_read(rpc, txn, body);

    if (err == OK) {
        *likely_bytes = (uint32_t)body->size;
        err = call_reply_end(rpc->call);
    }
    return err;
}

/* Runs a read, or a method without a transaction, on the loop, unless it is long. */
static enum err answer_read(struct rpc *rpc, enum read_cost *ret_cost)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct store_txn *txn = NULL;
    enum err err = OK;

    if (rpc->method->transaction == METHOD_READ) {
        err = pipeline_begin_read(pipeline, &txn);
        if (err != OK) {
            return err;
        }
    }
    err = rpc_find_cost(rpc, txn, ret_cost);
    if (err == OK && *ret_cost == READ_IS_SHORT) {
        err = write_reply(rpc, txn);
    }
    if (txn != NULL) {
        pipeline_end_read(pipeline);
    }
    return err;
}

static void read_now(struct rpc *rpc)
{
    enum read_cost cost = READ_IS_LONG;
    enum err err = rpc->method->execution == METHOD_ON_POOL ? OK : answer_read(rpc, &cost);

    if (err == OK && cost == READ_IS_LONG) {
        rpc_pool_read(rpc);
        return;
    }
    rpc_finish(rpc, err);
}

static void write_now(struct rpc *rpc)
{
    enum err err = rpc_quota_check_storage(rpc);

    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    rpc_write_submit(rpc);
}

void rpc_continue(struct rpc *rpc, enum err result)
{
    enum err err = result;

    call_end_message(rpc->call); /* the message was decoded, or is not needed */
    if (rpc->cancel_why != OK) {
        err = rpc->cancel_why;
    }
    if (err != OK) {
        rpc_finish(rpc, err);
        return;
    }
    if (rpc->method->stream == METHOD_SERVER_STREAM) {
        rpc_stream_start(rpc);
    } else if (rpc->method->transaction == METHOD_WRITE) {
        write_now(rpc);
    } else {
        read_now(rpc);
    }
}

static bool is_slow(const struct rpc *rpc, int64_t duration_us)
{
    /* Documents wait for their turn, and streams last long, so neither counts as slow. */
    return duration_us > PIPELINE_SLOW_US && rpc->method->stream == METHOD_UNARY &&
           !rpc_takes_document(rpc);
}

/* Logs one line per call at level debug, and always one for an internal error or a slow call; never
 * payloads. */
static void log_call(const struct rpc *rpc, enum err result, int64_t duration_us)
{
    uint32_t code = err_status(result);
    bool refused = result == ERR_DRAINING || result == ERR_BUSY; /* rpc_note_refusal logs these */
    bool failed = code == STATUS_INTERNAL || (code == STATUS_UNAVAILABLE && !refused);
    enum logger_level level = failed || is_slow(rpc, duration_us) ? LOGGER_INFO : LOGGER_DEBUG;
    char org[UUID_TEXT_BYTES];

    if (!logger_wants(level)) {
        return;
    }
    uuid_format(rpc->principal.org.uuid, org);

    const struct logger_field fields[] = {
        LOGGER_NUMBER_FIELD("request", rpc->call->number),
        LOGGER_TEXT_FIELD("method", rpc->method->path),
        LOGGER_TEXT_FIELD("result", slice_text(err_name(result))),
        LOGGER_NUMBER_FIELD("code", code),
        LOGGER_NUMBER_FIELD("duration_us", duration_us),
        LOGGER_TEXT_FIELD("org", slice_of(org, rpc->service.principal != NULL ? sizeof(org) : 0)),
        LOGGER_TEXT_FIELD("peer", rpc->call->peer),
    };

    logger_write(level, failed ? "call failed" : "call", fields,
                 sizeof(fields) / sizeof(fields[0]));
}

void rpc_finish(struct rpc *rpc, enum err result)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct call *call = rpc->call;
    struct status status = status_of(call->arena, result, &rpc->fault);
    struct arena stage_arena = rpc->stage_arena;
    struct arena work_arena = rpc->work_arena;
    struct arena write_arena = rpc_write_take_arena(rpc);
    int64_t duration_us = clock_monotonic_us(pipeline->config.clock) - call->started_us;

    ASSERT(rpc->state != RPC_ENDED);
    rpc_document_close(rpc);
    rpc_quota_give(rpc, QUOTA_STREAMS);
    rpc->state = RPC_ENDED;
    env_count_call(pipeline->config.env, rpc->method->index, (uint32_t)status.code, duration_us);
    log_call(rpc, result, duration_us);
    rpc_note_refusal(rpc, result);
    unlink_live(pipeline, rpc);
    call_finish(call, &status); /* copies the status, whose texts may be in these arenas */
    pipeline_give_arena(pipeline, &stage_arena);
    pipeline_give_arena(pipeline, &work_arena);
    pipeline_give_arena(pipeline, &write_arena);
}

enum err pipeline_new(struct arena *arena, const struct pipeline_config *config,
                      struct pipeline **ret_pipeline)
{
    struct pipeline *pipeline = (struct pipeline *)arena_calloc(arena, 1, sizeof(*pipeline));
    enum err err = OK;

    if (pipeline == NULL) {
        return ERR_MEMORY;
    }
    pipeline->config = *config;
    pipeline->handlers = (struct call_handlers){pipeline,      on_start,    on_message,
                                                on_half_close, on_writable, on_cancel};
    pipeline->likely_bytes =
        (uint32_t *)arena_calloc(arena, contract_method_count, sizeof(uint32_t));
    if (pipeline->likely_bytes == NULL) {
        return ERR_MEMORY;
    }
    err = store_begin(config->backend, STORE_READ, &pipeline->read_txn);
    if (err != OK) {
        return err;
    }
    store_reset(pipeline->read_txn);
    *ret_pipeline = pipeline;
    return OK;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (pipeline == NULL) {
        return;
    }
    ASSERT(pipeline->live == NULL);
    ASSERT(pipeline->live_count == 0);
    ASSERT(pipeline->reads.waiting_count == 0);
    store_abort(pipeline->read_txn);
    while (pipeline->arena_count > 0) {
        arena_deinit(&pipeline->arenas[--pipeline->arena_count]);
    }
}

struct slice service_actor(const struct service *service)
{
    const struct principal *principal = service->principal;

    return principal->user_id.size > 0
               ? principal->user_id
               : arena_printf(service->ctx->arena, "token:%08" PRIx32, principal->key_id);
}

const struct call_handlers *pipeline_handlers(struct pipeline *pipeline)
{
    return &pipeline->handlers;
}

size_t pipeline_live_count(const struct pipeline *pipeline)
{
    return pipeline->live_count;
}
