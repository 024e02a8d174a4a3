/*
 * organization_transfer.c: see organization_transfer.h.
 */
#include "server/domain/admin/organization_transfer.h"

#include "server/domain/admin/admin_internal.h"
#include "server/domain/admin/facts.h"

#include <errata/payload/token.views.h>

/* Appends an event about an organisation to its own log. */
static enum err append(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                       struct work_result *ret_result)
{
    enum err err = log_next_stamp(ctx, txn, draft->org, &draft->stamp);

    if (err == OK) {
        err = event_draft_add_id(ctx->arena, draft, SUBJECT_ORGANIZATION, draft->org.uuid);
    }
    return err != OK ? err : admin_draft_append(ctx, txn, draft, ret_result);
}

enum err organization_export_begin(struct ctx *ctx, struct store_txn *txn,
                                   const struct admin_actor *actor, struct org_id org,
                                   struct slice reason, struct work_result *ret_result)
{
    const struct organization_exported_view facts = {.version = EXPORT_VERSION, .reason = reason};
    struct event_draft draft;

    admin_draft_fill(&draft, org, EVENT_ORGANIZATION_EXPORTED, actor);
    if (!view_encode_parts(&organization_exported_view_type, &facts, ctx->arena, &draft.facts,
                           &draft.content)) {
        return ERR_MEMORY;
    }
    return append(ctx, txn, &draft, ret_result);
}

enum err organization_import_end(struct ctx *ctx, struct store_txn *txn,
                                 const struct admin_actor *actor, struct org_id org,
                                 const struct export_source *source, struct work_result *ret_result)
{
    const struct organization_imported_view facts = {
        .export_id = source->export_id,
        .exported_org_id = source->org_id,
        .exported_name = source->name,
        .exported_at_us = source->exported_at_us,
        .has_exported_at = true,
        .event_count = source->event_count,
        .store_format = source->store_format,
    };
    struct event_draft draft;

    admin_draft_fill(&draft, org, EVENT_ORGANIZATION_IMPORTED, actor);
    if (!view_encode(&organization_imported_view_type, &facts, ctx->arena, &draft.facts)) {
        return ERR_MEMORY;
    }
    return append(ctx, txn, &draft, ret_result);
}

enum err organization_export_token(struct arena *arena, struct slice facts, struct slice *ret_facts)
{
    struct stored_token_view stored = {.token_created = {NULL, 0}};
    enum err err = facts_public(facts, &stored.token_created);

    if (err != OK) {
        return err;
    }
    return view_encode(&stored_token_view_type, &stored, arena, ret_facts) ? OK : ERR_MEMORY;
}

enum err organization_import_created(struct arena *arena, struct org_id org, struct slice name,
                                     struct slice *ret_facts)
{
    const struct organization_created_view created = {.org_id = org.uuid, .name = name};

    return view_encode(&organization_created_view_type, &created, arena, ret_facts) ? OK
                                                                                    : ERR_MEMORY;
}
