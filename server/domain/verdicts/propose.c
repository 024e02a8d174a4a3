/*
 * propose.c: proposes a rule.
 */
#include "server/domain/verdicts/create.h"
#include "server/domain/verdicts/verdicts.h"

#include <math.h>

/* Builds the rule of a proposal. */
static enum err make_rule(struct ctx *ctx, const struct learned_rule_proposal *proposal,
                          struct learned_rule_record *record)
{
    const struct learner *learner = learner_of_type(proposal->rule_type);
    double adjustment = (double)learner->adjustment / (double)VERDICT_UNIT;

    if (proposal->has_adjustment) {
        if (proposal->adjustment * adjustment < 0) {
            fault_add(ctx->fault, SLICE("learned_rule.confidence_adjustment"),
                      "%g; expected a number %s for this rule_type", proposal->adjustment,
                      adjustment < 0 ? "from -1 to 0" : "from 0 to 1");
            return ERR_INVALID;
        }
        adjustment = proposal->adjustment;
    }
    *record = (struct learned_rule_record){
        .rule_type = (uint32_t)learner->rule_type,
        .pattern = proposal->pattern,
        .action = (uint32_t)learner->action,
        .adjustment = (int64_t)llround(adjustment * (double)VERDICT_UNIT),
        .accuracy = (uint64_t)LEARNED_RULE_ACCURACY,
        .life = artifact_life_begin(ARTIFACT_STATE_PROPOSED, 0),
    };
    return OK;
}

/* The rule must not exist, since a proposal changes no rule. */
static enum err check_new(struct ctx *ctx, struct store_txn *txn,
                          const struct learned_rule_proposal *proposal)
{
    struct learned_rule_row row;
    char id[UUID_TEXT_BYTES];
    enum err err =
        learned_rule_find(txn, proposal->org, proposal->pattern, proposal->rule_type, &row);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    uuid_format(row.record.id, id);
    return fault_say(ctx->fault, ERR_EXISTS,
                     "learned_rule: exists already as %.*s; expected another pattern or rule_type, "
                     "or SetArtifactState",
                     UUID_TEXT_BYTES, id);
}

enum err learned_rule_propose(struct ctx *ctx, struct store_txn *txn,
                              const struct learned_rule_proposal *proposal, uint64_t *ret_seq)
{
    const struct learned_rule_origin origin = {.reason = proposal->reason};
    const struct slice nothing = {NULL, 0};
    const struct event_time now = {.is_given = false};
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft draft = {.org = proposal->org, .kind = EVENT_LEARNED_RULE_CREATED};
    struct learned_rule_row row;
    enum err err = make_rule(ctx, proposal, &row.record);

    if (err == OK) {
        err = actor_resolve(ctx, &proposal->caller, nothing, nothing, false, &draft.actor_user_id);
    }
    if (err == OK) {
        err = annotator_resolve(ctx, &proposal->caller, nothing, nothing, &kind);
    }
    if (err == OK) {
        err = check_new(ctx, txn, proposal);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err != OK) {
        return err;
    }
    draft.annotator = (enum annotator)kind;
    err = learned_rule_create(ctx, txn, &draft, &origin, &row);
    *ret_seq = row.seq;
    return err;
}
