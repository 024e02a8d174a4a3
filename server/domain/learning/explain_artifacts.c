/*
 * explain_artifacts.c: the artifacts of an exposure, each as it was then. If a number in a
 * reference that this server signed names no artifact, the store is corrupt.
 */
#include "server/domain/corrections/example_served.h"
#include "server/domain/learning/explain_internal.h"
#include "server/domain/mappings/change.h"

#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>

/* Typical size of an evidence event: two ids, a time and a document. */
#define EVIDENCE_BYTES 160

void explain_put_evidence(const struct event *event, const struct feedback_event_view *feedback,
                          struct buffer *run)
{
    const struct evidence_event_view view = {
        .event_id = event->id,
        .seq = event->seq,
        .kind = (enum event_kind)event->kind,
        .event_type = feedback != NULL ? feedback->event_type : FEEDBACK_EVENT_TYPE_UNSPECIFIED,
        .actor_user_id = event->actor_user_id,
        .has_actor_user_id = event->actor_user_id.size > 0,
        .annotator_kind = (enum annotator_kind)event->annotator,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .document_id = feedback != NULL ? feedback->document_id : slice_of(NULL, 0),
        .has_document_id = feedback != NULL && feedback->document_id.size > 0,
    };

    evidence_event_view_put(&view, EXPLAINED_ARTIFACT_EVIDENCE_FIELD, run);
}

void explain_approve(struct explained_artifact_view *view, const struct event *event)
{
    view->approved_by = event->actor_user_id;
    view->has_approved_by = event->actor_user_id.size > 0;
}

enum err explain_put_artifact(struct explaining *explaining, struct explained_artifact_view *view,
                              const struct buffer *evidence)
{
    view->evidence.run = buffer_slice(evidence);
    explaining->is_expired = explaining->is_expired || (view->expired && !view->held_out);
    explained_artifact_view_put(view, EXPLAIN_EXPOSURE_RESPONSE_ARTIFACTS_FIELD, explaining->body);
    return buffer_ok(evidence) ? OK : ERR_MEMORY;
}

/* --- examples --- */

static enum err note_superseding(struct explaining *explaining, struct store_txn *txn,
                                 const struct example_served *example,
                                 struct explained_artifact_view *view)
{
    struct event event;
    enum err err = OK;

    if (example->superseded_by_seq == 0) {
        return OK;
    }
    err = log_read(txn, explaining->query->org, example->superseded_by_seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view->superseded_by_event_id = event.id;
    view->has_superseded_by_event_id = true;
    return OK;
}

static void take_hint(struct explaining *explaining, const struct example_record *record)
{
    size_t place = explaining->hint_count;

    explaining->hints[place] = (struct example_hint){record->example, record->hint};
    memcpy(explaining->hint_hashes[place], record->hint_hash, KEY_HASH_BYTES);
    explaining->hint_count++;
}

static enum err explain_example(struct explaining *explaining, struct store_txn *txn,
                                const struct exposed_artifact *artifact)
{
    struct example_served example;
    struct explained_artifact_view view = {.version = artifact->version};
    struct buffer evidence;
    enum err err = example_served_find(txn, explaining->query->org, artifact->seq, &example);

    if (err != OK || explaining->hint_count == EXAMPLES_LIMIT_MAX) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view.expired = example.is_expired;
    view.held_out = explaining->exposure.arm == EXPERIMENT_ARM_CONTROL;
    if (example.is_expired) {
        view.content_sha256 = slice_of(example.event.content_sha256.bytes, SHA256_BYTES);
    } else {
        if (!view.held_out) {
            take_hint(explaining, &example.record);
        }
        view.has_example = true;
        err = example_served_encode(explaining->ctx->arena, txn, &example,
                                    explaining->exposure.as_of_seq, &view.example);
    }
    if (err == OK) {
        err = note_superseding(explaining, txn, &example, &view);
    }
    if (err != OK) {
        return err;
    }
    explain_approve(&view, &example.event);
    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    explain_put_evidence(&example.event, &example.view, &evidence);
    return explain_put_artifact(explaining, &view, &evidence);
}

/* --- examples of documents --- */

/* Lists the events that the example shows, newest first. */
static enum err put_document_evidence(struct explaining *explaining, struct store_txn *txn,
                                      const struct document_example *example,
                                      struct explained_artifact_view *view, struct buffer *evidence)
{
    uint32_t count = example->shown_count;

    view->evidence_incomplete = count > EXPLAIN_EVIDENCE_MAX;
    if (view->evidence_incomplete) {
        count = EXPLAIN_EVIDENCE_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct feedback_event_view feedback;
        struct event event;
        enum err err = log_read(txn, explaining->query->org, example->shown[i].seq, &event);

        if (err == OK) {
            err = feedback_view_read(&event, &feedback);
        }
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        explain_put_evidence(&event, &feedback, evidence);
    }
    return OK;
}

/* Explains an example as it was served; it is expired if the content of one of its events was
 * removed since. */
static enum err explain_document(struct explaining *explaining, struct store_txn *txn,
                                 const struct exposed_artifact *artifact)
{
    const struct exposure *exposure = &explaining->exposure;
    const struct exposed_document shown = {
        .seq = artifact->seq,
        .as_of_seq = exposure->as_of_seq,
        .annotator_kinds = exposure->documents.annotator_kinds,
        .include_superseded = exposure->documents.include_superseded,
    };
    struct explained_artifact_view view = {.version = artifact->version};
    struct document_served *served = arena_calloc(explaining->ctx->arena, 1, sizeof(*served));
    struct buffer evidence;
    enum err err = served == NULL
                       ? ERR_MEMORY
                       : document_example_find_served(explaining->ctx->arena, txn,
                                                      explaining->query->org, &shown, served);

    if (err != OK || explaining->hint_count == EXAMPLES_LIMIT_MAX) {
        return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    view.expired = served->example.shown_count != artifact->version;
    view.held_out = exposure->arm == EXPERIMENT_ARM_CONTROL;
    explain_approve(&view, &served->event);
    if (view.expired) {
        view.content_sha256 = slice_of(served->event.content_sha256.bytes, SHA256_BYTES);
        explain_put_evidence(&served->event, &served->view, &evidence);
        return explain_put_artifact(explaining, &view, &evidence);
    }
    if (!view.held_out) {
        take_hint(explaining, &served->example.record);
    }
    view.has_example = true;
    err = document_served_encode(explaining->ctx->arena, served, &view.example);
    if (err == OK) {
        err = put_document_evidence(explaining, txn, &served->example, &view, &evidence);
    }
    return err != OK ? err : explain_put_artifact(explaining, &view, &evidence);
}

/* --- templates --- */

static enum err explain_template(struct explaining *explaining,
                                 const struct exposed_artifact *artifact, const struct event *event)
{
    struct explained_artifact_view view = {
        .version = artifact->version,
        .expired = event->content_removed,
        .content_sha256 = event->content_removed
                              ? slice_of(event->content_sha256.bytes, SHA256_BYTES)
                              : slice_of(NULL, 0),
    };
    struct buffer evidence;
    enum err err = OK;

    if (!event->content_removed) {
        err = prompt_template_of_event(event, &explaining->template);
    }
    if (err == OK && !event->content_removed) {
        view.has_prompt_template = true;
        err = view_encode(&prompt_template_view_type, &explaining->template.view,
                          explaining->ctx->arena, &view.prompt_template)
                  ? OK
                  : ERR_MEMORY;
    }
    if (err != OK) {
        return err;
    }
    explain_approve(&view, event);
    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    explain_put_evidence(event, NULL, &evidence);
    return explain_put_artifact(explaining, &view, &evidence);
}

/* --- mappings --- */

/* Lists the events that changed a mapping up to that time, newest first, and finds who confirmed it
 * last. */
static enum err follow_mapping(struct explaining *explaining, struct store_txn *txn,
                               const struct mapping_row *then, struct explained_artifact_view *view,
                               struct buffer *evidence)
{
    uint64_t seq = then->record.last_seq;
    bool is_approved = false;
    size_t count = 0;

    for (size_t steps = 0; steps < MAPPING_HISTORY_MAX && seq != 0; steps++) {
        struct feedback_event_view feedback;
        struct mapping_change change;
        struct event event;
        bool is_feedback = false;
        enum err err =
            mapping_change_read_at(txn, explaining->query->org, seq, then->seq, &change, &event);

        is_feedback = err == OK && event.kind == EVENT_FEEDBACK;
        if (is_feedback) {
            err = feedback_view_read(&event, &feedback);
        }
        if (err == OK && !is_approved) {
            err = mapping_is_confirmation(&event, then, &is_approved);
        }
        if (err != OK) {
            return err;
        }
        if (is_approved && !view->has_approved_by) {
            explain_approve(view, &event);
        }
        if (count < EXPLAIN_EVIDENCE_MAX) {
            explain_put_evidence(&event, is_feedback ? &feedback : NULL, evidence);
            count++;
        } else if (is_approved) {
            break;
        }
        seq = change.previous_seq;
    }
    view->evidence_incomplete = seq != 0;
    return OK;
}

static enum err explain_mapping(struct explaining *explaining, struct store_txn *txn,
                                const struct exposed_artifact *artifact)
{
    struct org_id org = explaining->query->org;
    struct explained_artifact_view view = {.version = artifact->version,
                                           .line_count = artifact->line_count};
    struct sku_mapping_view mapping;
    struct mapping_row now;
    struct mapping_row then;
    struct buffer evidence;
    bool is_cut = false;
    enum err err = mapping_row_read(txn, org, artifact->seq, &now);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    view.current_status = (enum mapping_status)now.record.status;
    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    err = mapping_read_past(txn, org, &now, explaining->exposure.as_of_seq, &then, &is_cut);
    if (err == ERR_NOT_FOUND) { /* changed too often since */
        explaining->is_incomplete = true;
        return explain_put_artifact(explaining, &view, &evidence);
    }
    if (err == OK) {
        mapping = mapping_view_of(org, &then.record);
        view.has_mapping = true;
        err = view_encode(&sku_mapping_view_type, &mapping, explaining->ctx->arena, &view.mapping)
                  ? OK
                  : ERR_MEMORY;
    }
    if (err == OK) {
        err = follow_mapping(explaining, txn, &then, &view, &evidence);
    }
    return err != OK ? err : explain_put_artifact(explaining, &view, &evidence);
}

/* --- all --- */

static enum err explain_artifact(struct explaining *explaining, struct store_txn *txn,
                                 const struct exposed_artifact *artifact)
{
    struct event event;
    enum err err = OK;

    if (explaining->exposure.kind == EXPOSURE_KIND_MATCHES) {
        return explain_mapping(explaining, txn, artifact);
    }
    if (explaining->exposure.kind == EXPOSURE_KIND_SCORE) {
        return explain_rule(explaining, txn, artifact);
    }
    if (explaining->exposure.kind == EXPOSURE_KIND_PLACEHOLDERS) {
        return explain_placeholder_artifact(explaining, txn, artifact);
    }
    if (explaining->exposure.kind == EXPOSURE_KIND_STRATEGIES) {
        return explain_strategy(explaining, txn, artifact);
    }
    if (explaining->exposure.kind == EXPOSURE_KIND_AGENT_PROMPT) {
        return explain_guideline(explaining, txn, artifact);
    }
    err = log_read(txn, explaining->query->org, artifact->seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (event.kind == EVENT_PROMPT_TEMPLATE_PUT) {
        return explain_template(explaining, artifact, &event);
    }
    return explaining->exposure.documents.is_used ? explain_document(explaining, txn, artifact)
                                                  : explain_example(explaining, txn, artifact);
}

enum err explain_artifacts(struct explaining *explaining, struct store_txn *txn)
{
    const struct exposure *exposure = &explaining->exposure;
    enum err err = OK;

    for (size_t i = 0; exposure->is_listed && i < exposure->artifact_count && err == OK; i++) {
        err = explain_artifact(explaining, txn, &exposure->artifacts[i]);
    }
    return err;
}
