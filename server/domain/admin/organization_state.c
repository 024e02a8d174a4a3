/*
 * organization_state.c: see organization_state.h.
 */
#include "server/domain/admin/organization_state.h"

#include "server/domain/admin/admin_internal.h"
#include "server/domain/admin/keys.h"
#include "store/log_import.h"

#include <errata/v1/event.views.h>

enum err organization_state_find_server(struct store_txn *txn, struct org_id *ret_org)
{
    return admin_find_organization(txn, SLICE(ADMIN_SERVER_ORGANIZATION), &ret_org->uuid);
}

enum err organization_state_is_suspended(struct store_txn *txn, struct org_id org,
                                         bool *ret_is_suspended)
{
    struct organization_record record = {.suspended_at_us = 0};
    enum err err = admin_read_organization(txn, org.uuid, &record);

    if (err != OK || record.suspended_at_us != 0) {
        *ret_is_suspended = err == OK;
        return err == ERR_NOT_FOUND ? OK : err;
    }
    return log_import_is_marked(txn, org, ret_is_suspended);
}

enum err organization_state_check_caller(struct ctx *ctx, struct store_txn *txn,
                                         const struct admin_actor *actor, struct org_id caller_org)
{
    struct organization_record record = {.suspended_at_us = 0};
    enum err err = OK;

    if (!actor->server) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "authorization: the token lacks the server flag; expected a token with "
                         "the flag to suspend, resume, import or delete organisations");
    }
    err = admin_read_organization(txn, caller_org.uuid, &record);
    if (err == ERR_NOT_FOUND) {
        return ERR_ORGANIZATION_DELETED;
    }
    if (err == OK && record.suspended_at_us != 0) {
        return fault_say(ctx->fault, ERR_ORGANIZATION_SUSPENDED,
                         "authorization: the token's organisation is suspended; expected a token "
                         "of an active one");
    }
    return err;
}

/* Refuses the organisations without which the server could lose its last administrator. */
static enum err check_may_suspend(struct ctx *ctx, struct store_txn *txn,
                                  const struct organization_state_change *change)
{
    struct org_id server = {.uuid = {.bytes = {0}}};
    enum err err = organization_state_find_server(txn, &server);

    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (err == OK && uuid_equal(change->org.uuid, server.uuid)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "org_id: the organisation '" ADMIN_SERVER_ORGANIZATION
                         "' is the server's own; expected another one");
    }
    if (uuid_equal(change->org.uuid, change->caller_org.uuid)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "org_id: the organisation of the caller's own token; expected another "
                         "one, or a token of another one");
    }
    return OK;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                       const struct organization_state_change *change,
                       struct work_result *ret_result)
{
    const struct organization_state_set_view facts = {
        .previous_state =
            change->suspend ? ORGANIZATION_STATE_ACTIVE : ORGANIZATION_STATE_SUSPENDED,
        .state = change->suspend ? ORGANIZATION_STATE_SUSPENDED : ORGANIZATION_STATE_ACTIVE,
        .reason = change->reason,
    };
    struct event_draft draft;
    enum err err = OK;

    admin_draft_fill(&draft, change->org, EVENT_ORGANIZATION_STATE_SET, actor);
    err = log_next_stamp(ctx, txn, change->org, &draft.stamp);
    if (err != OK) {
        return err;
    }
    if (!view_encode_parts(&organization_state_set_view_type, &facts, ctx->arena, &draft.facts,
                           &draft.content)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, &draft, SUBJECT_ORGANIZATION, change->org.uuid);
    return err != OK ? err : admin_draft_append(ctx, txn, &draft, ret_result);
}

enum err organization_state_set(struct ctx *ctx, struct store_txn *txn,
                                const struct admin_actor *actor,
                                const struct organization_state_change *change,
                                struct work_result *ret_result)
{
    struct organization_record record;
    enum err err = organization_state_check_caller(ctx, txn, actor, change->caller_org);

    if (err == OK) {
        err = admin_read_organization(txn, change->org.uuid, &record);
    }
    if (err == OK && change->suspend) {
        err = check_may_suspend(ctx, txn, change);
    }
    if (err != OK) {
        return err;
    }
    if (change->suspend == (record.suspended_at_us != 0)) {
        *ret_result = (struct work_result){.org = change->org, .first_seq = record.state_seq};
        return OK;
    }
    return append(ctx, txn, actor, change, ret_result);
}

/* Reads the state that an event has set. */
static enum err read_event(const struct event *event, struct organization_record *record)
{
    struct organization_state_set_view facts;
    enum err err = organization_state_set_view_read(event->facts, &facts);

    if (err == OK) {
        record->suspended_at_us =
            facts.state == ORGANIZATION_STATE_SUSPENDED ? event->created_at_us : 0;
        record->state_seq = event->seq;
    }
    return err;
}

enum err organization_state_after(struct store_txn *txn, const struct work_result *result,
                                  struct organization_record *ret_organization)
{
    struct organization_record record;
    struct event event;
    enum err err = admin_read_organization(txn, result->org.uuid, &record);

    if (err != OK) {
        return err;
    }
    record.suspended_at_us = 0;
    if (result->first_seq != 0) {
        err = log_read(txn, result->org, result->first_seq, &event);
        err = err == OK ? read_event(&event, &record) : err;
    }
    if (err == OK) {
        *ret_organization = record;
    }
    return err;
}

enum err organization_state_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct key key = key_organization_global(event->org.uuid);
    struct organization_record record;
    struct slice bytes = {NULL, 0};
    enum err err = admin_read_organization(txn, event->org.uuid, &record);

    if (err == OK) {
        err = read_event(event, &record);
    }
    if (err == OK) {
        err = record_encode_organization(ctx->arena, &record, &bytes);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return store_put(txn, TABLE_ORGANIZATION, key_slice(&key), bytes);
}
