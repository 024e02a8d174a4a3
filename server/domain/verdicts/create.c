/*
 * create.c: see create.h.
 */
#include "server/domain/verdicts/create.h"

#include <errata/payload/payload.views.h>
#include <errata/v1/event.views.h>
#include <event_apply.h>

static enum err encode(struct ctx *ctx, const struct learned_rule_record *record,
                       const struct learned_rule_origin *origin, struct event_draft *draft)
{
    const struct learned_rule_created_internal_view internal = {
        .adjustment_billionths = record->adjustment,
        .accuracy_billionths = record->accuracy,
    };
    struct learned_rule_created_view facts = {.has_rule = true,
                                              .imported = origin->is_imported,
                                              .has_finding = origin->finding.size > 0,
                                              .finding = origin->finding,
                                              .reason = origin->reason};
    struct learned_rule_view rule;
    enum err err = learned_rule_view_of(draft->org, record, &rule);

    if (err != OK) {
        return err;
    }
    return view_encode(&learned_rule_view_type, &rule, ctx->arena, &facts.rule) &&
                   view_encode(&learned_rule_created_internal_view_type, &internal, ctx->arena,
                               &facts.internal) &&
                   view_encode_parts(&learned_rule_created_view_type, &facts, ctx->arena,
                                     &draft->facts, &draft->content)
               ? OK
               : ERR_MEMORY;
}

enum err learned_rule_create(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                             const struct learned_rule_origin *origin, struct learned_rule_row *row)
{
    enum err err = OK;

    row->record.id = draft->stamp.id;
    row->record.created_at_us = draft->created_at_us;
    row->record.updated_at_us = draft->created_at_us;
    err = encode(ctx, &row->record, origin, draft);
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, draft, SUBJECT_LEARNED_RULE, draft->stamp.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, draft, verdicts_apply, &row->seq);
}
