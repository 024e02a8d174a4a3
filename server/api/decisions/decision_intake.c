/*
 * decision_intake.c: see decision_intake.h.
 */
#include "server/api/decisions/decision_intake.h"

#include "server/api/decisions/stream_entry.h"
#include "server/call/status.h"
#include "store/base/assert.h"

#include <errata/v1/decision_service.handlers.h>

/* The reader of the stream acts for decisions that name no reviewer. */
#define READER "redis"

static struct decision_service_record_decision_call call_of(struct decision_intake *intake,
                                                            struct ctx *ctx)
{
    return (struct decision_service_record_decision_call){
        .service = &intake->service,
        .ctx = ctx,
        .org = intake->principal.org,
        .request = intake->request,
        .prepared = intake->prepared,
    };
}

enum err decision_intake_prepare(struct ctx *ctx, struct service_env *env, struct org_id org,
                                 const struct stream_entry *entry,
                                 struct decision_intake *ret_intake)
{
    struct decision_service_record_decision_call call;
    enum err err = OK;

    memset(ret_intake, 0, sizeof(*ret_intake));
    ret_intake->principal =
        (struct principal){.org = org, .role = ROLE_SERVICE, .user_id = SLICE(READER)};
    ret_intake->service.ctx = ctx;
    ret_intake->service.kept = ctx->arena;
    ret_intake->service.principal = &ret_intake->principal;
    ret_intake->service.method = contract_find_method(SLICE(STREAM_ENTRY_METHOD_PATH));
    ret_intake->service.env = env;
    ASSERT(ret_intake->service.method != NULL);
    err = stream_entry_read(ctx, entry, &ret_intake->ahead_us, &ret_intake->request);
    if (err != OK) {
        return err;
    }
    call = call_of(ret_intake, ctx);
    err = decision_service_record_decision_prepare(&call);
    ret_intake->prepared = call.prepared;
    return err;
}

enum err decision_intake_write(struct decision_intake *intake, struct ctx *ctx,
                               struct store_txn *txn, struct work_result *result)
{
    struct decision_service_record_decision_call call = call_of(intake, ctx);

    intake->service.ctx = ctx;
    result->org = intake->principal.org;
    call.txn = txn;
    call.result = result;
    return decision_service_record_decision_write(&call);
}

bool decision_intake_is_refusal(enum err err)
{
    switch (err) {
    case ERR_INVALID:
    case ERR_NOT_FOUND:
    case ERR_EXISTS:
    case ERR_DENIED:
    case ERR_TOO_LARGE:
    case ERR_PRECONDITION:
    case ERR_MALFORMED:
        return true;
    case OK:
    case ERR_CANCELLED:
    case ERR_ORGANIZATION_SUSPENDED:
    case ERR_ORGANIZATION_DELETED:
    case ERR_ORGANIZATION_IMPORTING:
    case ERR_DEADLINE:
    case ERR_DEADLINE_UNKNOWN:
    case ERR_BUSY:
    case ERR_DISK_FULL:
    case ERR_QUOTA:
    case ERR_UNIMPLEMENTED:
    case ERR_INTERNAL:
    case ERR_MEMORY:
    case ERR_CORRUPT:
    case ERR_IO:
    case ERR_UNAVAILABLE:
    case ERR_DRAINING:
    case ERR_UNAUTHENTICATED:
    case ERR_COUNT:
        break;
    }
    return false;
}

struct slice decision_intake_reason(struct arena *arena, enum err err, const struct fault *fault)
{
    return status_of(arena, err, fault).message;
}
