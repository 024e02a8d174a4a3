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

/* The artifact that a person decides about, as it is. */
struct decided_artifact {
    enum artifact_kind kind; /* LEARNED_RULE or GUIDELINE */
    uint64_t seq;
    struct artifact_life_record life;
    struct proposal proposal; /* of a GUIDELINE; borrowed from the transaction */
};

static enum err read_rule(struct store_txn *txn, const struct artifact_decision *decision,
                          struct decided_artifact *artifact)
{
    struct learned_rule_row row;
    enum err err = learned_rule_read(txn, decision->org, artifact->seq, &row);

    if (err == OK) {
        artifact->life = row.record.life;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err read_guideline(struct store_txn *txn, const struct artifact_decision *decision,
                               struct decided_artifact *artifact)
{
    struct proposal *proposal = &artifact->proposal;
    enum err err = proposal_read(txn, decision->org, artifact->seq, proposal);

    if (err == OK) {
        artifact->life = proposal->record.life;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Finds a learned rule or a guideline; refuses any other artifact. */
static enum err find_artifact(struct ctx *ctx, struct store_txn *txn,
                              const struct artifact_decision *decision,
                              struct decided_artifact *artifact)
{
    enum err err =
        artifact_find(txn, decision->org, decision->artifact_id, &artifact->seq, &artifact->kind);

    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, err,
                         "artifact_id: not found in this organisation; expected the id of a "
                         "learned rule or of a guideline");
    }
    if (err != OK) {
        return err;
    }
    if (artifact->kind == ARTIFACT_KIND_GUIDELINE) {
        return read_guideline(txn, decision, artifact);
    }
    return artifact->kind == ARTIFACT_KIND_LEARNED_RULE ? read_rule(txn, decision, artifact)
                                                        : refuse_kind(ctx, artifact->kind);
}

/* Decides the new state of a guideline: SHADOW for a pending proposal, ACTIVE to keep one in effect. Its other states are
 * reached by votes, and by methods of their own. */
static enum err check_guideline(struct ctx *ctx, struct store_txn *txn,
                                const struct proposal *proposal, enum artifact_state state)
{
    if (state == ARTIFACT_STATE_SHADOW) {
        return proposal_check_shadow(ctx, txn, proposal);
    }
    return state == ARTIFACT_STATE_ACTIVE
               ? OK
               : fault_say(ctx->fault, ERR_PRECONDITION,
                           "state: a guideline is retired by RetireGuideline, a proposal rejected "
                           "by RejectProposal; expected SHADOW or ACTIVE");
}

/* Decides the new state from the one before it. */
static enum err decide(struct ctx *ctx, struct store_txn *txn, enum artifact_state wanted,
                       const struct decided_artifact *artifact,
                       struct artifact_state_set_view *facts)
{
    bool is_guideline = artifact->kind == ARTIFACT_KIND_GUIDELINE;
    enum err err = OK;

    if (!artifact_state_from_wire((int32_t)artifact->life.state, &facts->previous_state)) {
        return ERR_CORRUPT;
    }
    err = artifact_state_decide(ctx, is_guideline, facts->previous_state, wanted, &facts->state);
    return err == OK && is_guideline ? check_guideline(ctx, txn, &artifact->proposal, facts->state)
                                     : err;
}

/* Appends and applies the decision that `facts` describe. */
static enum err append(struct ctx *ctx, struct store_txn *txn,
                       const struct artifact_decision *decision,
                       const struct artifact_state_set_view *facts, uint64_t *ret_seq)
{
    const struct slice nothing = {NULL, 0};
    const struct event_time now = {.is_given = false};
    bool is_guideline = facts->artifact_kind == ARTIFACT_KIND_GUIDELINE;
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft draft = {.org = decision->org, .kind = EVENT_ARTIFACT_STATE_SET};
    enum err err =
        actor_resolve(ctx, &decision->caller, nothing, nothing, false, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &decision->caller, nothing, nothing, &kind);
    }
    if (err == OK && !view_encode_parts(&artifact_state_set_view_type, facts, ctx->arena,
                                        &draft.facts, &draft.content)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        draft.annotator = (enum annotator)kind;
        err = event_draft_add_id(ctx->arena, &draft,
                                 is_guideline ? SUBJECT_PROPOSAL : SUBJECT_LEARNED_RULE,
                                 decision->artifact_id);
    }
    return err != OK
               ? err
               : event_draft_append(ctx, txn, &draft,
                                    is_guideline ? guidelines_apply : verdicts_apply, ret_seq);
}

enum err artifact_set_state(struct ctx *ctx, struct store_txn *txn,
                            const struct artifact_decision *decision, uint64_t *ret_seq)
{
    struct artifact_state_set_view facts = {.artifact_id = decision->artifact_id,
                                            .reason = decision->reason};
    struct decided_artifact artifact = {.seq = 0};
    enum err err = find_artifact(ctx, txn, decision, &artifact);

    if (err == OK) {
        err = decide(ctx, txn, decision->state, &artifact, &facts);
    }
    if (err != OK) {
        return err;
    }
    facts.artifact_kind = artifact.kind;
    facts.artifact_seq = artifact.seq;
    facts.version = artifact.life.version;
    return append(ctx, txn, decision, &facts, ret_seq);
}
