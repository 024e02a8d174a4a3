/*
 * admin_settings.c: AdminService's GetSettings and UpdateSettings: the settings of an organisation.
 */
#include "server/api/admin/admin_retention.h"
#include "server/api/annotators.h"
#include "server/domain/cues/lexicon.h"
#include "server/domain/settings/redacted_members.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/assert.h"
#include "store/base/text.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/admin_service.handlers.h>

enum err admin_service_get_settings_read(struct admin_service_get_settings_call *call)
{
    struct organization_settings_view view;
    struct settings settings;
    struct settings_texts texts;
    struct org_id org;
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &org);

    if (err == OK) {
        err = settings_read(call->txn, org, &settings);
    }
    if (err == OK) {
        err = settings_texts_read(call->txn, org, &texts);
    }
    if (err != OK) {
        return err;
    }
    view = settings_view_of(&settings, &texts);
    organization_settings_view_put(&view, GET_SETTINGS_RESPONSE_SETTINGS_FIELD, call->body);
    return OK;
}

/* Reads the members to redact; each invalid name gets a fault. */
static enum err read_redacted(struct ctx *ctx, const Errata__V1__RedactedMembers *given,
                              struct settings_change *change)
{
    struct buffer run;

    if (given == NULL) {
        return OK;
    }
    buffer_init(&run, ctx->arena, 0);
    for (size_t i = 0; i < given->n_names; i++) {
        struct slice name = slice_text(given->names[i]);

        if (name.size == 0 || text_has_control(name) ||
            text_first_characters(name, REDACTED_MEMBER_CHARACTERS_MAX).size < name.size) {
            fault_add(ctx->fault,
                      arena_printf(ctx->arena, "settings.redacted_members.names[%zu]", i),
                      "empty, too long or with control characters; expected 1 to %d characters",
                      REDACTED_MEMBER_CHARACTERS_MAX);
        }
        redacted_members_view_add_names(&run, name);
    }
    change->has_redacted_members = true;
    change->redacted_members = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Reads the agents of gates; a gate that is repeated gets a fault. */
static enum err read_gates(struct ctx *ctx, const Errata__V1__GateAgents *given,
                           struct settings_change *change)
{
    struct buffer run;

    if (given == NULL) {
        return OK;
    }
    buffer_init(&run, ctx->arena, 0);
    for (size_t i = 0; i < given->n_gates; i++) {
        const struct gate_agent_view gate = {.gate_id = slice_text(given->gates[i]->gate_id),
                                             .agent_name = slice_text(given->gates[i]->agent_name)};
        bool is_repeated = false;

        for (size_t j = 0; j < i; j++) {
            is_repeated =
                is_repeated || slice_equal(gate.gate_id, slice_text(given->gates[j]->gate_id));
        }
        if (is_repeated) {
            fault_add(ctx->fault,
                      arena_printf(ctx->arena, "settings.gate_agents.gates[%zu].gate_id", i),
                      "repeated; expected each gate once");
        }
        gate_agent_view_put(&gate, GATE_AGENTS_GATES_FIELD, &run);
    }
    change->has_gate_agents = true;
    change->gate_agents = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Checks a phrase for reading messages. */
static enum err check_cue(struct ctx *ctx, const struct extra_cue_view *cue, size_t place)
{
    enum cue_class class = CUE_CLASS_COUNT;
    struct cue_words words = {.count = 0};
    enum err err = words_of(ctx->arena, cue->phrase, &words);

    if (!cue_class_find(cue->cue_class, &class)) {
        fault_add(ctx->fault,
                  arena_printf(ctx->arena, "settings.extra_cues.cues[%zu].cue_class", place),
                  "unknown; expected a class of cues such as NEGATION, CORRECTION, DIRECT, RETRY, "
                  "COMPLAINT, ABANDON, THANKS, PRAISE, ACTION or FOLLOW_UP");
    }
    if (err == OK && (words.count == 0 || words.count > CUE_LEXICON_PATTERN_MAX)) {
        fault_add(ctx->fault,
                  arena_printf(ctx->arena, "settings.extra_cues.cues[%zu].phrase", place),
                  "%zu words; expected 1 to %d", words.count, CUE_LEXICON_PATTERN_MAX);
    }
    return err;
}

static enum err read_cues(struct ctx *ctx, const Errata__V1__ExtraCues *given,
                          struct settings_change *change)
{
    struct buffer run;
    enum err err = OK;

    if (given == NULL) {
        return OK;
    }
    buffer_init(&run, ctx->arena, 0);
    for (size_t i = 0; err == OK && i < given->n_cues; i++) {
        const struct extra_cue_view cue = {.cue_class = slice_text(given->cues[i]->cue_class),
                                           .phrase = slice_text(given->cues[i]->phrase)};

        err = check_cue(ctx, &cue, i);
        extra_cue_view_put(&cue, EXTRA_CUES_CUES_FIELD, &run);
    }
    change->has_extra_cues = true;
    change->extra_cues = buffer_slice(&run);
    return err == OK && !buffer_ok(&run) ? ERR_MEMORY : err;
}

/* Reads how long content is kept. */
static enum err read_retention(struct ctx *ctx, const Errata__V1__ContentRetention *given,
                               struct settings_change *change)
{
    struct content_retention_view view;

    if (given == NULL) {
        return OK;
    }
    admin_retention_read(ctx, "settings.content_retention", given, &view);
    change->has_content_retention = true;
    return view_encode(&content_retention_view_type, &view, ctx->arena, &change->content_retention)
               ? OK
               : ERR_MEMORY;
}

/* Returns whether a request changes nothing. */
static bool is_empty(const Errata__V1__OrganizationSettings *settings)
{
    return settings->_holdout_percent_case == 0 && settings->_match_mode_case == 0 &&
           settings->n_annotator_kinds == 0 && settings->_grouping_case == 0 &&
           settings->_stacking_case == 0 && settings->_suspicious_at_case == 0 &&
           settings->_fake_at_case == 0 && settings->_reviews_needed_case == 0 &&
           settings->redacted_members == NULL && settings->_votes_needed_case == 0 &&
           settings->_evaluator_id_case == 0 && settings->gate_agents == NULL &&
           settings->extra_cues == NULL && settings->_topic_change_case == 0 &&
           settings->content_retention == NULL;
}

/* Reads the requested change; each invalid value gets a fault. */
static enum err read_change(const struct service *service,
                            const Errata__V1__OrganizationSettings *settings,
                            struct settings_change *ret_change)
{
    struct fault *fault = service->ctx->fault;
    struct settings_change change = {
        .by_program = service->principal->user_id.size == 0,
        .has_holdout_percent = settings->_holdout_percent_case != 0,
        .holdout_percent = settings->holdout_percent,
        .has_match_mode = settings->_match_mode_case != 0,
        .has_suspicious_at = settings->_suspicious_at_case != 0,
        .suspicious_at = settings->suspicious_at,
        .has_fake_at = settings->_fake_at_case != 0,
        .fake_at = settings->fake_at,
        .reviews_needed = settings->reviews_needed,
        .votes_needed = settings->votes_needed,
        .has_evaluator_id = settings->_evaluator_id_case != 0,
        .evaluator_id = slice_text(settings->evaluator_id),
    };

    if (is_empty(settings)) {
        fault_add(fault, SLICE("settings"),
                  "empty; expected at least one of holdout_percent, match_mode, annotator_kinds, "
                  "grouping, stacking, suspicious_at, fake_at, reviews_needed, redacted_members, "
                  "votes_needed, evaluator_id, gate_agents, extra_cues, topic_change and "
                  "content_retention");
    }
    if (read_redacted(service->ctx, settings->redacted_members, &change) != OK ||
        read_gates(service->ctx, settings->gate_agents, &change) != OK ||
        read_cues(service->ctx, settings->extra_cues, &change) != OK ||
        read_retention(service->ctx, settings->content_retention, &change) != OK) {
        return ERR_MEMORY;
    }
    if (annotators_read(service->ctx, "settings.annotator_kinds", settings->annotator_kinds,
                        settings->n_annotator_kinds, &change.annotator_kinds) != OK ||
        UNEXPECTED(!example_grouping_from_wire((int32_t)settings->grouping, &change.grouping)) ||
        UNEXPECTED(!score_stacking_from_wire((int32_t)settings->stacking, &change.stacking)) ||
        UNEXPECTED(
            !topic_change_from_wire((int32_t)settings->topic_change, &change.topic_change)) ||
        UNEXPECTED(!match_mode_from_wire((int32_t)settings->match_mode, &change.match_mode))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (change.has_match_mode && change.match_mode == MATCH_MODE_UNSPECIFIED) {
        fault_add(fault, SLICE("settings.match_mode"),
                  "UNSPECIFIED; expected EXACT, or no value to keep the current match mode");
    }
    if (settings->_grouping_case != 0 && change.grouping == EXAMPLE_GROUPING_UNSPECIFIED) {
        fault_add(
            fault, SLICE("settings.grouping"),
            "UNSPECIFIED; expected EVENT or DOCUMENT, or no grouping to keep the current one");
    }
    if (settings->_stacking_case != 0 && change.stacking == SCORE_STACKING_UNSPECIFIED) {
        fault_add(fault, SLICE("settings.stacking"),
                  "UNSPECIFIED; expected SUM or MAX, or no stacking to keep the current one");
    }
    if (settings->_topic_change_case != 0 && change.topic_change == TOPIC_CHANGE_UNSPECIFIED) {
        fault_add(fault, SLICE("settings.topic_change"),
                  "UNSPECIFIED; expected ACCEPTED or NEUTRAL, or no value to keep the current one");
    }
    *ret_change = change;
    return fault_result(fault);
}

enum err admin_service_update_settings_write(struct admin_service_update_settings_call *call)
{
    struct slice actor = service_actor(call->service);
    struct settings_change change;
    struct org_id org;
    uint64_t seq = 0;
    enum err err = OK;

    if (actor.size == 0) {
        return ERR_MEMORY;
    }
    err = read_change(call->service, call->request->settings, &change);
    if (err != OK) {
        return err;
    }
    err = caller_resolve_org(call->service, call->txn, call->request->org_id, &org);
    if (err == OK) {
        err = settings_update(call->ctx, call->txn, org, actor, &change, &seq);
    }
    if (err == OK) {
        *call->result = (struct work_result){.org = org, .first_seq = seq, .count = 1};
    }
    return err;
}

enum err admin_service_update_settings_answer(struct admin_service_update_settings_call *call)
{
    struct slice settings = {NULL, 0};
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err != OK) {
        return err;
    }
    err = settings_after_event(&event, &settings);
    if (err == OK) {
        wire_put_bytes(call->body, UPDATE_SETTINGS_RESPONSE_SETTINGS_FIELD, settings);
    }
    return err;
}
