/*
 * explain_guidelines.c: guidelines of an agent's prompt: the text of each and the votes for it, the decisions that it was
 * drafted from, and the prompt again. What ended a guideline since is left out.
 */
#include "server/domain/artifacts/life.h"
#include "server/domain/events/retraction.h"
#include "server/domain/learning/explain_internal.h"

#include <errata/v1/decision.views.h>
#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

/* Usual size of the evidence: a vote, a proposal and three decisions, each of two ids and a time. */
#define EVIDENCE_BYTES 800

static void put_decision_event(const struct event *event, const struct decision_view *decision,
                               bool is_retracted, struct buffer *evidence)
{
    const struct evidence_event_view view = {
        .event_id = event->id,
        .seq = event->seq,
        .kind = (enum event_kind)event->kind,
        .actor_user_id = event->actor_user_id,
        .has_actor_user_id = event->actor_user_id.size > 0,
        .annotator_kind = (enum annotator_kind)event->annotator,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .retracted = is_retracted,
        .decision_id = decision->decision_id,
        .has_decision_id = true,
    };

    evidence_event_view_put(&view, EXPLAINED_ARTIFACT_EVIDENCE_FIELD, evidence);
}

/* Adds a decision to the evidence. */
static enum err put_decision(struct explaining *explaining, struct store_txn *txn, struct slice id,
                             struct buffer *evidence)
{
    struct decision_view decision;
    struct event event;
    struct uuid uuid;
    uint64_t retraction_seq = 0;
    uint64_t seq = 0;
    enum err err =
        uuid_parse(id, &uuid) ? log_find(txn, explaining->query->org, uuid, &seq) : ERR_CORRUPT;

    if (err == OK) {
        err = log_read(txn, explaining->query->org, seq, &event);
    }
    if (err == OK) {
        err = event.kind == EVENT_DECISION_RECORDED ? decision_view_read(event.facts, &decision)
                                                    : ERR_CORRUPT;
    }
    if (err == OK) {
        err = retraction_find(txn, explaining->query->org, seq, &retraction_seq);
    }
    if (err == OK) {
        put_decision_event(&event, &decision, retraction_seq != 0, evidence);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Reads the event by which the guideline became a part of such exposures: the vote that completed it, or, in SHADOW, the
 * decision that put it there. */
static enum err read_decision(const struct explaining *explaining, struct store_txn *txn,
                              const struct proposal *proposal, bool is_shadow,
                              struct event *ret_event)
{
    struct org_id org = explaining->query->org;
    struct artifact_life_record life = {.valid_from_seq = proposal->record.activated_seq};
    enum err err = is_shadow ? artifact_life_read_as_of(txn, org, proposal->seq,
                                                        explaining->exposure.as_of_seq, &life)
                             : OK;

    if (err == OK && is_shadow && life.state != ARTIFACT_STATE_SHADOW) {
        err = ERR_CORRUPT;
    }
    return err != OK ? err : log_read(txn, org, life.valid_from_seq, ret_event);
}

/* Lists the event that made it a guideline, or put it in SHADOW, the proposal, and its decisions. */
static enum err put_evidence(struct explaining *explaining, struct store_txn *txn,
                             const struct proposal *proposal, struct explained_artifact_view *view,
                             struct buffer *evidence)
{
    struct slice run = proposal->view.created_from_feedback_ids.run;
    struct slice id = {NULL, 0};
    struct event decision;
    size_t count = 2;
    enum err err = read_decision(explaining, txn, proposal, view->shadow, &decision);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    explain_put_evidence(&decision, NULL, evidence);
    explain_approve(view, &decision);
    explain_put_evidence(&proposal->event, NULL, evidence);
    while (err == OK && view_next(&run, &id) && !view->evidence_incomplete) {
        view->evidence_incomplete = count == EXPLAIN_EVIDENCE_MAX;
        err = view->evidence_incomplete ? OK : put_decision(explaining, txn, id, evidence);
        count++;
    }
    return err;
}

enum err explain_guideline(struct explaining *explaining, struct store_txn *txn,
                           const struct exposed_artifact *artifact)
{
    struct explained_artifact_view view = {
        .version = artifact->version,
        .held_out = explaining->exposure.arm == EXPERIMENT_ARM_CONTROL,
        .shadow = artifact->shadow,
    };
    struct proposal proposal;
    struct buffer evidence;
    enum err err = proposal_read(txn, explaining->query->org, artifact->seq, &proposal);

    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    if (err == OK) {
        err = put_evidence(explaining, txn, &proposal, &view, &evidence);
    }
    if (err == OK && proposal.event.content_removed) {
        view.expired = true;
        view.content_sha256 = slice_of(proposal.event.content_sha256.bytes, SHA256_BYTES);
    } else if (err == OK) {
        view.has_guideline = true;
        err =
            artifact->shadow
                ? guideline_encode_shadow(explaining->ctx->arena, &proposal, &view.guideline)
                : guideline_encode_active(explaining->ctx->arena, txn, &proposal, &view.guideline);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return explain_put_artifact(explaining, &view, &evidence);
}

enum err explain_agent_prompt(struct explaining *explaining, struct store_txn *txn,
                              bool *ret_is_known, uint8_t hash[EXPOSURE_TEXT_HASH_BYTES])
{
    const struct explain_query *query = explaining->query;
    const struct slice nothing = {NULL, 0};
    struct slice text = {NULL, 0};
    enum err err = agent_prompt_build_again(explaining->ctx->arena, txn, query->org,
                                            &explaining->exposure, nothing, &text);

    *ret_is_known = false;
    if (err != OK) {
        return err;
    }
    wire_put_bytes_given(explaining->body, EXPLAIN_EXPOSURE_RESPONSE_RULES_SECTION_FIELD, text);
    if (query->base_prompt == NULL) {
        return OK;
    }
    err = agent_prompt_build_again(explaining->ctx->arena, txn, query->org, &explaining->exposure,
                                   *query->base_prompt, &text);
    if (err != OK) {
        return err;
    }
    wire_put_bytes_given(explaining->body, EXPLAIN_EXPOSURE_RESPONSE_AGENT_PROMPT_FIELD, text);
    agent_prompt_hash(text, hash);
    *ret_is_known = true;
    return OK;
}
