/*
 * verdict_service.c: VerdictService's writes: SubmitVerdict and SetLearnedRuleEnabled. Converts
 * wire messages to values for the domain, and stored events to responses; the rules are in the
 * domain.
 */
#include "server/domain/verdicts/verdicts.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/event.views.h>
#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_service.handlers.h>
#include <errata/v1/verdict_service.views.h>
#include <errata/v1/verdict_submission.views.h>

/* One of the three lists of a request. */
struct named_list {
    const char *name;
    char *const *texts;
    size_t count;
    struct verdict_indicators *indicators;
};

#define LISTS 3

static bool has_indicator(const struct verdict_indicators *indicators, struct slice indicator)
{
    for (size_t i = 0; i < indicators->count; i++) {
        if (slice_equal(indicators->items[i], indicator)) {
            return true;
        }
    }
    return false;
}

/* Reads one list; adds a fault for an indicator that an earlier list has. */
static void read_list(struct ctx *ctx, const struct named_list *lists, size_t list)
{
    struct verdict_indicators *indicators = lists[list].indicators;

    for (size_t i = 0; i < lists[list].count; i++) {
        struct slice indicator = slice_text(lists[list].texts[i]);
        struct slice field = arena_printf(ctx->arena, "submission.%s[%zu]", lists[list].name, i);

        if (indicator.size == 0) {
            fault_add(ctx->fault, field, "empty; expected an indicator of 1 to %d bytes",
                      VERDICT_INDICATOR_BYTES_MAX);
        }
        for (size_t other = 0; other < list; other++) {
            if (has_indicator(lists[other].indicators, indicator)) {
                fault_add(ctx->fault, field, "also in %s; expected in only one of the lists",
                          lists[other].name);
            }
        }
        if (!has_indicator(indicators, indicator) && indicators->count < VERDICT_INDICATORS_MAX) {
            indicators->items[indicators->count++] = indicator;
        }
    }
}

static void read_indicators(struct ctx *ctx, const Errata__V1__VerdictSubmission *submission,
                            struct verdict_input *input)
{
    const struct named_list lists[LISTS] = {
        {"confirmed_indicators", submission->confirmed_indicators,
         submission->n_confirmed_indicators, &input->confirmed},
        {"rejected_indicators", submission->rejected_indicators, submission->n_rejected_indicators,
         &input->rejected},
        {"missed_indicators", submission->missed_indicators, submission->n_missed_indicators,
         &input->missed},
    };

    for (size_t i = 0; i < LISTS; i++) {
        read_list(ctx, lists, i);
    }
}

/* Returns the corrections in their stored form: the encoded field of the message. */
static enum err read_corrections(struct ctx *ctx, const Errata__V1__VerdictSubmission *submission,
                                 struct slice *ret_corrections)
{
    struct buffer run;
    struct buffer entry;
    size_t bytes = 0;

    buffer_init(&run, ctx->arena, 256);
    for (size_t i = 0; i < submission->n_corrections; i++) {
        struct slice name = slice_text(submission->corrections[i]->key);
        struct slice value = slice_text(submission->corrections[i]->value);

        if (name.size == 0) {
            fault_add(ctx->fault, SLICE("submission.corrections"),
                      "an empty name; expected the names of fields");
        }
        buffer_init(&entry, ctx->arena, name.size + value.size + 2 * WIRE_OVERHEAD_BYTES);
        wire_put_bytes(&entry, 1, name);
        wire_put_bytes(&entry, 2, value);
        wire_put_bytes(&run, VERDICT_SUBMISSION_CORRECTIONS_FIELD, buffer_slice(&entry));
        bytes += name.size + value.size;
        if (!buffer_ok(&entry)) {
            return ERR_MEMORY;
        }
    }
    if (bytes > VERDICT_CORRECTIONS_BYTES_MAX) {
        fault_add(ctx->fault, SLICE("submission.corrections"),
                  "%zu bytes of names and values; expected at most %d", bytes,
                  VERDICT_CORRECTIONS_BYTES_MAX);
    }
    *ret_corrections = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static void read_profile(const Errata__V1__DocumentProfile *profile, struct verdict_input *input)
{
    if (profile != NULL) {
        input->has_profile = true;
        input->has_profile_confidence = profile->_confidence_case != 0;
        input->profile_confidence = profile->confidence;
        input->profile_subtype = slice_text(profile->subtype);
    }
}

/* Reads the references. */
static enum err read_references(struct ctx *ctx, const Errata__V1__VerdictSubmission *submission,
                                struct verdict_input *input)
{
    struct slice *references =
        arena_calloc(ctx->arena, submission->n_exposure_refs + 1, sizeof(*references));

    if (references == NULL) {
        return ERR_MEMORY;
    }
    if (UNEXPECTED(submission->n_exposure_refs > VERDICT_REFERENCES_MAX)) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    for (size_t i = 0; i < submission->n_exposure_refs; i++) {
        references[i] = slice_text(submission->exposure_refs[i]);
    }
    input->exposure_refs = references;
    input->exposure_ref_count = submission->n_exposure_refs;
    return OK;
}

static enum err read_submission(struct ctx *ctx, const Errata__V1__VerdictSubmission *submission,
                                struct verdict_input *input)
{
    *input = (struct verdict_input){
        .actor_user_id = slice_text(submission->actor_user_id),
        .receipt_id = slice_text(submission->receipt_id),
        .has_original_score = submission->_original_score_case != 0,
        .original_score = submission->original_score,
        .has_missing_fields_enabled = submission->_missing_fields_enabled_case != 0,
        .missing_fields_enabled = submission->missing_fields_enabled,
        .time = time_given(submission->created_at),
        .reviewer_notes = slice_text(submission->reviewer_notes),
        .original_features_json = slice_text(submission->original_features_json),
        .text = slice_text(submission->text),
    };
    if (UNEXPECTED(
            !verdict_from_wire((int32_t)submission->original_verdict, &input->original_verdict)) ||
        UNEXPECTED(
            !verdict_from_wire((int32_t)submission->correct_verdict, &input->correct_verdict)) ||
        UNEXPECTED(!annotator_kind_from_wire((int32_t)submission->annotator_kind,
                                             &input->annotator_kind))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (!input->has_original_score) {
        fault_add(ctx->fault, SLICE("submission.original_score"),
                  "missing; expected the score, 0 to 1");
    }
    read_profile(submission->document_profile, input);
    read_indicators(ctx, submission, input);
    return read_corrections(ctx, submission, &input->corrections);
}

enum err verdict_service_submit_verdict_prepare(struct verdict_service_submit_verdict_call *call)
{
    struct verdict_input *input = arena_calloc(call->ctx->arena, 1, sizeof(*input));
    enum err err = OK;

    if (input == NULL) {
        return ERR_MEMORY;
    }
    err = read_submission(call->ctx, call->request->submission, input);
    if (err == OK) {
        err = read_references(call->ctx, call->request->submission, input);
    }
    if (err == OK) {
        err = fault_result(call->ctx->fault);
    }
    if (err == OK) {
        call->prepared = input;
    }
    return err;
}

enum err verdict_service_submit_verdict_write(struct verdict_service_submit_verdict_call *call)
{
    const struct verdict_request request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .input = call->prepared,
        .key = &call->service->env->exposure_key,
    };

    return verdict_submit(call->ctx, call->txn, &request, call->result);
}

/* The changed rules with one pattern. */
struct sharing {
    struct slice pattern;
    struct buffer ids;
    size_t count;
};

/* Collects the rules with one pattern. */
static enum err collect_sharing(struct arena *arena, struct slice changes, struct sharing *sharing)
{
    struct slice message = {NULL, 0};
    enum err err = OK;

    buffer_init(&sharing->ids, arena, 2 * (UUID_TEXT_BYTES + WIRE_OVERHEAD_BYTES));
    while (err == OK && view_next(&changes, &message)) {
        struct learned_rule_change_view change;
        struct learned_rule_view rule;

        err = learned_rule_change_view_read(message, &change);
        if (err == OK) {
            err = learned_rule_view_read(change.rule, &rule);
        }
        if (err == OK && slice_equal(rule.pattern, sharing->pattern)) {
            char id[UUID_TEXT_BYTES];

            uuid_format(rule.id, id);
            shared_pattern_view_add_rule_ids(&sharing->ids, slice_of(id, sizeof(id)));
            sharing->count++;
        }
    }
    return err;
}

/* Appends the pattern of each indicator that several changed rules share. */
static enum err put_shared(struct arena *arena, struct slice indicators, struct slice changes,
                           struct buffer *body)
{
    struct slice indicator = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&indicators, &indicator)) {
        struct sharing sharing = {.pattern = indicator};

        err = collect_sharing(arena, changes, &sharing);
        if (err == OK && sharing.count > 1) {
            const struct shared_pattern_view view = {
                .pattern = indicator, .rule_ids = {.run = buffer_slice(&sharing.ids)}};

            shared_pattern_view_put(&view, SUBMIT_VERDICT_RESPONSE_SHARED_PATTERNS_FIELD, body);
            err = buffer_ok(&sharing.ids) ? OK : ERR_MEMORY;
        }
    }
    return err;
}

/* The last event of the write is the submission; those before it created rules. */
enum err verdict_service_submit_verdict_answer(struct verdict_service_submit_verdict_call *call)
{
    struct verdict_submission_view view;
    struct event event;
    struct buffer whole;
    enum err err = log_read(call->txn, call->result->org,
                            call->result->first_seq + call->result->count - 1, &event);

    if (err == OK && event.kind != EVENT_VERDICT_SUBMITTED) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = verdict_submission_view_read(event.facts, &view);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    buffer_init(&whole, call->ctx->arena, event.facts.size + event.content.size);
    buffer_append(&whole, event.facts);
    buffer_append(&whole, event.content);
    wire_put_bytes(call->body, SUBMIT_VERDICT_RESPONSE_SUBMISSION_FIELD, buffer_slice(&whole));
    err =
        put_shared(call->ctx->arena, view.missed_indicators.run, view.rule_changes.run, call->body);
    if (err == OK) {
        err = put_shared(call->ctx->arena, view.confirmed_indicators.run, view.rule_changes.run,
                         call->body);
    }
    return err == OK && !buffer_ok(&whole) ? ERR_MEMORY : err;
}

enum err verdict_service_set_learned_rule_enabled_write(
    struct verdict_service_set_learned_rule_enabled_call *call)
{
    struct learned_rule_switch request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .has_enabled = call->request->_enabled_case != 0,
        .enabled = call->request->enabled,
    };
    enum err err = OK;

    if (UNEXPECTED(!uuid_parse(slice_text(call->request->id), &request.id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    err = learned_rule_set_enabled(call->ctx, call->txn, &request, &call->result->first_seq);
    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err verdict_service_set_learned_rule_enabled_answer(
    struct verdict_service_set_learned_rule_enabled_call *call)
{
    struct learned_rule_enabled_set_view facts;
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK && event.kind != EVENT_LEARNED_RULE_ENABLED_SET) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = learned_rule_enabled_set_view_read(event.facts, &facts);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    wire_put_bytes(call->body, SET_LEARNED_RULE_ENABLED_RESPONSE_RULE_FIELD, facts.rule);
    return OK;
}
