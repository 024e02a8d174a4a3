/*
 * submit.c: decides how a submission changes rules, and appends its events. All rules and references are looked up
 * before the first put; exposures that were not cited before, and rules that do not exist, get an event each, so that
 * each has a number of its own.
 */
#include "server/domain/verdicts/citations.h"
#include "server/domain/verdicts/create.h"
#include "server/domain/verdicts/verdicts.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <errata/v1/verdict_submission.views.h>
#include <event_apply.h>

/* Maximum rules that one submission changes: two for each missed and confirmed indicator, one for
 * each rejected one. */
#define CHANGES_MAX (5 * VERDICT_INDICATORS_MAX)

/* Maximum bytes of a change besides two patterns: three ids, times and numbers. */
#define CHANGE_BYTES 256

/* A rule that is being changed. */
struct touched_rule {
    bool is_new;
    enum learned_rule_effect effect;
    struct learned_rule_row row; /* the rule before the change; its pattern is borrowed from the
                                  * request */
};

struct submitting {
    const struct verdict_request *request;
    struct slice actor_user_id;
    enum annotator annotator;
    int64_t created_at_us;
    struct touched_rule rules[CHANGES_MAX];
    size_t rule_count;
    struct verdict_citations citations;
};

/* Looks up a rule that is learned; creates a row if it does not exist. */
static enum err touch_learned(struct store_txn *txn, struct submitting *submitting,
                              struct slice pattern, const struct learner *learner)
{
    struct touched_rule *rule = &submitting->rules[submitting->rule_count];
    enum err err =
        learned_rule_find(txn, submitting->request->org, pattern, learner->rule_type, &rule->row);

    ASSERT(submitting->rule_count < CHANGES_MAX);
    rule->is_new = err == ERR_NOT_FOUND;
    rule->effect = LEARNED_RULE_EFFECT_LEARNED;
    if (rule->is_new) {
        rule->row.record = (struct learned_rule_record){
            .rule_type = (uint32_t)learner->rule_type,
            .action = (uint32_t)learner->action,
            .adjustment = learner->adjustment,
            .accuracy = (uint64_t)LEARNED_RULE_ACCURACY,
            .auto_learned = true,
            .life = artifact_life_begin(ARTIFACT_STATE_ACTIVE, 0),
        };
        err = OK;
    }
    rule->row.record.pattern = pattern;
    submitting->rule_count += err == OK;
    return err;
}

/* Looks up a rule that is reinforced, if it exists and is not retired. */
static enum err touch_reinforced(struct store_txn *txn, struct submitting *submitting,
                                 struct slice pattern, enum learned_rule_type rule_type)
{
    struct touched_rule *rule = &submitting->rules[submitting->rule_count];
    enum err err = learned_rule_find(txn, submitting->request->org, pattern, rule_type, &rule->row);

    ASSERT(submitting->rule_count < CHANGES_MAX);
    if (err == ERR_NOT_FOUND ||
        (err == OK && rule->row.record.life.state == ARTIFACT_STATE_RETIRED)) {
        return OK;
    }
    rule->is_new = false;
    rule->effect = LEARNED_RULE_EFFECT_REINFORCED;
    rule->row.record.pattern = pattern;
    submitting->rule_count += err == OK;
    return err;
}

static enum err learn(struct store_txn *txn, struct submitting *submitting,
                      const struct verdict_indicators *indicators, const struct learner *learners,
                      size_t learner_count)
{
    enum err err = OK;

    for (size_t i = 0; i < learner_count; i++) {
        for (size_t j = 0; j < indicators->count && err == OK; j++) {
            err = touch_learned(txn, submitting, indicators->items[j], &learners[i]);
        }
    }
    return err;
}

static enum err reinforce(struct store_txn *txn, struct submitting *submitting)
{
    const struct verdict_indicators *confirmed = &submitting->request->input->confirmed;
    const enum learned_rule_type *types = NULL;
    size_t type_count = learners_reinforced(&types);
    enum err err = OK;

    for (size_t i = 0; i < confirmed->count; i++) {
        for (size_t j = 0; j < type_count && err == OK; j++) {
            err = touch_reinforced(txn, submitting, confirmed->items[i], types[j]);
        }
    }
    return err;
}

/* Looks up all rules that the submission changes, in the order of the learners. */
static enum err touch_rules(struct store_txn *txn, struct submitting *submitting)
{
    const struct verdict_input *input = submitting->request->input;
    struct learner learners[2];
    size_t count = learners_of_missed(input->original_verdict, input->correct_verdict, learners);
    enum err err = learn(txn, submitting, &input->missed, learners, count);

    if (err == OK) {
        count = learners_of_rejected(input->original_verdict, input->correct_verdict, learners);
        err = learn(txn, submitting, &input->rejected, learners, count);
    }
    return err != OK ? err : reinforce(txn, submitting);
}

static struct event_draft draft_of(const struct submitting *submitting, enum event_kind_number kind)
{
    return (struct event_draft){
        .org = submitting->request->org,
        .kind = kind,
        .annotator = submitting->annotator,
        .actor_user_id = submitting->actor_user_id,
    };
}

static enum err create_rule(struct ctx *ctx, struct store_txn *txn,
                            const struct submitting *submitting, struct learned_rule_row *row)
{
    const struct learned_rule_origin origin = {.is_imported = false};
    struct event_draft draft = draft_of(submitting, EVENT_LEARNED_RULE_CREATED);
    enum err err = event_draft_stamp(ctx, txn, &submitting->request->input->time, &draft);

    return err != OK ? err : learned_rule_create(ctx, txn, &draft, &origin, row);
}

/* Appends one change, with the resulting rule. */
static enum err put_change(struct ctx *ctx, const struct submitting *submitting,
                           const struct touched_rule *touched, struct buffer *run)
{
    const struct learned_rule_count count = {
        .time_us = submitting->created_at_us,
        .is_backfill = submitting->request->input->time.is_given,
    };
    struct learned_rule_record record = touched->row.record;
    struct learned_rule_change_view change = {
        .has_rule = true,
        .effect = touched->effect,
        .seq = touched->row.seq,
    };
    struct learned_rule_view rule;
    enum err err = OK;

    learned_rule_count(&count, touched->effect, &record);
    err = learned_rule_view_of(submitting->request->org, &record, &rule);
    if (err == OK && !view_encode(&learned_rule_view_type, &rule, ctx->arena, &change.rule)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        learned_rule_change_view_put(&change, VERDICT_SUBMISSION_RULE_CHANGES_FIELD, run);
    }
    return err;
}

static enum err put_changes(struct ctx *ctx, const struct submitting *submitting,
                            struct slice *ret_run)
{
    struct buffer run;
    enum err err = OK;

    buffer_init(&run, ctx->arena, submitting->rule_count * CHANGE_BYTES);
    for (size_t i = 0; i < submitting->rule_count && err == OK; i++) {
        err = put_change(ctx, submitting, &submitting->rules[i], &run);
    }
    *ret_run = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

typedef void add_indicator_fn(struct buffer *run, struct slice indicator);

static enum err put_indicators(struct arena *arena, const struct verdict_indicators *indicators,
                               add_indicator_fn *add, struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, 64 * indicators->count);
    for (size_t i = 0; i < indicators->count; i++) {
        add(&run, indicators->items[i]);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Encodes the lists of a submission. */
static enum err put_lists(struct ctx *ctx, const struct submitting *submitting,
                          struct verdict_submission_view *view)
{
    const struct verdict_input *input = submitting->request->input;
    enum err err = put_indicators(ctx->arena, &input->confirmed,
                                  verdict_submission_view_add_confirmed_indicators,
                                  &view->confirmed_indicators.run);

    if (err == OK) {
        err = put_indicators(ctx->arena, &input->rejected,
                             verdict_submission_view_add_rejected_indicators,
                             &view->rejected_indicators.run);
    }
    if (err == OK) {
        err = put_indicators(ctx->arena, &input->missed,
                             verdict_submission_view_add_missed_indicators,
                             &view->missed_indicators.run);
    }
    if (err == OK) {
        err = verdict_citations_encode(ctx->arena, &submitting->citations, view);
    }
    return err != OK ? err : put_changes(ctx, submitting, &view->rule_changes.run);
}

static enum err encode(struct ctx *ctx, const struct submitting *submitting,
                       struct event_draft *draft)
{
    const struct verdict_input *input = submitting->request->input;
    const struct document_profile_view profile = {
        .confidence = input->profile_confidence,
        .has_confidence = input->has_profile_confidence,
        .subtype = input->profile_subtype,
    };
    struct verdict_submission_view view = {
        .id = draft->stamp.id,
        .org_id = draft->org.uuid,
        .actor_user_id = submitting->actor_user_id,
        .has_actor_user_id = submitting->actor_user_id.size > 0,
        .receipt_id = input->receipt_id,
        .correct_verdict = input->correct_verdict,
        .original_verdict = input->original_verdict,
        .original_score = input->original_score,
        .has_original_score = true,
        .has_document_profile = input->has_profile,
        .missing_fields_enabled = input->missing_fields_enabled,
        .has_missing_fields_enabled = input->has_missing_fields_enabled,
        .created_at_us = draft->created_at_us,
        .has_created_at = true,
        .annotator_kind = (enum annotator_kind)submitting->annotator,
        .corrections = {.run = input->corrections},
        .reviewer_notes = input->reviewer_notes,
        .original_features_json = input->original_features_json,
        .text = input->text,
    };
    enum err err = put_lists(ctx, submitting, &view);

    if (err != OK) {
        return err;
    }
    return view_encode(&document_profile_view_type, &profile, ctx->arena, &view.document_profile) &&
                   view_encode_parts(&verdict_submission_view_type, &view, ctx->arena,
                                     &draft->facts, &draft->content)
               ? OK
               : ERR_MEMORY;
}

/* Records the exposures and creates the new rules, then appends the submission that counts all of them. */
static enum err append_all(struct ctx *ctx, struct store_txn *txn, struct submitting *submitting,
                           struct work_result *ret_result)
{
    const struct exposure_citer citer = {submitting->actor_user_id,
                                         submitting->request->input->time};
    struct event_draft draft = draft_of(submitting, EVENT_VERDICT_SUBMITTED);
    uint32_t created = 0;
    uint64_t seq = 0;
    enum err err = verdict_citations_record(ctx, txn, submitting->request, &citer,
                                            &submitting->citations, &created);

    for (size_t i = 0; i < submitting->rule_count && err == OK; i++) {
        if (submitting->rules[i].is_new) {
            err = create_rule(ctx, txn, submitting, &submitting->rules[i].row);
            created++;
        }
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &submitting->request->input->time, &draft);
    }
    submitting->created_at_us = draft.created_at_us;
    if (err == OK) {
        err = encode(ctx, submitting, &draft);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_RECEIPT, submitting->request->input->receipt_id);
    err = event_draft_append(ctx, txn, &draft, verdicts_apply, &seq);
    if (err == OK) {
        ret_result->first_seq = seq - created;
        ret_result->count = created + 1;
    }
    return err;
}

enum err verdict_submit(struct ctx *ctx, struct store_txn *txn,
                        const struct verdict_request *request, struct work_result *ret_result)
{
    const struct verdict_input *input = request->input;
    struct submitting *submitting = arena_calloc(ctx->arena, 1, sizeof(*submitting));
    enum annotator_kind kind = input->annotator_kind;
    enum err err = submitting != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        submitting->request = request;
        err = actor_resolve(ctx, &request->caller, SLICE("submission"), input->actor_user_id,
                            input->time.is_given, &submitting->actor_user_id);
    }
    if (err == OK) {
        err = annotator_resolve(ctx, &request->caller, SLICE("submission"), input->actor_user_id,
                                &kind);
    }
    if (err == OK) {
        submitting->annotator = (enum annotator)kind;
        err = event_time_check_now(ctx, txn, request->org, &input->time, SLICE("submission"));
    }
    if (err == OK) {
        err = verdict_citations_read(ctx, txn, request, &submitting->citations);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        err = touch_rules(txn, submitting);
    }
    return err != OK ? err : append_all(ctx, txn, submitting, ret_result);
}
