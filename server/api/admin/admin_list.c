/*
 * admin_list.c: AdminService's lists: organisations by id, tokens by key id.
 */
#include "server/api/admin/admin_wire.h"
#include "server/domain/admin/organization_deletion.h"
#include "server/domain/admin/token_use.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/id_filter.h"
#include "store/log_import.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/admin_service.handlers.h>

/* Appends one that is not being deleted. */
static enum err put_existing(struct admin_service_list_organizations_call *call,
                             const struct organization_record *record)
{
    bool is_imported = false;
    enum err err =
        log_import_is_marked(call->txn, (struct org_id){.uuid = record->id}, &is_imported);

    if (err == OK && is_imported) {
        admin_wire_put_importing(record, LIST_ORGANIZATIONS_RESPONSE_ORGANIZATIONS_FIELD,
                                 call->body);
    } else if (err == OK) {
        admin_wire_put_organization(record, LIST_ORGANIZATIONS_RESPONSE_ORGANIZATIONS_FIELD,
                                    call->body);
    }
    return err;
}

/* Appends an organisation of the list in its state. */
static enum err put_listed(struct admin_service_list_organizations_call *call,
                           const struct organization_record *record)
{
    struct org_id org = {.uuid = record->id};
    struct organization_deleted_view facts;
    struct deletion_progress_view progress = {.has_started_at = true};
    struct log_deletion deletion;
    enum err err = log_deletion_read(call->txn, org, &deletion);

    if (err == ERR_NOT_FOUND) {
        return put_existing(call, record);
    }
    if (err == OK) {
        err = organization_deletion_read(call->txn, deletion.audit_org, deletion.audit_seq, &facts,
                                         &progress.started_at_us);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    progress.event_count = facts.event_count;
    progress.deleted_row_count = deletion.row_count;
    return admin_wire_put_deleted(call->ctx->arena, record, &progress,
                                  LIST_ORGANIZATIONS_RESPONSE_ORGANIZATIONS_FIELD, call->body);
}

static enum err list_own(struct admin_service_list_organizations_call *call,
                         const struct id_prefix *prefix)
{
    struct slice own = slice_of(call->org.uuid.bytes, UUID_BYTES);
    struct organization_record record;
    enum err err = OK;

    if (!id_prefix_matches(prefix, own)) {
        return OK;
    }
    err = admin_read_organization(call->txn, call->org.uuid, &record);

    if (err == OK) {
        admin_wire_put_organization(&record, LIST_ORGANIZATIONS_RESPONSE_ORGANIZATIONS_FIELD,
                                    call->body);
    }
    return err;
}

enum err admin_service_list_organizations_read(struct admin_service_list_organizations_call *call)
{
    struct organization_record record;
    struct id_prefix prefix;
    enum err err = id_filter_read_uuid(call->service, call->request->id_prefix, &prefix);

    if (err != OK) {
        return err;
    }
    if (!call->service->principal->server) {
        return list_own(call, &prefix);
    }
    err = admin_organization_list_begin(call->txn, &prefix, call->page);
    while (err == OK) {
        err = admin_organization_list_next(&prefix, call->page, &record);
        if (err == OK) {
            err = put_listed(call, &record);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err admin_service_list_tokens_read(struct admin_service_list_tokens_call *call)
{
    struct token_record record;
    struct id_prefix prefix;
    struct org_id org;
    uint32_t key_id = 0;
    int64_t last_used_at_us = 0;
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &org);

    if (err != OK) {
        return err;
    }
    err = id_filter_read_hex(call->service, "key_id_prefix", call->request->key_id_prefix,
                             sizeof(key_id), &prefix);
    if (err == OK) {
        err = admin_token_list_begin(call->txn, org, &prefix, call->page);
    }
    while (err == OK) {
        err = admin_token_list_next(call->txn, &prefix, call->page, &key_id, &record);
        if (err == OK) {
            err = token_use_read(call->txn, key_id, &last_used_at_us);
        }
        if (err == OK) {
            admin_wire_put_token(key_id, &record, last_used_at_us,
                                 LIST_TOKENS_RESPONSE_TOKENS_FIELD, call->body);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
