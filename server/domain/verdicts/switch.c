/*
 * switch.c: enables and disables a rule.
 */
#include "server/domain/verdicts/verdicts.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

static enum err encode(struct ctx *ctx, const struct learned_rule_row *row, bool was_enabled,
                       struct event_draft *draft)
{
    struct learned_rule_enabled_set_view facts = {
        .has_rule = true, .seq = row->seq, .was_enabled = was_enabled};
    struct learned_rule_view rule;
    enum err err = learned_rule_view_of(draft->org, &row->record, &rule);

    if (err != OK) {
        return err;
    }
    return view_encode(&learned_rule_view_type, &rule, ctx->arena, &facts.rule) &&
                   view_encode(&learned_rule_enabled_set_view_type, &facts, ctx->arena,
                               &draft->facts)
               ? OK
               : ERR_MEMORY;
}

enum err learned_rule_set_enabled(struct ctx *ctx, struct store_txn *txn,
                                  const struct learned_rule_switch *request, uint64_t *ret_seq)
{
    const struct slice nothing = {NULL, 0};
    const struct event_time now = {.is_given = false};
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft draft = {.org = request->org, .kind = EVENT_LEARNED_RULE_ENABLED_SET};
    struct learned_rule_row row;
    bool was_enabled = false;
    enum err err =
        actor_resolve(ctx, &request->caller, nothing, nothing, false, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, nothing, nothing, &kind);
    }
    if (err != OK) {
        return err;
    }
    err = learned_rule_find_id(txn, request->org, request->id, &row);
    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "id: not found in this organisation; expected the id of a learned rule");
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err != OK) {
        return err;
    }
    draft.annotator = (enum annotator)kind;
    was_enabled = !row.record.life.held_back;
    row.record.life.held_back = request->has_enabled ? !request->enabled : was_enabled;
    row.record.updated_at_us = draft.created_at_us;
    err = encode(ctx, &row, was_enabled, &draft);
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LEARNED_RULE, row.record.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, verdicts_apply, ret_seq);
}
