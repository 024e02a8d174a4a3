/*
 * set_weights.c: see set_weights.h. The rules of a plan are copied, since a put invalidates slices
 * borrowed from the transaction.
 */
#include "server/domain/weights/set_weights.h"

#include "server/domain/events/draft.h"
#include "server/domain/weights/suggestions.h"
#include "store/base/wire.h"

#include <errata/payload/payload.views.h>
#include <errata/v1/event.views.h>
#include <errata/v1/measured_weight.views.h>
#include <errata/v1/verdict_service.fields.h>
#include <event_apply.h>
#include <math.h>

/* A rule that gets a different weight. */
struct planned_weight {
    struct learned_rule_row row; /* row after the change, with the previous version and time */
    int64_t previous; /* previous adjustment in units */
    struct rule_total total;
};

struct weight_plan {
    const struct set_weights_request *request;
    struct planned_weight *items;
    size_t count;
};

static enum err refuse(struct ctx *ctx, size_t place, enum err err, const char *problem)
{
    return fault_say(ctx->fault, err, "weights[%zu].rule_id: %s", place, problem);
}

static double weight_value(int64_t units)
{
    return (double)units / (double)VERDICT_UNIT;
}

/* A person must not apply a weight other than the one that was displayed. */
static enum err check_seen(struct ctx *ctx, const struct chosen_weight *chosen, size_t place,
                           int64_t weight)
{
    if (!chosen->has_weight || llround(chosen->weight * (double)VERDICT_UNIT) == weight) {
        return OK;
    }
    return fault_say(ctx->fault, ERR_PRECONDITION,
                     "weights[%zu].weight: %g, but verdicts suggest %g now; expected the weight of "
                     "ListSuggestedWeights",
                     place, chosen->weight, weight_value(weight));
}

/* Reads the suggestion for a rule. */
static enum err read_suggestion(struct ctx *ctx, struct store_txn *txn,
                                const struct weight_plan *plan, size_t place,
                                struct suggestion *ret_suggestion)
{
    struct org_id org = plan->request->org;
    struct learned_rule_row row;
    struct rule_total total;
    bool has = false;
    enum err err = learned_rule_find_id(txn, org, plan->request->chosen[place].rule_id, &row);

    if (err == ERR_NOT_FOUND) {
        return refuse(ctx, place, err,
                      "not found in this organisation; expected the id of a learned rule");
    }
    if (err == OK) {
        err = rule_total_read(txn, org, row.seq, &total);
    }
    if (err == OK) {
        err = suggestion_read(txn, org, &total, ret_suggestion, &has);
    }
    if (err == OK && !has) {
        err = total.agreed + total.disagreed < WEIGHT_FIRINGS_MIN
                  ? refuse(ctx, place, ERR_PRECONDITION,
                           "too few measured firings; expected a rule with at least 5")
                  : refuse(ctx, place, ERR_PRECONDITION,
                           "retired or rejected; expected a rule that is not");
    }
    return err;
}

static enum err check_once(struct ctx *ctx, const struct weight_plan *plan, size_t place)
{
    const struct chosen_weight *chosen = plan->request->chosen;

    for (size_t i = 0; i < place; i++) {
        if (uuid_equal(chosen[i].rule_id, chosen[place].rule_id)) {
            return refuse(ctx, place, ERR_INVALID, "also chosen before; expected each rule once");
        }
    }
    return OK;
}

/* Plans the change of one rule, if its weight differs. */
static enum err plan_rule(struct ctx *ctx, struct store_txn *txn, struct weight_plan *plan,
                          size_t place)
{
    struct planned_weight *item = &plan->items[plan->count];
    struct suggestion suggestion = {.weight = {.weight = 0}};
    enum err err = check_once(ctx, plan, place);

    if (err == OK) {
        err = read_suggestion(ctx, txn, plan, place, &suggestion);
    }
    if (err == OK) {
        err = check_seen(ctx, &plan->request->chosen[place], place, suggestion.weight.weight);
    }
    if (err != OK || suggestion.row.record.adjustment == suggestion.weight.weight) {
        return err;
    }
    *item = (struct planned_weight){
        .row = suggestion.row,
        .previous = suggestion.row.record.adjustment,
        .total = suggestion.total,
    };
    item->row.record.adjustment = suggestion.weight.weight;
    plan->count++;
    return arena_copy(ctx->arena, suggestion.row.record.pattern, &item->row.record.pattern)
               ? OK
               : ERR_MEMORY;
}

static enum err make_plan(struct ctx *ctx, struct store_txn *txn,
                          const struct set_weights_request *request, struct weight_plan *ret_plan)
{
    struct weight_plan plan = {.request = request};
    enum err err = OK;

    plan.items = arena_calloc(ctx->arena, request->count, sizeof(*plan.items));
    if (plan.items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < request->count && err == OK; i++) {
        err = plan_rule(ctx, txn, &plan, i);
    }
    *ret_plan = plan;
    return err;
}

/* Encodes the rule as it is after the change. */
static enum err encode_rule(struct ctx *ctx, struct org_id org, const struct planned_weight *item,
                            int64_t time_us, struct slice *ret_rule)
{
    struct learned_rule_record record = item->row.record;
    struct learned_rule_view rule;
    enum err err = OK;

    record.life.version++;
    record.updated_at_us = time_us;
    err = learned_rule_view_of(org, &record, &rule);
    if (err == OK && !view_encode(&learned_rule_view_type, &rule, ctx->arena, ret_rule)) {
        err = ERR_MEMORY;
    }
    return err;
}

static enum err encode_event(struct ctx *ctx, const struct planned_weight *item,
                             struct slice reason, struct event_draft *draft)
{
    const struct learned_rule_weight_set_internal_view internal = {
        .adjustment_billionths = item->row.record.adjustment,
    };
    struct learned_rule_weight_set_view facts = {
        .has_rule = true,
        .seq = item->row.seq,
        .previous_weight = weight_value(item->previous),
        .agreed_count = item->total.agreed,
        .disagreed_count = item->total.disagreed,
        .reason = reason,
    };
    enum err err = encode_rule(ctx, draft->org, item, draft->created_at_us, &facts.rule);

    if (err != OK) {
        return err;
    }
    return view_encode(&learned_rule_weight_set_internal_view_type, &internal, ctx->arena,
                       &facts.internal) &&
                   view_encode_parts(&learned_rule_weight_set_view_type, &facts, ctx->arena,
                                     &draft->facts, &draft->content)
               ? OK
               : ERR_MEMORY;
}

/* Appends the event of one rule. `author` is the draft of every event before it is stamped. */
static enum err append_change(struct ctx *ctx, struct store_txn *txn,
                              const struct event_draft *author, const struct weight_plan *plan,
                              size_t place, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct planned_weight *item = &plan->items[place];
    struct event_draft draft = *author;
    enum err err = event_draft_stamp(ctx, txn, &now, &draft);

    if (err == OK) {
        err = encode_event(ctx, item, plan->request->reason, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LEARNED_RULE, item->row.record.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, verdicts_apply, ret_seq);
}

enum err set_weights_write(struct ctx *ctx, struct store_txn *txn,
                           const struct set_weights_request *request,
                           struct work_result *ret_result)
{
    const struct slice nothing = {NULL, 0};
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft author = {.org = request->org, .kind = EVENT_LEARNED_RULE_WEIGHT_SET};
    struct weight_plan plan = {.count = 0};
    uint64_t seq = 0;
    enum err err =
        actor_resolve(ctx, &request->caller, nothing, nothing, false, &author.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, nothing, nothing, &kind);
    }
    if (err == OK) {
        err = make_plan(ctx, txn, request, &plan);
    }
    author.annotator = (enum annotator)kind;
    for (size_t i = 0; i < plan.count && err == OK; i++) {
        err = append_change(ctx, txn, &author, &plan, i, &seq);
    }
    if (err == OK && plan.count > 0) {
        ret_result->first_seq = seq + 1 - plan.count;
        ret_result->count = (uint32_t)plan.count;
    }
    return err;
}

static void put_unchanged(size_t chosen_count, size_t changed_count, struct buffer *body)
{
    wire_put_varint(body, APPLY_SUGGESTED_WEIGHTS_RESPONSE_UNCHANGED_COUNT_FIELD,
                    chosen_count - changed_count);
}

static enum err put_event(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct buffer *body)
{
    struct learned_rule_weight_set_view facts;
    struct weight_change_view change;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK && event.kind != EVENT_LEARNED_RULE_WEIGHT_SET) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = learned_rule_weight_set_view_read(event.facts, &facts);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    change = (struct weight_change_view){
        .has_rule = true,
        .rule = facts.rule,
        .previous_weight = facts.previous_weight,
        .agreed_count = facts.agreed_count,
        .disagreed_count = facts.disagreed_count,
        .event_id = event.id,
    };
    weight_change_view_put(&change, APPLY_SUGGESTED_WEIGHTS_RESPONSE_CHANGES_FIELD, body);
    return OK;
}

enum err set_weights_answer(struct store_txn *txn, size_t chosen_count,
                            const struct work_result *result, struct buffer *body)
{
    enum err err = OK;

    for (uint32_t i = 0; err == OK && i < result->count; i++) {
        err = put_event(txn, result->org, result->first_seq + i, body);
    }
    put_unchanged(chosen_count, result->count, body);
    return err;
}

enum err set_weights_answer_dry(struct ctx *ctx, struct store_txn *txn,
                                const struct set_weights_request *request, struct buffer *body)
{
    struct weight_plan plan = {.count = 0};
    enum err err = make_plan(ctx, txn, request, &plan);

    for (size_t i = 0; i < plan.count && err == OK; i++) {
        const struct planned_weight *item = &plan.items[i];
        struct weight_change_view change = {
            .has_rule = true,
            .previous_weight = weight_value(item->previous),
            .agreed_count = item->total.agreed,
            .disagreed_count = item->total.disagreed,
        };

        err = encode_rule(ctx, request->org, item, item->row.record.updated_at_us, &change.rule);
        if (err == OK) {
            weight_change_view_put(&change, APPLY_SUGGESTED_WEIGHTS_RESPONSE_CHANGES_FIELD, body);
        }
    }
    if (err == OK) {
        put_unchanged(request->count, plan.count, body);
    }
    return err;
}
