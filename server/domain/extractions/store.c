/*
 * store.c: decides the events of a request to record an extraction. The whole request is checked before the
 * first event is appended, so that all defects are reported at once and an invalid request stores nothing.
 */
#include "server/domain/experiment/arm.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/exposures/citations.h"
#include "server/domain/extractions/facts.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"
#include "server/domain/mappings/uses.h"

#include <event_apply.h>

#define PATH SLICE("extraction")
/* Start of the time range of an extraction whose serving time is unknown. */
#define SERVED_WITHIN_US INT64_C(86400000000)

/* The extraction that a request replaces; `seq` 0: none. */
struct replaced {
    uint64_t seq;
    struct extraction_entry entry;
    struct extraction_facts facts;
};

/* The source of the layout if the caller did not give one. */
static enum err fill_in_layout(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               struct extraction_decided *decided)
{
    struct document_known known;
    enum err err = ERR_NOT_FOUND;

    if (decided->layout_fingerprint.size > 0) {
        return OK;
    }
    if (decided->document_id.size > 0) {
        err = document_find(txn, org, decided->document_id, &known);
    }
    if (err == OK &&
        !arena_copy(ctx->arena, known.layout_fingerprint, &decided->layout_fingerprint)) {
        return ERR_MEMORY;
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (decided->layout_fingerprint.size == 0) {
        fault_add(
            ctx->fault, SLICE("extraction.layout_fingerprint"),
            "missing; expected a layout, or the document_id of an ingested document that has one");
    }
    return OK;
}

/* Finds the document and layout of the extraction. A draft order that an earlier extraction linked to a
 * document has that document. */
static enum err fill_in(struct ctx *ctx, struct store_txn *txn,
                        const struct extraction_request *request,
                        struct extraction_decided *decided)
{
    enum err err = OK;

    if (decided->document_id.size == 0) {
        err = extraction_rows_document_of_draft(ctx->arena, txn, request->org,
                                                decided->draft_order_id, &decided->document_id);
    }
    return err != OK ? err : fill_in_layout(ctx, txn, request->org, decided);
}

static void check_values(struct ctx *ctx, const struct extraction_input *input)
{
    if (!input->has_confidence) {
        fault_add(ctx->fault, SLICE("extraction.confidence"), "missing; expected 0 to 1");
    } else if (!(input->confidence >= 0 && input->confidence <= 1)) {
        fault_add(ctx->fault, SLICE("extraction.confidence"), "out of range; expected 0 to 1");
    }
}

/* Returns the id under which the request is recorded. Only ids in the request count, not a derived one. */
static struct slice choose_key(const struct extraction_input *input,
                               struct extraction_decided *decided)
{
    if (input->extraction_id.size > 0) {
        decided->key_kind = EXTRACTION_KEY_ID;
        return input->extraction_id;
    }
    if (input->document_id.size > 0) {
        decided->key_kind = EXTRACTION_KEY_DOCUMENT;
        return input->document_id;
    }
    decided->key_kind =
        input->draft_order_id.size > 0 ? EXTRACTION_KEY_DRAFT_ORDER : EXTRACTION_KEY_NONE;
    return input->draft_order_id;
}

/* Finds the extraction with the same key. */
static enum err find_replaced(struct ctx *ctx, struct store_txn *txn,
                              const struct extraction_request *request,
                              struct extraction_decided *decided, struct replaced *replaced)
{
    struct slice id = choose_key(request->input, decided);
    struct slice bytes = {NULL, 0};
    struct event event;
    enum err err =
        extraction_rows_find_key(txn, request->org, decided->key_kind, id, &replaced->seq);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    decided->replaced_seq = replaced->seq;
    err = extraction_entry_read(ctx->arena, txn, request->org, replaced->seq, &replaced->entry);
    if (err == OK) {
        err = log_read(txn, request->org, replaced->seq, &event);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return arena_copy(ctx->arena, event.facts, &bytes)
               ? extraction_facts_read(ctx->arena, bytes, &replaced->facts)
               : ERR_MEMORY;
}

/* Returns the arm of the experiment: that of the references, else the document's. */
static enum err find_arm(struct store_txn *txn, struct org_id org,
                         const struct citations_served *served, struct extraction_decided *decided)
{
    decided->arm = EXPERIMENT_ARM_NONE;
    if (decided->document_id.size == 0) {
        return OK;
    }
    if (served->is_known) {
        decided->arm = served->arm;
        return OK;
    }
    return arm_of_document(txn, org, decided->document_id, UINT64_MAX, &decided->arm);
}

/* Returns whether the layout had enough examples when they were served or, without a reference, when the key
 * was first recorded. */
static enum err find_readiness(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               const struct citations_served *served,
                               const struct replaced *replaced, struct extraction_decided *decided)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(decided->layout_fingerprint);
    struct key key = key_layout_head(org, &fingerprint);
    struct layout_head_record head;
    enum err err = OK;

    if (served->is_known) {
        decided->layout_ready = served->layout_ready;
        return OK;
    }
    if (replaced->seq != 0 &&
        slice_equal(replaced->entry.record.layout_fingerprint, decided->layout_fingerprint)) {
        decided->layout_ready = replaced->facts.internal.layout_ready;
        return OK;
    }
    err = layout_head_read(ctx->arena, txn, &key, &head);
    decided->layout_ready = err == OK && head.example_count >= SUMS_EXAMPLES_READY;
    return err;
}

/* Returns whether another extraction of the document counts in the experiment. A replacement counts if the
 * replaced one did. */
static enum err is_further(struct store_txn *txn, struct org_id org,
                           const struct replaced *replaced,
                           const struct extraction_decided *decided, bool *ret_further)
{
    uint64_t newest_seq = 0;
    enum err err = OK;

    if (replaced->seq != 0 && slice_equal(replaced->entry.document_id, decided->document_id)) {
        *ret_further = replaced->entry.record.exclusion == EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION;
        return OK;
    }
    err =
        extraction_rows_find_newest(txn, org, SUBJECT_DOCUMENT, decided->document_id, &newest_seq);
    *ret_further = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err find_exclusion(struct store_txn *txn, struct org_id org,
                               const struct citations_served *served,
                               const struct replaced *replaced, struct extraction_decided *decided)
{
    bool further = false;
    enum err err = OK;

    if (decided->document_id.size == 0) {
        decided->exclusion = EXPERIMENT_EXCLUSION_NO_DOCUMENT;
        return OK;
    }
    err = is_further(txn, org, replaced, decided, &further);
    if (further) {
        decided->exclusion = EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION;
    } else if (served->arms_differ) {
        decided->exclusion = EXPERIMENT_EXCLUSION_MIXED_ARMS;
    } else if (decided->arm == EXPERIMENT_ARM_NONE) {
        decided->exclusion = EXPERIMENT_EXCLUSION_NO_HOLDOUT;
    } else if (!decided->layout_ready) {
        decided->exclusion = EXPERIMENT_EXCLUSION_LAYOUT_NOT_READY;
    }
    return err;
}

/* Finds when the examples were served, and the start of the time range whose corrections belong to the
 * extraction. `created_at` is known. */
static enum err find_times(struct store_txn *txn, struct org_id org,
                           const struct citations_served *served, const struct replaced *replaced,
                           struct extraction_decided *decided)
{
    struct document_known known;
    enum err err = ERR_NOT_FOUND;

    if (served->is_known) {
        decided->served_at_us = served->served_at_us;
        decided->corrected_from_us = served->served_at_us;
        return OK;
    }
    if (replaced->seq != 0) {
        decided->served_at_us = replaced->entry.served_at_us;
        decided->corrected_from_us = replaced->entry.corrected_from_us;
        return OK;
    }
    decided->served_at_us = decided->created_at_us;
    decided->corrected_from_us = decided->created_at_us - SERVED_WITHIN_US;
    if (decided->document_id.size > 0) {
        err = document_find(txn, org, decided->document_id, &known);
    }
    if (err == OK && known.created_at_us <= decided->created_at_us) {
        decided->corrected_from_us = known.created_at_us;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads and checks the whole request. Returns OK with a fault if the request is invalid. */
static enum err decide(struct ctx *ctx, struct store_txn *txn,
                       const struct extraction_request *request, struct replaced *replaced,
                       struct extraction_decided *decided)
{
    struct citations *citations = decided->citations;
    struct citations_served served = {.is_known = false};
    enum err err = fill_in(ctx, txn, request, decided);

    check_values(ctx, request->input);
    if (err == OK) {
        err = event_time_check_now(ctx, txn, request->org, &request->input->time, PATH);
    }
    if (err == OK) {
        err = citations_read(ctx, txn, request, citations);
    }
    if (err == OK) {
        const struct citations_layout layout = {decided->layout_fingerprint, decided->document_id};

        err = citations_credit(ctx, txn, request, &layout, citations);
    }
    if (err == OK) {
        err = find_replaced(ctx, txn, request, decided, replaced);
    }
    served = citations_find_served(citations);
    if (err == OK) {
        err = find_arm(txn, request->org, &served, decided);
    }
    if (err == OK) {
        err = find_readiness(ctx, txn, request->org, &served, replaced, decided);
    }
    return err != OK ? err : find_exclusion(txn, request->org, &served, replaced, decided);
}

static enum err append_extraction(struct ctx *ctx, struct store_txn *txn,
                                  const struct extraction_request *request,
                                  const struct replaced *replaced,
                                  struct extraction_decided *decided)
{
    struct event_draft draft = {
        .org = request->org,
        .kind = EVENT_EXTRACTION_RECORDED,
        .annotator = ANNOTATOR_LLM,
        .actor_user_id = decided->actor_user_id,
    };
    const struct citations_served served = citations_find_served(decided->citations);
    uint64_t seq = 0;
    enum err err = event_draft_stamp(ctx, txn, &request->input->time, &draft);

    if (err == OK) {
        decided->created_at_us = draft.created_at_us;
        err = find_times(txn, request->org, &served, replaced, decided);
    }
    if (err != OK) {
        return err;
    }
    event_draft_add_subject(&draft, SUBJECT_LAYOUT, decided->layout_fingerprint);
    event_draft_add_subject(&draft, SUBJECT_DOCUMENT, decided->document_id);
    event_draft_add_subject(&draft, SUBJECT_DRAFT_ORDER, decided->draft_order_id);
    err = extraction_facts_write(ctx->arena, request->org, &draft.stamp, decided, &draft.facts);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, extractions_apply, &seq);
}

static bool was_applied(const struct replaced *replaced, uint64_t seq)
{
    for (size_t i = 0; i < replaced->facts.applied_count; i++) {
        if (replaced->facts.applied_seqs[i] == seq) {
            return true;
        }
    }
    return false;
}

/* Counts the uses of mappings that a reference names. Uses that were counted before belong to this extraction
 * only if they belong to the one that it replaces. */
static enum err append_uses(struct ctx *ctx, struct store_txn *txn,
                            const struct mapping_citation *citation,
                            const struct replaced *replaced, struct extraction_decided *decided)
{
    struct log_head before;
    uint64_t seq = 0;
    enum err err = log_read_head(txn, citation->org, &before);

    if (err == OK) {
        err = mapping_uses_store(ctx, txn, citation, &seq);
    }
    if (err == OK && (seq > before.last_seq || was_applied(replaced, seq))) {
        decided->applied_seqs[decided->applied_count] = seq;
        decided->applied_count++;
    }
    return err;
}

/* Appends the exposures first, since the other events refer to them; then the uses of mappings, since the
 * extraction refers to them. */
static enum err append_all(struct ctx *ctx, struct store_txn *txn,
                           const struct extraction_request *request,
                           const struct replaced *replaced, struct extraction_decided *decided)
{
    struct citations *citations = decided->citations;
    const struct exposure_citer citer = {
        .actor_user_id = decided->actor_user_id,
        .time = request->input->time,
    };
    enum err err =
        exposures_record(ctx, txn, request->org, &citer, citations->items, citations->count);

    for (size_t i = 0; i < citations->count && err == OK; i++) {
        const struct mapping_citation citation = {
            .org = request->org,
            .citer = &citer,
            .cited = &citations->items[i],
            .draft_order_id = decided->draft_order_id,
            .document_id = decided->document_id,
        };

        if (citations->items[i].exposure.kind == EXPOSURE_KIND_MATCHES) {
            err = append_uses(ctx, txn, &citation, replaced, decided);
        }
    }
    return err != OK ? err : append_extraction(ctx, txn, request, replaced, decided);
}

/* Appends the events; counts them by the log's sequence numbers. */
static enum err store_new(struct ctx *ctx, struct store_txn *txn,
                          const struct extraction_request *request, const struct replaced *replaced,
                          struct extraction_decided *decided, struct extraction_stored *ret_stored)
{
    struct log_head before;
    struct log_head after;
    enum err err = log_read_head(txn, request->org, &before);

    if (err == OK) {
        err = append_all(ctx, txn, request, replaced, decided);
    }
    if (err == OK) {
        err = log_read_head(txn, request->org, &after);
    }
    if (err == OK) {
        ret_stored->first_seq = before.last_seq + 1;
        ret_stored->count = (uint32_t)(after.last_seq - before.last_seq);
    }
    return err;
}

enum err extraction_store(struct ctx *ctx, struct store_txn *txn,
                          const struct extraction_request *request,
                          struct extraction_stored *ret_stored)
{
    const struct extraction_input *input = request->input;
    struct citations *citations = arena_calloc(ctx->arena, 1, sizeof(*citations));
    struct replaced *replaced = arena_calloc(ctx->arena, 1, sizeof(*replaced));
    struct extraction_decided decided = {
        .extraction_id = input->extraction_id,
        .document_id = input->document_id,
        .draft_order_id = input->draft_order_id,
        .layout_fingerprint = input->layout_fingerprint,
        .confidence = input->confidence,
        .model = input->model,
        .field_count = input->field_count,
        .citations = citations,
    };
    enum err err = citations != NULL && replaced != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = actor_resolve(ctx, &request->caller, PATH, input->actor_user_id, input->time.is_given,
                            &decided.actor_user_id);
    }
    if (err == OK) {
        err = decide(ctx, txn, request, replaced, &decided);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    return err != OK ? err : store_new(ctx, txn, request, replaced, &decided, ret_stored);
}

enum err extraction_find_stored(struct store_txn *txn, struct org_id org,
                                const struct extraction_stored *stored,
                                struct slice *ret_extraction)
{
    for (uint32_t i = 0; i < stored->count; i++) {
        struct event event;
        enum err err = log_read(txn, org, stored->first_seq + i, &event);

        if (err == OK && event.kind == EVENT_EXTRACTION_RECORDED) {
            return extraction_facts_extraction(event.facts, ret_extraction);
        }
        if (err != OK) {
            return err;
        }
    }
    return ERR_CORRUPT;
}
