/*
 * quotas.c: keeps calls within the quotas of their organisation and token. Requests are counted
 * once, after the token was checked; streams and PDFs from their start to the call's end; stored
 * bytes before a write is queued. A refusal states the limit, and how to change it.
 */
#include "server/pipeline/rpc.h"

#include <inttypes.h>

/* Kinds of use that the limits count. */
static const char *const units[QUOTA_KIND_COUNT] = {
    [QUOTA_REQUESTS] = "requests per second",
    [QUOTA_STREAMS] = "concurrent streams",
    [QUOTA_STORED_BYTES] = "stored bytes",
    [QUOTA_PDF_JOBS] = "PDFs at a time",
};

/* Finds the caller in the book, reading its limits if any quota changed since. */
static enum err find_user(struct rpc *rpc, struct quota_user *ret_user)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct quota_book *book = auth_quota_book(pipeline->config.auth);
    const struct principal *principal = &rpc->principal;
    uint64_t version = writer_table_version(pipeline->config.writer, TABLE_QUOTA);
    struct store_txn *txn = NULL;
    enum err err = OK;

    if (quota_book_find(book, principal->org, principal->key_id, version, ret_user)) {
        return OK;
    }
    err = pipeline_begin_read(pipeline, &txn);
    if (err != OK) {
        return err;
    }
    err = quota_book_read(book, txn, principal->org, principal->key_id, version, ret_user);
    pipeline_end_read(pipeline);
    return err;
}

/* Returns what a caller may do about a refusal besides a higher limit. */
static struct slice remedy(struct arena *arena, const struct quota_refusal *refusal)
{
    return refusal->kind == QUOTA_STORED_BYTES
               ? SLICE("less content, by a shorter retention or an erasure")
               : arena_printf(arena, "another attempt after %" PRIu32 " ms", refusal->retry_ms);
}

/* Explains a refusal, and counts it. */
static enum err refuse(struct rpc *rpc, const struct quota_refusal *refusal)
{
    struct arena *arena = rpc->fault.arena;
    const char *field = quota_kind_field(refusal->kind);
    struct slice other = remedy(arena, refusal);
    char org_id[UUID_TEXT_BYTES];
    struct slice holder = slice_of(org_id, sizeof(org_id));

    uuid_format(rpc->principal.org.uuid, org_id);
    if (refusal->is_token) {
        holder = arena_printf(arena, "%08" PRIx32, rpc->principal.key_id);
    }
    rpc->fault.quota = (struct fault_quota){
        .subject = arena_printf(arena, "%s:%.*s", refusal->is_token ? "token" : "organization",
                                (int)holder.size, (const char *)holder.data),
        .name = field,
        .limit = refusal->limit,
        .retry_ms = refusal->retry_ms,
    };
    rpc->pipeline->config.env->quota_refusals[refusal->kind]++;
    return fault_say_reason(
        &rpc->fault, ERR_QUOTA, field,
        "%s %.*s is at its limit of %" PRIu64 " %s; expected %.*s, or a higher limit by "
        "`errata admin quota %s%.*s %s N`",
        refusal->is_token ? "the token" : "the organisation", (int)holder.size,
        (const char *)holder.data, refusal->limit, units[refusal->kind], (int)other.size,
        (const char *)other.data, refusal->is_token ? "--key-id " : "--org ", (int)holder.size,
        (const char *)holder.data, quota_kind_option(refusal->kind));
}

/* Returns whether requests are not counted: only an administrator of the server can always see and change quotas. One of an
 * organisation could otherwise call without a limit. */
static bool is_outside(const struct rpc *rpc)
{
    return rpc->method->outside_quotas && rpc->principal.server;
}

enum err rpc_quota_admit(struct rpc *rpc)
{
    struct quota_refusal refusal;
    struct quota_user user;
    enum err err = OK;

    if (is_outside(rpc)) {
        return OK;
    }
    err = find_user(rpc, &user);
    if (err != OK || !quota_limits_requests(user)) {
        return err; /* the usual case reads no clock */
    }
    return quota_take_request(user, clock_monotonic_us(rpc->ctx.clock), &refusal)
               ? OK
               : refuse(rpc, &refusal);
}

enum err rpc_quota_take(struct rpc *rpc, enum quota_kind kind)
{
    struct quota_refusal refusal;
    enum err err = OK;

    if (rpc->method->open) {
        return OK;
    }
    err = find_user(rpc, &rpc->quota_user);
    if (err != OK) {
        return err;
    }
    rpc->uses_quota[kind] =
        quota_take(auth_quota_book(rpc->pipeline->config.auth), rpc->quota_user, kind, &refusal);
    return rpc->uses_quota[kind] ? OK : refuse(rpc, &refusal);
}

void rpc_quota_give(struct rpc *rpc, enum quota_kind kind)
{
    if (rpc->uses_quota[kind]) {
        quota_give(auth_quota_book(rpc->pipeline->config.auth), rpc->quota_user, kind);
        rpc->uses_quota[kind] = false;
    }
}

/* Returns whether only administrators may call the method: what ends a full quota is one of those. */
static bool is_administration(const struct rpc *rpc)
{
    return rpc->method->roles == 1u << ROLE_ADMIN;
}

enum err rpc_quota_check_storage(struct rpc *rpc)
{
    struct pipeline *pipeline = rpc->pipeline;
    struct quota_refusal refusal;
    struct quota_user user;
    struct store_txn *txn = NULL;
    enum err err = find_user(rpc, &user);

    if (err != OK || !quota_limits_storage(user, &refusal) || is_administration(rpc)) {
        return err;
    }
    err = pipeline_begin_read(pipeline, &txn);
    if (err != OK) {
        return err;
    }
    err = quota_check_stored_bytes(txn, rpc->principal.org, refusal.limit);
    pipeline_end_read(pipeline);
    return err == ERR_QUOTA ? refuse(rpc, &refusal) : err;
}
