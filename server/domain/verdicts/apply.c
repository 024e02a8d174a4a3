/*
 * apply.c: applies the events of verdicts to rules and to the list of submissions. A submission
 * changes only the counts of the rules that it lists.
 */
#include "server/domain/artifacts/evidence.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/measures.h"
#include "server/domain/verdicts/rules.h"
#include "store/base/assert.h"

#include <errata/payload/payload.views.h>
#include <errata/v1/event.views.h>
#include <errata/v1/verdict_submission.views.h>
#include <event_apply.h>

/* Puts a rule with values of an event, which may come from a file. */
static enum err put_rule(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                         const struct artifact_life_record *before,
                         const struct learned_rule_row *row)
{
    return learned_rule_record_fits(&row->record) &&
                   row->record.life.state != (uint32_t)ARTIFACT_STATE_UNSPECIFIED
               ? learned_rule_write(ctx->arena, txn, event->org, before, row)
               : ERR_CORRUPT;
}

static enum err apply_created(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct learned_rule_created_internal_view internal;
    struct learned_rule_created_view facts;
    struct learned_rule_view rule;
    struct learned_rule_row row = {.seq = event->seq};
    enum err err = learned_rule_created_view_read(event->facts, &facts);

    if (err == OK) {
        err = learned_rule_created_internal_view_read(facts.internal, &internal);
    }
    if (err == OK) {
        err = learned_rule_view_read(facts.rule, &rule);
    }
    if (err != OK) {
        return err;
    }
    row.record = (struct learned_rule_record){
        .id = event->id,
        .rule_type = (uint32_t)rule.rule_type,
        .pattern = rule.pattern,
        .action = (uint32_t)rule.action,
        .adjustment = internal.adjustment_billionths,
        .accuracy = internal.accuracy_billionths,
        .count = rule.learned_from_feedback_count,
        .life = artifact_life_begin(rule.state, event->seq),
        .auto_learned = rule.auto_learned,
        .created_at_us = event->created_at_us,
        .updated_at_us = event->created_at_us,
        .source_id = rule.source_rule_id,
    };
    row.record.life.held_back = !rule.enabled;
    row.record.life.set_by_person = facts.imported;
    err = put_rule(ctx, txn, event, NULL, &row);
    return err != OK ? err : learned_rule_enter(txn, event->org, &row);
}

/* Counts the submission for one rule. */
static enum err count_one(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                          struct slice message)
{
    const struct learned_rule_count count = {
        .event_seq = event->seq,
        .time_us = event->created_at_us,
        .is_backfill = event->source == SOURCE_BACKFILL,
    };
    struct learned_rule_change_view change;
    struct artifact_life_record before;
    struct learned_rule_row row;
    enum err err = learned_rule_change_view_read(message, &change);

    if (err == OK) {
        err = learned_rule_read(txn, event->org, change.seq, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = row.record.life;
    learned_rule_count(&count, change.effect, &row.record);
    err = learned_rule_write(ctx->arena, txn, event->org, &before, &row);
    return err != OK ? err : artifact_evidence_add(txn, event->org, change.seq, event->seq);
}

static enum err list_submission(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                                const struct verdict_submission_view *view)
{
    const struct verdict_record record = {
        .original_verdict = (uint32_t)view->original_verdict,
        .correct_verdict = (uint32_t)view->correct_verdict,
        .missed = view->missed_indicators.run,
    };
    struct key key = key_verdict(event->org, event->created_at_us, event->seq);
    struct slice value = {NULL, 0};
    enum err err = verdict_record_fits(&record) ? record_encode_verdict(ctx->arena, &record, &value)
                                                : ERR_CORRUPT;

    return err != OK ? err : store_put(txn, TABLE_VERDICT, key_slice(&key), value);
}

static enum err apply_submitted(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct verdict_submission_view view;
    struct slice changes = {NULL, 0};
    struct slice change = {NULL, 0};
    enum err err = verdict_submission_view_read(event->facts, &view);

    if (err == OK) {
        changes = view.rule_changes.run;
        err = list_submission(ctx, txn, event, &view);
    }
    while (err == OK && view_next(&changes, &change)) {
        err = count_one(ctx, txn, event, change);
    }
    return err != OK ? err : measures_count(ctx, txn, event, &view);
}

static enum err apply_enabled_set(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct learned_rule_enabled_set_view facts;
    struct artifact_life_record before;
    struct learned_rule_view rule;
    struct learned_rule_row row;
    enum err err = learned_rule_enabled_set_view_read(event->facts, &facts);

    if (err == OK) {
        err = learned_rule_view_read(facts.rule, &rule);
    }
    if (err == OK) {
        err = learned_rule_read(txn, event->org, facts.seq, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = row.record.life;
    artifact_life_hold(&row.record.life, !rule.enabled, event->seq);
    row.record.updated_at_us = event->created_at_us;
    return put_rule(ctx, txn, event, &before, &row);
}

/* Applies the state of a rule; other artifacts have their own capability. */
static enum err apply_state_set(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct artifact_state_set_view facts;
    struct artifact_life_record before;
    struct learned_rule_row row;
    enum err err = artifact_state_set_view_read(event->facts, &facts);

    if (err == OK && facts.artifact_kind != ARTIFACT_KIND_LEARNED_RULE) {
        return OK;
    }
    if (err == OK) {
        err = learned_rule_read(txn, event->org, facts.artifact_seq, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = row.record.life;
    artifact_life_decide(&row.record.life, facts.state, event->seq);
    row.record.updated_at_us = event->created_at_us;
    err = learned_rule_write(ctx->arena, txn, event->org, &before, &row);
    if (err == OK && before.state == ARTIFACT_STATE_SUNSET_PROPOSED &&
        facts.state == ARTIFACT_STATE_ACTIVE) {
        err = measures_keep(ctx, txn, event->org, &row);
    }
    return err;
}

/* Applies the changes of an import to a rule: all values, or only the state if the document does not have the rule. */
static enum err apply_imported(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct learned_rule_imported_internal_view internal;
    struct learned_rule_imported_view facts;
    struct artifact_life_record before;
    struct learned_rule_view rule;
    struct learned_rule_values values;
    struct learned_rule_row row;
    enum err err = learned_rule_imported_view_read(event->facts, &facts);

    if (err == OK) {
        err = learned_rule_imported_internal_view_read(facts.internal, &internal);
    }
    if (err == OK) {
        err = learned_rule_view_read(facts.rule, &rule);
    }
    if (err == OK) {
        err = learned_rule_read(txn, event->org, facts.seq, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    values = (struct learned_rule_values){
        .adjustment = internal.adjustment_billionths,
        .count = rule.learned_from_feedback_count,
        .accuracy = internal.accuracy_billionths,
        .enabled = rule.enabled,
        .auto_learned = rule.auto_learned,
        .state = rule.state,
        .source_id = rule.source_rule_id,
    };
    before = row.record.life;
    if (facts.is_missing) {
        artifact_life_decide(&row.record.life, rule.state, event->seq);
        row.record.updated_at_us = event->created_at_us;
    } else {
        learned_rule_set_values(&values, event->seq, event->created_at_us, &row.record);
    }
    return put_rule(ctx, txn, event, &before, &row);
}

/* Applies a measured weight. */
static enum err apply_weight_set(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct learned_rule_weight_set_internal_view internal;
    struct learned_rule_weight_set_view facts;
    struct artifact_life_record before;
    struct learned_rule_row row;
    enum err err = learned_rule_weight_set_view_read(event->facts, &facts);

    if (err == OK) {
        err = learned_rule_weight_set_internal_view_read(facts.internal, &internal);
    }
    if (err == OK) {
        err = learned_rule_read(txn, event->org, facts.seq, &row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    before = row.record.life;
    learned_rule_set_weight(internal.adjustment_billionths, event->seq, event->created_at_us,
                            &row.record);
    return put_rule(ctx, txn, event, &before, &row);
}

enum err verdicts_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    ASSERT(verdicts_applies(event->kind));
    if (event->kind == EVENT_LEARNED_RULE_CREATED) {
        return apply_created(ctx, txn, event);
    }
    if (event->kind == EVENT_VERDICT_SUBMITTED) {
        return apply_submitted(ctx, txn, event);
    }
    if (event->kind == EVENT_LEARNED_RULE_IMPORTED) {
        return apply_imported(ctx, txn, event);
    }
    if (event->kind == EVENT_LEARNED_RULE_WEIGHT_SET) {
        return apply_weight_set(ctx, txn, event);
    }
    return event->kind == EVENT_ARTIFACT_STATE_SET ? apply_state_set(ctx, txn, event)
                                                   : apply_enabled_set(ctx, txn, event);
}
