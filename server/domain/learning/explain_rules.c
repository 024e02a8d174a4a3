/*
 * explain_rules.c: the rules of a score, each as it was then. The values that a submission counts
 * are in the exposure; state, version and adjustment follow from the rule's life.
 */
#include "server/domain/learning/explain_internal.h"
#include "server/domain/learning/outcomes.h"
#include "server/domain/scoring/score.h"
#include "server/domain/scoring/score_event.h"
#include "server/domain/verdicts/rules.h"

#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

/* Typical size of an evidence event: two ids, a time and a receipt. */
#define EVIDENCE_BYTES 160

/* Reads the rule as it was then. */
static enum err read_rule(const struct explaining *explaining, struct store_txn *txn,
                          const struct exposed_artifact *artifact, struct learned_rule_row *ret_row)
{
    struct org_id org = explaining->query->org;
    enum err err = learned_rule_read(txn, org, artifact->seq, ret_row);

    if (err == OK) {
        err = learned_rule_make_past(txn, org, explaining->exposure.as_of_seq, ret_row);
    }
    if (err == OK && ret_row->record.life.version != artifact->version) {
        err = ERR_CORRUPT;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err encode_rule(const struct explaining *explaining, const struct learned_rule_row *row,
                            const struct exposed_rule *exposed, struct slice *ret_rule)
{
    struct learned_rule_view rule;
    enum err err = learned_rule_view_of(explaining->query->org, &row->record, &rule);

    if (err != OK) {
        return err;
    }
    rule.learned_from_feedback_count = exposed->count;
    rule.accuracy_on_validation = (double)exposed->accuracy / (double)VERDICT_UNIT;
    rule.has_updated_at = false;
    return view_encode(&learned_rule_view_type, &rule, explaining->ctx->arena, ret_rule)
               ? OK
               : ERR_MEMORY;
}

static enum err put_score_event(struct explaining *explaining, const struct learned_rule_row *row,
                                const struct exposed_rule *exposed)
{
    const struct score_event event = {
        .id = row->record.id,
        .rule_type = row->record.rule_type,
        .pattern = row->record.pattern,
        .weight =
            score_weigh_again(row->record.adjustment, exposed->suppressed_by, exposed->reduced),
        .suppressed_by = exposed->suppressed_by,
        .count = exposed->count,
        .accuracy = exposed->accuracy,
    };

    return score_event_put(explaining->ctx->arena, &event, SCORE_DOCUMENT_RESPONSE_EVENTS_FIELD,
                           &explaining->score_events);
}

/* Lists the events that the rule was learned from by then. */
static enum err put_evidence(const struct explaining *explaining, struct store_txn *txn,
                             uint64_t rule_seq, struct explained_artifact_view *view)
{
    struct org_id org = explaining->query->org;
    struct artifact_evidence evidence;
    struct buffer run;
    enum err err =
        artifact_evidence_list(txn, org, rule_seq, explaining->exposure.as_of_seq, &evidence);

    buffer_init(&run, explaining->ctx->arena, EVIDENCE_BYTES);
    for (size_t i = 0; err == OK && i < evidence.count; i++) {
        struct evidence_event_view item;

        err = evidence_describe(txn, org, &evidence.items[i], &item);
        if (err == OK) {
            evidence_event_view_put(&item, EXPLAINED_ARTIFACT_EVIDENCE_FIELD, &run);
        }
    }
    view->evidence_incomplete = err == OK && evidence.is_incomplete;
    view->evidence.run = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

/* Sets the person who gave the rule its state. */
static enum err approve(const struct explaining *explaining, struct store_txn *txn,
                        const struct learned_rule_row *row, struct explained_artifact_view *view)
{
    struct event event;
    enum err err = log_read(txn, explaining->query->org, row->record.life.valid_from_seq, &event);

    if (err == OK) {
        view->approved_by = event.actor_user_id;
        view->has_approved_by = event.actor_user_id.size > 0;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err explain_rule(struct explaining *explaining, struct store_txn *txn,
                      const struct exposed_artifact *artifact)
{
    struct explained_artifact_view view = {
        .version = artifact->version,
        .has_learned_rule = true,
        .shadow = artifact->rule.shadow,
    };
    struct learned_rule_row row;
    enum err err = read_rule(explaining, txn, artifact, &row);

    if (err == OK) {
        err = encode_rule(explaining, &row, &artifact->rule, &view.learned_rule);
    }
    if (err == OK && !artifact->rule.shadow) {
        err = put_score_event(explaining, &row, &artifact->rule);
    }
    if (err == OK) {
        err = put_evidence(explaining, txn, artifact->seq, &view);
    }
    if (err == OK) {
        err = approve(explaining, txn, &row, &view);
    }
    if (err == OK) {
        explained_artifact_view_put(&view, EXPLAIN_EXPOSURE_RESPONSE_ARTIFACTS_FIELD,
                                    explaining->body);
    }
    return err;
}
