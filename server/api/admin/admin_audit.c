/*
 * admin_audit.c: AdminService's ListAudit: the administrative and rule-changing events of an
 * organisation. The kinds are marked in EventKind; the log itself is the record.
 */
#include "server/api/events/event_wire.h"
#include "server/domain/events/event_list.h"
#include "server/pipeline/caller.h"
#include "store/base/assert.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/event.fields.h>

enum err admin_service_list_audit_read(struct admin_service_list_audit_call *call)
{
    struct event_list list = {
        .audited = true,
        .actor_user_id = slice_text(call->request->actor_user_id),
        .page = call->page,
    };
    struct event event;
    enum event_kind kind = EVENT_KIND_UNSPECIFIED;
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &list.org);

    if (UNEXPECTED(!event_kind_from_wire((int32_t)call->request->kind, &kind))) {
        return ERR_INTERNAL; /* check_request ensures that the kind is known */
    }
    list.kind = (uint32_t)kind;
    if (err != OK) {
        return err; /* NOT_FOUND has another meaning below */
    }
    err = event_list_begin(call->txn, &list);
    while (err == OK) {
        err = event_list_next(call->txn, &list, &event);
        if (err == OK) {
            err = event_wire_put(call->ctx->arena, call->txn, call->body,
                                 LIST_AUDIT_RESPONSE_EVENTS_FIELD, &event);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
