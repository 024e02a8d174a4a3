/*
 * induction_write.c: proposes the rules that were found, and returns them.
 */
#include "server/domain/events/draft.h"
#include "server/domain/induction/induction.h"
#include "server/domain/verdicts/create.h"
#include "server/domain/verdicts/learners.h"

#include <errata/v1/event.views.h>
#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_service.views.h>

static enum learned_rule_type type_of(const struct found_rule *rule)
{
    return rule->target == TARGET_FALSE_NEGATIVE ? LEARNED_RULE_TYPE_FALSE_NEGATIVE
                                                 : LEARNED_RULE_TYPE_FALSE_POSITIVE;
}

static struct learned_rule_record record_of(const struct found_rule *rule)
{
    const struct learner *learner = learner_of_type(type_of(rule));

    return (struct learned_rule_record){
        .rule_type = (uint32_t)learner->rule_type,
        .pattern = rule->pattern,
        .action = (uint32_t)learner->action,
        .adjustment = learner->adjustment,
        .accuracy = (uint64_t)LEARNED_RULE_ACCURACY,
        .life = artifact_life_begin(ARTIFACT_STATE_PROPOSED, 0),
    };
}

static enum err encode_finding(struct arena *arena, const struct found_rules *found,
                               const struct found_rule *rule, struct slice *ret_finding)
{
    const struct rule_finding_view view = {
        .as_of_seq = found->as_of_seq,
        .submission_count = found->submissions,
        .hit_count = rule->hits.cases,
        .target_count = rule->hits.targets,
        .other_count = rule->others.cases,
        .other_target_count = rule->others.targets,
        .lift = rule->lift.ratio,
        .lift_low = rule->lift.low,
        .lift_high = rule->lift.high,
        .backtest_hit_count = rule->backtest_hits,
        .agreement_count = rule->agreements,
        .false_alarm_count = rule->false_alarms,
        .right_flip_count = rule->flips_right,
        .wrong_flip_count = rule->flips_wrong,
    };

    return view_encode(&rule_finding_view_type, &view, arena, ret_finding) ? OK : ERR_MEMORY;
}

/* Explains to people why the rule is proposed. */
static struct slice reason_of(struct arena *arena, const struct found_rule *rule)
{
    return arena_printf(
        arena, "found: %llu of %llu hits are %s, lift %.1f (%.1f to %.1f)",
        (unsigned long long)rule->hits.targets, (unsigned long long)rule->hits.cases,
        rule->target == TARGET_FALSE_NEGATIVE ? "false negatives" : "false positives",
        rule->lift.ratio, rule->lift.low, rule->lift.high);
}

/* Proposes one rule, unless it exists by now. */
static enum err propose(struct ctx *ctx, struct store_txn *txn, const struct event_draft *author,
                        const struct found_rules *found, size_t place,
                        struct work_result *ret_result)
{
    const struct event_time now = {.is_given = false};
    const struct found_rule *rule = &found->items[place];
    struct learned_rule_origin origin = {.reason = reason_of(ctx->arena, rule)};
    struct event_draft draft = *author;
    struct learned_rule_row row;
    enum err err = learned_rule_find(txn, author->org, rule->pattern, type_of(rule), &row);

    if (err != ERR_NOT_FOUND) {
        return err;
    }
    row.record = record_of(rule);
    err = encode_finding(ctx->arena, found, rule, &origin.finding);
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err == OK) {
        err = learned_rule_create(ctx, txn, &draft, &origin, &row);
    }
    if (err == OK && ret_result->count == 0) {
        ret_result->first_seq = row.seq;
    }
    ret_result->count += err == OK;
    return err;
}

enum err induction_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct event_caller *caller, const struct found_rules *found,
                         struct work_result *ret_result)
{
    const struct slice nothing = {NULL, 0};
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft author = {.org = org, .kind = EVENT_LEARNED_RULE_CREATED};
    enum err err = actor_resolve(ctx, caller, nothing, nothing, false, &author.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, caller, nothing, nothing, &kind);
    }
    author.annotator = (enum annotator)kind;
    for (size_t i = 0; i < found->count && err == OK; i++) {
        err = propose(ctx, txn, &author, found, i, ret_result);
    }
    return err;
}

static enum err put_event(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct buffer *body)
{
    struct learned_rule_created_view facts;
    struct found_rule_view found;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK && event.kind != EVENT_LEARNED_RULE_CREATED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = learned_rule_created_view_read(event.facts, &facts);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    found = (struct found_rule_view){
        .has_rule = true, .rule = facts.rule, .has_finding = true, .finding = facts.finding};
    found_rule_view_put(&found, PROPOSE_RULES_RESPONSE_RULES_FIELD, body);
    return OK;
}

enum err induction_answer(struct store_txn *txn, const struct work_result *result,
                          struct buffer *body)
{
    enum err err = OK;

    for (uint32_t i = 0; err == OK && i < result->count; i++) {
        err = put_event(txn, result->org, result->first_seq + i, body);
    }
    return err;
}

enum err induction_answer_dry(struct ctx *ctx, struct org_id org, const struct found_rules *found,
                              struct buffer *body)
{
    enum err err = OK;

    for (size_t i = 0; i < found->count && err == OK; i++) {
        const struct learned_rule_record record = record_of(&found->items[i]);
        struct found_rule_view view = {.has_rule = true, .has_finding = true};
        struct learned_rule_view rule;

        err = learned_rule_view_of(org, &record, &rule);
        if (err == OK && !view_encode(&learned_rule_view_type, &rule, ctx->arena, &view.rule)) {
            err = ERR_MEMORY;
        }
        if (err == OK) {
            err = encode_finding(ctx->arena, found, &found->items[i], &view.finding);
        }
        if (err == OK) {
            found_rule_view_put(&view, PROPOSE_RULES_RESPONSE_RULES_FIELD, body);
        }
    }
    return err;
}
