/*
 * rule_import.c: see rule_import.h. The rows on which a plan is based are encoded or copied before
 * the first event, since a put invalidates slices borrowed from the transaction.
 */
#include "server/domain/rule_files/rule_import.h"

#include "server/domain/artifacts/state.h"
#include "server/domain/verdicts/create.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/learners.h"
#include "store/base/bytes.h"
#include "store/scan.h"

#include <errata/payload/payload.views.h>
#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Memory of one event: two rules with the longest patterns, their rows, and the event. */
#define EVENT_MEMORY_MAX (64u << 10)
/* Initial room for retired rules. */
#define RETIRED_FIRST 64

/* One changed rule. */
struct planned_change {
    enum learned_rule_import_effect effect;
    struct learned_rule_row row; /* row after the change; a new rule has no number and id yet */
    struct slice previous; /* the previous encoded rule; empty for a new one */
};

struct rule_plan {
    const struct rule_import_request *request;
    struct planned_change *changes;
    size_t count;
    size_t room;
};

/* Adds a change, with a copy of the pattern. */
static enum err add_change(struct ctx *ctx, struct rule_plan *plan,
                           const struct planned_change *change)
{
    struct planned_change *added = NULL;

    if (plan->count == plan->room) {
        size_t room = plan->room * 2;
        struct planned_change *larger = arena_calloc(ctx->arena, room, sizeof(*larger));

        if (larger == NULL) {
            return ERR_MEMORY;
        }
        memcpy(larger, plan->changes, plan->count * sizeof(*larger));
        plan->changes = larger;
        plan->room = room;
    }
    added = &plan->changes[plan->count];
    *added = *change;
    if (!arena_copy(ctx->arena, change->row.record.pattern, &added->row.record.pattern)) {
        return ERR_MEMORY;
    }
    plan->count++;
    return OK;
}

static enum err encode_rule(struct arena *arena, struct org_id org,
                            const struct learned_rule_record *record, struct slice *ret_rule)
{
    struct learned_rule_view view;
    enum err err = learned_rule_view_of(org, record, &view);

    if (err == OK && !view_encode(&learned_rule_view_type, &view, arena, ret_rule)) {
        err = ERR_MEMORY;
    }
    return err;
}

static struct planned_change new_rule(const struct rule_import_item *item)
{
    const struct learner *learner = learner_of_type(item->rule_type);
    const struct learned_rule_values *values = &item->values;
    bool has_id = !bytes_are_zero(item->id.bytes, UUID_BYTES);
    enum artifact_state state =
        values->state == ARTIFACT_STATE_UNSPECIFIED ? ARTIFACT_STATE_ACTIVE : values->state;
    struct planned_change change = {.effect = LEARNED_RULE_IMPORT_EFFECT_CREATED};

    change.row.record = (struct learned_rule_record){
        .rule_type = (uint32_t)item->rule_type,
        .pattern = item->pattern,
        .action = (uint32_t)learner->action,
        .adjustment = values->adjustment,
        .count = values->count,
        .accuracy = values->accuracy,
        .life = artifact_life_begin(state, 0),
        .auto_learned = values->auto_learned,
        .source_id = has_id ? item->id : values->source_id,
    };
    change.row.record.life.held_back = !values->enabled;
    return change;
}

/* Plans the change of one rule of the document, if there is one. A rule is never its own source. */
static enum err plan_item(struct ctx *ctx, struct store_txn *txn, struct rule_plan *plan,
                          const struct rule_import_item *item)
{
    struct org_id org = plan->request->org;
    struct learned_rule_values values = item->values;
    struct planned_change change = new_rule(item);
    struct learned_rule_row row;
    enum err err = learned_rule_find(txn, org, item->pattern, item->rule_type, &row);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? add_change(ctx, plan, &change) : err;
    }
    if (uuid_equal(item->id, row.record.id)) {
        values.source_id = (struct uuid){{0}};
    } else if (!bytes_are_zero(item->id.bytes, UUID_BYTES)) {
        values.source_id = item->id;
    }
    if (learned_rule_has_values(&row.record, &values)) {
        return OK;
    }
    change.effect = LEARNED_RULE_IMPORT_EFFECT_UPDATED;
    err = encode_rule(ctx->arena, org, &row.record, &change.previous);
    if (err == OK) {
        learned_rule_set_values(&values, 0, row.record.updated_at_us, &row.record);
        change.row = row;
        err = add_change(ctx, plan, &change);
    }
    return err;
}

/* Plans to retire or reject a rule that the document does not have, unless that was done before. */
static enum err plan_missing(struct ctx *ctx, struct rule_plan *plan, struct learned_rule_row *row)
{
    struct planned_change change = {.effect = LEARNED_RULE_IMPORT_EFFECT_RETIRED};
    enum artifact_state before = ARTIFACT_STATE_UNSPECIFIED;
    enum artifact_state after = ARTIFACT_STATE_UNSPECIFIED;
    enum err err = OK;

    if (!artifact_state_from_wire((int32_t)row->record.life.state, &before)) {
        return ERR_CORRUPT;
    }
    err = artifact_state_decide(ctx, false, before, ARTIFACT_STATE_RETIRED, &after);
    if (err != OK || after == before) {
        return err;
    }
    err = encode_rule(ctx->arena, plan->request->org, &row->record, &change.previous);
    if (err == OK) {
        artifact_life_decide(&row->record.life, after, 0);
        change.row = *row;
        err = add_change(ctx, plan, &change);
    }
    return err;
}

static enum err plan_all_missing(struct ctx *ctx, struct store_txn *txn, struct rule_plan *plan)
{
    const struct scan_range range = {
        .table = TABLE_LEARNED_RULE, .prefix = key_org(plan->request->org), .rows_max = UINT32_MAX};
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct learned_rule_row row;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_learned_rule(key, &row.seq);
        }
        if (err == OK) {
            err = record_decode_learned_rule(value, &row.record);
        }
        if (err == OK && rule_import_find(plan->request->import, row.record.rule_type,
                                          row.record.pattern) == NULL) {
            err = plan_missing(ctx, plan, &row);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err make_plan(struct ctx *ctx, struct store_txn *txn,
                          const struct rule_import_request *request, struct rule_plan *ret_plan)
{
    struct rule_plan plan = {.request = request, .room = request->import->count + RETIRED_FIRST};
    enum err err = OK;

    plan.changes = arena_calloc(ctx->arena, plan.room, sizeof(*plan.changes));
    if (plan.changes == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < request->import->count && err == OK; i++) {
        err = plan_item(ctx, txn, &plan, &request->import->items[i]);
    }
    if (err == OK && request->replace) {
        err = plan_all_missing(ctx, txn, &plan);
    }
    if (err == OK) {
        *ret_plan = plan;
    }
    return err;
}

/* Encodes the event of a rule that existed. */
static enum err encode_change(struct ctx *ctx, const struct planned_change *change,
                              struct event_draft *draft)
{
    struct learned_rule_record record = change->row.record;
    const struct learned_rule_imported_internal_view internal = {
        .adjustment_billionths = record.adjustment,
        .accuracy_billionths = record.accuracy,
    };
    struct learned_rule_imported_view facts = {
        .has_rule = true,
        .seq = change->row.seq,
        .has_previous = true,
        .previous = change->previous,
        .is_missing = change->effect == LEARNED_RULE_IMPORT_EFFECT_RETIRED,
    };
    enum err err = OK;

    record.updated_at_us = draft->created_at_us;
    err = encode_rule(ctx->arena, draft->org, &record, &facts.rule);
    if (err != OK) {
        return err;
    }
    return view_encode(&learned_rule_imported_internal_view_type, &internal, ctx->arena,
                       &facts.internal) &&
                   view_encode(&learned_rule_imported_view_type, &facts, ctx->arena, &draft->facts)
               ? OK
               : ERR_MEMORY;
}

/* Appends the event of one change. `author` is the draft of every event before it is stamped. */
static enum err append_change(struct ctx *ctx, struct store_txn *txn,
                              const struct event_draft *author, struct planned_change *change,
                              uint64_t *ret_seq)
{
    const struct learned_rule_origin origin = {.is_imported = true};
    const struct event_time now = {.is_given = false};
    bool is_new = change->effect == LEARNED_RULE_IMPORT_EFFECT_CREATED;
    struct event_draft draft = *author;
    enum err err = OK;

    draft.kind = is_new ? EVENT_LEARNED_RULE_CREATED : EVENT_LEARNED_RULE_IMPORTED;
    err = event_draft_stamp(ctx, txn, &now, &draft);
    if (err == OK && is_new) {
        err = learned_rule_create(ctx, txn, &draft, &origin, &change->row);
        *ret_seq = change->row.seq;
        return err;
    }
    if (err == OK) {
        err = encode_change(ctx, change, &draft);
    }
    if (err == OK) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_LEARNED_RULE, change->row.record.id);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, verdicts_apply, ret_seq);
}

/* Appends all events; the memory of each is freed before the next one. */
static enum err append_all(struct ctx *ctx, struct store_txn *txn, const struct rule_plan *plan,
                           const struct event_draft *author, struct work_result *ret_result)
{
    struct ctx one = *ctx;
    struct arena scratch;
    uint64_t seq = 0;
    enum err err = OK;

    arena_init(&scratch, EVENT_MEMORY_MAX);
    one.arena = &scratch;
    for (size_t i = 0; i < plan->count && err == OK; i++) {
        err = append_change(&one, txn, author, &plan->changes[i], &seq);
        arena_reset(&scratch);
    }
    arena_deinit(&scratch);
    if (err == OK && plan->count > 0) {
        ret_result->first_seq = seq + 1 - plan->count;
        ret_result->count = (uint32_t)plan->count;
    }
    return err;
}

enum err rule_import_write(struct ctx *ctx, struct store_txn *txn,
                           const struct rule_import_request *request,
                           struct work_result *ret_result)
{
    const struct slice nothing = {NULL, 0};
    enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;
    struct event_draft author = {.org = request->org};
    struct rule_plan plan;
    enum err err =
        actor_resolve(ctx, &request->caller, nothing, nothing, false, &author.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, nothing, nothing, &kind);
    }
    if (err == OK) {
        err = make_plan(ctx, txn, request, &plan);
    }
    author.annotator = (enum annotator)kind;
    return err != OK ? err : append_all(ctx, txn, &plan, &author, ret_result);
}

/* The response while it is being built. */
struct answering {
    struct import_learned_rules_response_view view;
    struct buffer run;
};

/* Counts a change, and lists it if there is room. */
static void add_to_answer(struct answering *answering,
                          const struct learned_rule_import_change_view *change)
{
    struct import_learned_rules_response_view *view = &answering->view;

    view->created_count += change->effect == LEARNED_RULE_IMPORT_EFFECT_CREATED;
    view->updated_count += change->effect == LEARNED_RULE_IMPORT_EFFECT_UPDATED;
    view->retired_count += change->effect == LEARNED_RULE_IMPORT_EFFECT_RETIRED;
    view->incomplete = view->incomplete || answering->run.size + change->rule.size +
                                                   change->previous.size + WIRE_OVERHEAD_BYTES >
                                               RULE_IMPORT_CHANGES_BYTES_MAX;
    if (!view->incomplete) {
        learned_rule_import_change_view_put(change, IMPORT_LEARNED_RULES_RESPONSE_CHANGES_FIELD,
                                            &answering->run);
    }
}

static enum err put_answer(const struct rule_import *import, struct answering *answering,
                           struct buffer *body)
{
    struct import_learned_rules_response_view *view = &answering->view;

    view->unchanged_count = (uint32_t)import->count - view->created_count - view->updated_count;
    view->changes.run = buffer_slice(&answering->run);
    import_learned_rules_response_view_write(view, body);
    return buffer_ok(&answering->run) ? OK : ERR_MEMORY;
}

/* Reads the change of an event. */
static enum err read_change(const struct event *event,
                            struct learned_rule_import_change_view *change)
{
    struct learned_rule_created_view created;
    struct learned_rule_imported_view imported;
    enum err err = OK;

    *change = (struct learned_rule_import_change_view){.has_rule = true};
    if (event->kind == EVENT_LEARNED_RULE_CREATED) {
        err = learned_rule_created_view_read(event->facts, &created);
        change->effect = LEARNED_RULE_IMPORT_EFFECT_CREATED;
        change->rule = created.rule;
        return err;
    }
    if (event->kind != EVENT_LEARNED_RULE_IMPORTED) {
        return ERR_CORRUPT;
    }
    err = learned_rule_imported_view_read(event->facts, &imported);
    change->effect = imported.is_missing ? LEARNED_RULE_IMPORT_EFFECT_RETIRED
                                         : LEARNED_RULE_IMPORT_EFFECT_UPDATED;
    change->rule = imported.rule;
    change->previous = imported.previous;
    change->has_previous = true;
    return err;
}

enum err rule_import_answer(struct ctx *ctx, struct store_txn *txn,
                            const struct rule_import *import, const struct work_result *result,
                            struct buffer *body)
{
    struct answering answering = {.view = {.created_count = 0}};
    enum err err = OK;

    buffer_init(&answering.run, ctx->arena, 0);
    for (uint32_t i = 0; i < result->count && err == OK; i++) {
        struct learned_rule_import_change_view change;
        struct event event;

        err = log_read(txn, result->org, result->first_seq + i, &event);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        if (err == OK) {
            err = read_change(&event, &change);
        }
        if (err == OK) {
            add_to_answer(&answering, &change);
        }
    }
    return err != OK ? err : put_answer(import, &answering, body);
}

enum err rule_import_answer_dry(struct ctx *ctx, struct store_txn *txn,
                                const struct rule_import_request *request, struct buffer *body)
{
    struct answering answering = {.view = {.created_count = 0}};
    struct rule_plan plan = {.count = 0};
    enum err err = make_plan(ctx, txn, request, &plan);

    buffer_init(&answering.run, ctx->arena, 0);
    for (size_t i = 0; i < plan.count && err == OK; i++) {
        struct learned_rule_import_change_view change = {
            .effect = plan.changes[i].effect,
            .has_rule = true,
            .previous = plan.changes[i].previous,
            .has_previous = plan.changes[i].previous.size > 0,
        };

        err = encode_rule(ctx->arena, request->org, &plan.changes[i].row.record, &change.rule);
        if (err == OK) {
            add_to_answer(&answering, &change);
        }
    }
    return err != OK ? err : put_answer(request->import, &answering, body);
}
