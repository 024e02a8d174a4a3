/*
 * explain_placeholders.c: explains prompts that reviews filled: the wording and the item as of
 * then, the reason for each signal's guidance, and the prompts again, if the caller sent the
 * request.
 */
#include "server/domain/learning/explain_internal.h"
#include "server/domain/reviews/fragment_sets.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/redaction.h"
#include "server/domain/settings/redacted_members.h"
#include "store/base/text.h"

#include <errata/v1/learning_service.fields.h>
#include <errata/v1/learning_service.views.h>
#include <errata/v1/review.views.h>

/* Typical size of an evidence event: two ids, a time and a run. */
#define EVIDENCE_BYTES 160

static bool is_cancelled(const void *user)
{
    (void)user;
    return false;
}

static struct review_window_query query_of(const struct explaining *explaining)
{
    return (struct review_window_query){
        .org = explaining->query->org,
        .subcategory = explaining->exposure.placeholders.subcategory,
        .as_of_seq = explaining->exposure.as_of_seq,
        .is_cancelled = is_cancelled,
    };
}

/* --- artifacts --- */

/* Describes the wording as it was approved, with the events that approved and stored it. `put` is
 * NULL for the wording that ships with the server, which needs no approval. */
static enum err explain_set(struct explaining *explaining, struct store_txn *txn,
                            const struct event *put, struct explained_artifact_view *view,
                            struct buffer *evidence)
{
    struct org_id org = explaining->query->org;
    struct fragment_set_view set;
    struct event approval;
    uint64_t approval_seq = 0;
    enum err err =
        fragment_set_approval_find(txn, org, explaining->exposure.as_of_seq, &approval_seq);

    if (err == OK && approval_seq != 0) {
        err = log_read(txn, org, approval_seq, &approval);
    }
    if (err == OK && approval_seq == 0 && put != NULL) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (approval_seq != 0) {
        explain_approve(view, &approval);
        explain_put_evidence(&approval, NULL, evidence);
    }
    if (put != NULL) {
        explain_put_evidence(put, NULL, evidence);
    }
    view->has_fragment_set = true;
    err = approval_seq != 0 ? fragment_set_of_event(explaining->ctx->arena, txn, &approval, &set)
                            : fragment_set_shipped(explaining->ctx->arena, &set);
    if (err == OK &&
        !view_encode(&fragment_set_view_type, &set, explaining->ctx->arena, &view->fragment_set)) {
        err = ERR_MEMORY;
    }
    return err;
}

/* The event must exist as long as the view. */
static enum err explain_item(struct explaining *explaining, struct store_txn *txn,
                             const struct event *event, struct explained_artifact_view *view,
                             struct buffer *evidence)
{
    struct slice item = {NULL, 0};
    struct slice members = {NULL, 0};
    struct slice redacted = {NULL, 0};
    enum err err = OK;

    explain_put_evidence(event, NULL, evidence);
    if (event->content_removed) {
        view->expired = true;
        view->content_sha256 = slice_of(event->content_sha256.bytes, SHA256_BYTES);
        return OK;
    }
    err = run_item_read(txn, event->org, event->seq, &item);
    if (err == OK) {
        err = redacted_members_read(txn, event->org, explaining->exposure.as_of_seq, &members);
    }
    if (err == OK) {
        err = redact_item(explaining->ctx->arena, members, item, RESOLVE_EXAMPLE_CHARACTERS_MAX,
                          &redacted);
    }
    view->has_example_item_json = true;
    view->example_item_json = text_first_characters(redacted, RESOLVE_EXAMPLE_CHARACTERS_MAX);
    return err;
}

enum err explain_placeholder_artifact(struct explaining *explaining, struct store_txn *txn,
                                      const struct exposed_artifact *artifact)
{
    struct explained_artifact_view view = {
        .version = artifact->version,
        .held_out = explaining->exposure.arm == EXPERIMENT_ARM_CONTROL,
    };
    struct buffer evidence;
    struct event event;
    bool is_shipped = artifact->seq == 0;
    enum err err = is_shipped ? OK : log_read(txn, explaining->query->org, artifact->seq, &event);

    buffer_init(&evidence, explaining->ctx->arena, EVIDENCE_BYTES);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (is_shipped || event.kind == EVENT_FRAGMENT_SET_PUT) {
        err = explain_set(explaining, txn, is_shipped ? NULL : &event, &view, &evidence);
    } else {
        err = explain_item(explaining, txn, &event, &view, &evidence);
    }
    return err != OK ? err : explain_put_artifact(explaining, &view, &evidence);
}

/* --- signals --- */

static bool is_triggered(const struct review_triggers *triggers, enum review_signal signal)
{
    switch (signal) {
    case REVIEW_SIGNAL_INFORMATION_PRESENT_LOW:
        return triggers->states[THRESHOLD_INFORMATION_PRESENT_LOW];
    case REVIEW_SIGNAL_MISSING_SPEC:
        return triggers->states[THRESHOLD_MISSING_SPEC];
    case REVIEW_SIGNAL_BAD_FORMAT:
        return triggers->states[THRESHOLD_BAD_FORMAT];
    case REVIEW_SIGNAL_WRONG_INFORMATION:
        return triggers->states[THRESHOLD_WRONG_INFORMATION];
    case REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS:
        return triggers->states[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS];
    case REVIEW_SIGNAL_INFORMATION_PRESENT:
    case REVIEW_SIGNAL_NOTES:
    case REVIEW_SIGNAL_EXAMPLE_ITEM:
    case REVIEW_SIGNAL_UNSPECIFIED:
        break;
    }
    return false;
}

static enum err put_review(struct explaining *explaining, struct store_txn *txn, uint64_t seq,
                           struct buffer *run)
{
    struct review_view review;
    struct event event;
    enum err err = log_read(txn, explaining->query->org, seq, &event);

    if (err == OK) {
        err = review_view_read(event.facts, &review);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    const struct evidence_event_view view = {
        .event_id = event.id,
        .seq = event.seq,
        .kind = (enum event_kind)event.kind,
        .actor_user_id = event.actor_user_id,
        .has_actor_user_id = event.actor_user_id.size > 0,
        .annotator_kind = (enum annotator_kind)event.annotator,
        .created_at_us = event.created_at_us,
        .has_created_at = true,
        .run_id = review.run_id,
        .has_run_id = true,
    };
    evidence_event_view_put(&view, EXPLAINED_SIGNAL_REVIEWS_FIELD, run);
    return OK;
}

static void put_fragments(const struct fragment_set *set, enum review_signal signal,
                          struct buffer *run)
{
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        const struct prompt_fragment_view view = {
            .signal = signal,
            .placeholder = set->fragments[i].placeholder,
            .text = set->fragments[i].text,
        };

        if (set->fragments[i].signal == signal && view.text.size > 0) {
            prompt_fragment_view_put(&view, EXPLAINED_SIGNAL_FRAGMENTS_FIELD, run);
        }
    }
}

/* The state of the signals at that time. */
struct known {
    struct review_triggers triggers;
    struct review_evidence evidence;
    struct fragment_set set;
};

static enum err put_signal(struct explaining *explaining, struct store_txn *txn,
                           const struct known *known, enum review_signal signal)
{
    const struct review_evidence_list *list = &known->evidence.lists[signal];
    struct explained_signal_view view = {.signal = signal};
    struct buffer fragments;
    struct buffer reviews;
    enum err err = OK;

    buffer_init(&fragments, explaining->ctx->arena, 0);
    buffer_init(&reviews, explaining->ctx->arena, EVIDENCE_BYTES);
    put_fragments(&known->set, signal, &fragments);
    if (is_triggered(&known->triggers, signal)) {
        view.reviews_incomplete = list->is_cut;
        for (uint32_t i = 0; i < list->count && err == OK; i++) {
            err = put_review(explaining, txn, list->seqs[i], &reviews);
        }
    }
    view.fragments.run = buffer_slice(&fragments);
    view.reviews.run = buffer_slice(&reviews);
    explained_signal_view_put(&view, EXPLAIN_EXPOSURE_RESPONSE_SIGNALS_FIELD, explaining->body);
    return err == OK && !(buffer_ok(&fragments) && buffer_ok(&reviews)) ? ERR_MEMORY : err;
}

enum err explain_signals(struct explaining *explaining, struct store_txn *txn)
{
    const struct exposure *exposure = &explaining->exposure;
    struct known *known = arena_calloc(explaining->ctx->arena, 1, sizeof(*known));
    struct review_window_query query = query_of(explaining);
    enum err err = known != NULL ? OK : ERR_MEMORY;

    if (exposure->kind != EXPOSURE_KIND_PLACEHOLDERS || err != OK) {
        return err;
    }
    query.evidence = &known->evidence;
    err = review_triggers_read(explaining->ctx->arena, txn, &query, &known->triggers);
    if (err == OK) {
        err = fragment_set_active(txn, query.org, query.as_of_seq, &known->set);
    }
    for (int32_t i = 1; i < EXPOSURE_SIGNALS_END && err == OK; i++) {
        if ((exposure->placeholders.signals >> i & 1u) != 0) {
            err = put_signal(explaining, txn, known, (enum review_signal)i);
        }
    }
    return err;
}

/* --- prompts --- */

enum err explain_prompts(struct explaining *explaining, struct store_txn *txn, const uint8_t **hash)
{
    struct placeholders_request *request = explaining->query->placeholders;
    struct arena *arena = explaining->ctx->arena;
    struct placeholders *placeholders = arena_calloc(arena, 1, sizeof(*placeholders));
    struct exposure *again = arena_calloc(arena, 1, sizeof(*again));
    enum err err = placeholders != NULL && again != NULL ? OK : ERR_MEMORY;

    if (err != OK || request == NULL) {
        return err;
    }
    request->query = query_of(explaining);
    request->has_arm = true;
    request->arm = explaining->exposure.arm;
    err = placeholders_fill(explaining->ctx, txn, request, placeholders);
    if (err == OK && (placeholders->degraded || placeholders->expired_seq != 0)) {
        return placeholders->degraded ? ERR_CORRUPT : OK;
    }
    if (err == OK) {
        err = placeholders_expose(arena, request, placeholders, again);
    }
    if (err == OK) {
        err =
            placeholders_put_texts(arena, &placeholders->resolved,
                                   EXPLAIN_EXPOSURE_RESPONSE_PLACEHOLDERS_FIELD, explaining->body);
    }
    if (err == OK) {
        err = placeholders_put_prompts(arena, placeholders, EXPLAIN_EXPOSURE_RESPONSE_PROMPTS_FIELD,
                                       explaining->body);
    }
    if (err == OK) {
        *hash = again->text_hash;
    }
    return err;
}
