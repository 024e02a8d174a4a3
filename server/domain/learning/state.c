/*
 * state.c: see state.h.
 */
#include "server/domain/learning/state.h"

#include "server/domain/artifacts/state.h"
#include "server/domain/events/draft.h"
#include "server/domain/guidelines/proposals.h"
#include "server/domain/learning/report.h"
#include "server/domain/verdicts/rules.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Returns the method that changes artifacts without states of their own. */
static enum err refuse_kind(struct ctx *ctx, enum artifact_kind kind)
{
    if (kind == ARTIFACT_KIND_MAPPING) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "artifact_id: of a mapping; expected ConfirmMapping or RejectMapping");
    }
    if (kind == ARTIFACT_KIND_FRAGMENT_SET) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "artifact_id: of a fragment set; expected ApproveFragmentSet");
    }
    if (kind == ARTIFACT_KIND_EXAMPLE_ITEM) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "artifact_id: of an example item; expected PutItem, or RetractEvent of "
                         "its review");
    }
    if (kind == ARTIFACT_KIND_STRATEGY) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "artifact_id: of a strategy; expected SetFeedback of its turn");
    }
    return kind == ARTIFACT_KIND_PROMPT_TEMPLATE
               ? fault_say(ctx->fault, ERR_PRECONDITION,
                           "artifact_id: of a prompt template; expected PutPromptTemplate")
               : fault_say(ctx->fault, ERR_PRECONDITION,
                           "artifact_id: of an example; expected RetractEvent");
}

/* Finds the rule; refuses any other artifact. */
static enum err find_rule(struct ctx *ctx, struct store_txn *txn,
                          const struct artifact_decision *decision,
                          struct learned_rule_row *ret_row)
{
    enum artifact_kind kind = ARTIFACT_KIND_UNSPECIFIED;
    enum err err = learned_rule_find_id(txn, decision->org, decision->artifact_id, ret_row);

    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = artifact_kind_find(txn, decision->org, decision->artifact_id, &kind);
    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "artifact_id: not found in this organisation; expected the id of a "
                         "learned rule");
    }
    return err != OK ? err : refuse_kind(ctx, kind);
}

static enum err encode(struct ctx *ctx, const struct artifact_decision *decision,
                       const struct learned_rule_row *row, enum artifact_state previous,
                       struct event_draft *draft)
{
    struct artifact_state_set_view view = {
        .artifact_kind = ARTIFACT_KIND_LEARNED_RULE,
        .artifact_id = row->record.id,
        .artifact_seq = row->seq,
        .previous_state = previous,
        .version = row->record.life.version,
        .reason = decision->reason,
    };
    enum err err = artifact_state_decide(ctx, false, previous, decision->state, &view.state);

    if (err == OK && !view_encode_parts(&artifact_state_set_view_type, &view, ctx->arena,
                                        &draft->facts, &draft->content)) {
        err = ERR_MEMORY;
    }
    return err;
}

/* Decides about a guideline. */
static enum err set_guideline(struct ctx *ctx, struct store_txn *txn,
                              const struct artifact_decision *decision, uint64_t *ret_seq)
{
    const struct guideline_state_request request = {
        .org = decision->org,
        .caller = decision->caller,
        .guideline_id = decision->artifact_id,
        .state = decision->state,
        .reason = decision->reason,
    };

    return guideline_set_state(ctx, txn, &request, ret_seq);
}

/* Decides about a learned rule; another artifact is refused. */
static enum err set_rule(struct ctx *ctx, struct store_txn *txn,
                         const struct artifact_decision *decision, uint64_t *ret_seq)
{
    const struct slice nothing = {NULL, 0};
    const struct event_time now = {.is_given = false};
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    enum artifact_state previous = ARTIFACT_STATE_UNSPECIFIED;
    struct event_draft draft = {.org = decision->org, .kind = EVENT_ARTIFACT_STATE_SET};
    struct learned_rule_row row;
    enum err err =
        actor_resolve(ctx, &decision->caller, nothing, nothing, false, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &decision->caller, nothing, nothing, &kind);
    }
    if (err == OK) {
        err = find_rule(ctx, txn, decision, &row);
    }
    if (err == OK && !artifact_state_from_wire((int32_t)row.record.life.state, &previous)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = encode(ctx, decision, &row, previous, &draft);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        draft.annotator = (enum annotator)kind;
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LEARNED_RULE, row.record.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, verdicts_apply, ret_seq);
}

enum err artifact_set_state(struct ctx *ctx, struct store_txn *txn,
                            const struct artifact_decision *decision, uint64_t *ret_seq)
{
    struct proposal proposal;
    enum err err = proposal_find(txn, decision->org, decision->artifact_id, &proposal);

    if (err == ERR_NOT_FOUND) {
        return set_rule(ctx, txn, decision, ret_seq);
    }
    return err != OK ? err : set_guideline(ctx, txn, decision, ret_seq);
}
