/*
 * admin_organizations.c: AdminService's SuspendOrganization and ResumeOrganization.
 */
#include "server/api/admin/admin_wire.h"
#include "server/domain/admin/organization_state.h"
#include "server/pipeline/caller.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/organization.fields.h>

/* What the methods' structs have in common. */
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
