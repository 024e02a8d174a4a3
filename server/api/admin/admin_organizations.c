/*
 * admin_organizations.c: AdminService's SuspendOrganization, ResumeOrganization and DeleteOrganization.
 */
#include "server/api/admin/admin_wire.h"
#include "server/auth/auth.h"
#include "server/domain/admin/organization_deletion.h"
#include "server/domain/admin/organization_state.h"
#include "server/pipeline/caller.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/organization.fields.h>

/* Common members of the methods' structs. */
struct state_write {
    const struct service *service;
    struct ctx *ctx;
    struct store_txn *txn;
    struct work_result *result;
};

static enum err set_state(const struct state_write *write, bool suspend, const char *org_id,
                          const char *reason)
{
    const struct admin_actor actor = admin_wire_actor(write->service);
    struct organization_state_change change = {
        .caller_org = write->service->principal->org,
        .suspend = suspend,
        .reason = slice_text(reason),
    };
    enum err err = caller_resolve_org(write->service, write->txn, org_id, &change.org);

    return err != OK
               ? err
               : organization_state_set(write->ctx, write->txn, &actor, &change, write->result);
}

static enum err answer(struct store_txn *txn, const struct work_result *result, uint32_t field,
                       struct buffer *body)
{
    struct organization_record record;
    enum err err = organization_state_after(txn, result, &record);

    if (err == OK) {
        admin_wire_put_organization(&record, field, body);
    }
    return err;
}

enum err
admin_service_suspend_organization_write(struct admin_service_suspend_organization_call *call)
{
    const struct state_write write = {call->service, call->ctx, call->txn, call->result};

    return set_state(&write, true, call->request->org_id, call->request->reason);
}

enum err
admin_service_suspend_organization_answer(struct admin_service_suspend_organization_call *call)
{
    return answer(call->txn, call->result, SUSPEND_ORGANIZATION_RESPONSE_ORGANIZATION_FIELD,
                  call->body);
}

enum err
admin_service_resume_organization_write(struct admin_service_resume_organization_call *call)
{
    const struct state_write write = {call->service, call->ctx, call->txn, call->result};

    return set_state(&write, false, call->request->org_id, call->request->reason);
}

enum err
admin_service_resume_organization_answer(struct admin_service_resume_organization_call *call)
{
    return answer(call->txn, call->result, RESUME_ORGANIZATION_RESPONSE_ORGANIZATION_FIELD,
                  call->body);
}

enum err
admin_service_delete_organization_write(struct admin_service_delete_organization_call *call)
{
    const struct principal *principal = call->service->principal;
    const struct admin_actor actor = admin_wire_actor(call->service);
    struct organization_deletion_request request = {
        .caller_org = principal->org,
        .confirm_name = slice_text(call->request->confirm_name),
        .reason = slice_text(call->request->reason),
    };
    enum err err = auth_resolve_any_org(call->ctx, call->txn, principal->org, principal->server,
                                        slice_text(call->request->org_id), &request.org);

    return err != OK
               ? err
               : organization_deletion_begin(call->ctx, call->txn, &actor, &request, call->result);
}

/* Answers only from the event: the organisation may be gone when the request is repeated. */
enum err
admin_service_delete_organization_answer(struct admin_service_delete_organization_call *call)
{
    struct deletion_progress_view progress = {.has_started_at = true};
    struct organization_record record = {.suspended_at_us = 0};
    struct organization_deleted_view facts;
    enum err err = organization_deletion_read(call->txn, call->result->org, call->result->first_seq,
                                              &facts, &progress.started_at_us);

    if (err != OK) {
        return err;
    }
    record.id = facts.org_id;
    record.name = facts.name;
    record.created_at_us = facts.organization_created_at_us;
    progress.event_count = facts.event_count;
    return admin_wire_put_deleted(call->ctx->arena, &record, &progress,
                                  DELETE_ORGANIZATION_RESPONSE_ORGANIZATION_FIELD, call->body);
}
