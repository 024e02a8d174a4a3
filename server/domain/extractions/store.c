/*
 * store.c: decides what a request to record an extraction becomes. Everything is checked before the
 * first event is appended, so that all problems are reported at once and nothing is stored of it.
 */
#include "server/domain/experiment/arm.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/facts.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"
#include "server/domain/mappings/uses.h"

#include <event_apply.h>

#define PATH SLICE("extraction")

/* From where the layout is known, where the caller did not say. */
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

/* The document and layout that the extraction is of. A draft order that an earlier extraction tied to a
 * document is of that document. */
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

/* The side of the experiment: what the references name, else the document's. */
static enum err find_arm(struct store_txn *txn, struct org_id org,
                         const struct citations *citations, struct extraction_decided *decided)
{
    decided->arm = EXPERIMENT_ARM_NONE;
    if (decided->document_id.size == 0) {
        return OK;
    }
    if (citations_find_arm(citations, &decided->arm)) {
        return OK;
    }
    return arm_of_document(txn, org, decided->document_id, UINT64_MAX, &decided->arm);
}

static enum err find_readiness(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                               struct extraction_decided *decided)
{
    struct key_fingerprint fingerprint = key_fingerprint_of(decided->layout_fingerprint);
    struct key key = key_layout_head(org, &fingerprint);
    struct layout_head_record head;
    enum err err = layout_head_read(ctx->arena, txn, &key, &head);

    decided->layout_ready = head.example_count >= SUMS_EXAMPLES_READY;
    return err;
}

/* Reads and checks all that the request says. OK with a fault where something is wrong. */
static enum err decide(struct ctx *ctx, struct store_txn *txn,
                       const struct extraction_request *request, struct citations *citations,
                       struct extraction_decided *decided)
{
    enum err err = fill_in(ctx, txn, request, decided);

    check_values(ctx, request->input);
    if (err == OK) {
        err = event_time_check_now(ctx, txn, request->org, &request->input->time, PATH);
    }
    if (err == OK) {
        err = citations_read(ctx, txn, request, decided->document_id, citations);
    }
    if (err == OK) {
        err = citations_credit(ctx, txn, request, decided->layout_fingerprint, citations);
    }
    if (err == OK) {
        err = find_arm(txn, request->org, citations, decided);
    }
    return err != OK ? err : find_readiness(ctx, txn, request->org, decided);
}

static enum err append_extraction(struct ctx *ctx, struct store_txn *txn,
                                  const struct extraction_request *request,
                                  struct extraction_decided *decided)
{
    struct event_draft draft = {
        .org = request->org,
        .kind = EVENT_EXTRACTION_RECORDED,
        .annotator = ANNOTATOR_LLM,
        .actor_user_id = decided->actor_user_id,
    };
    uint64_t seq = 0;
    enum err err = event_draft_stamp(ctx, txn, &request->input->time, &draft);

    if (err != OK) {
        return err;
    }
    decided->created_at_us = draft.created_at_us;
    event_draft_add_subject(&draft, SUBJECT_LAYOUT, decided->layout_fingerprint);
    event_draft_add_subject(&draft, SUBJECT_DOCUMENT, decided->document_id);
    event_draft_add_subject(&draft, SUBJECT_DRAFT_ORDER, decided->draft_order_id);
    err = extraction_facts_write(ctx->arena, request->org, &draft.stamp, decided, &draft.facts);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, extractions_apply, &seq);
}

/* The exposures first, so that the extraction can point to them; then its effect on mappings. */
static enum err append_all(struct ctx *ctx, struct store_txn *txn,
                           const struct extraction_request *request, struct citations *citations,
                           struct extraction_decided *decided)
{
    const struct exposure_citer citer = {
        .actor_user_id = decided->actor_user_id,
        .time = request->input->time,
    };
    enum err err = OK;

    for (size_t i = 0; i < citations->count && err == OK; i++) {
        err = exposure_record(ctx, txn, request->org, &citer, &citations->items[i].cited);
    }
    if (err == OK) {
        err = append_extraction(ctx, txn, request, decided);
    }
    for (size_t i = 0; i < citations->count && err == OK; i++) {
        const struct cited_exposure *cited = &citations->items[i].cited;
        const struct mapping_citation citation = {
            .org = request->org,
            .citer = &citer,
            .cited = cited,
            .draft_order_id = decided->draft_order_id,
            .document_id = decided->document_id,
        };
        uint64_t seq = 0;

        if (cited->exposure.kind == EXPOSURE_KIND_MATCHES) {
            err = mapping_uses_store(ctx, txn, &citation, &seq);
        }
    }
    return err;
}

/* Appends, and counts what was appended by the log's own numbers. */
static enum err store_new(struct ctx *ctx, struct store_txn *txn,
                          const struct extraction_request *request, struct citations *citations,
                          struct extraction_decided *decided, struct extraction_stored *ret_stored)
{
    struct log_head before;
    struct log_head after;
    enum err err = log_read_head(txn, request->org, &before);

    if (err == OK) {
        err = append_all(ctx, txn, request, citations, decided);
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
    struct extraction_decided decided = {
        .document_id = input->document_id,
        .draft_order_id = input->draft_order_id,
        .layout_fingerprint = input->layout_fingerprint,
        .confidence = input->confidence,
        .model = input->model,
        .field_count = input->field_count,
        .citations = citations,
    };
    enum err err = citations != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = actor_resolve(ctx, &request->caller, PATH, input->actor_user_id, input->time.is_given,
                            &decided.actor_user_id);
    }
    if (err == OK) {
        err = decide(ctx, txn, request, citations, &decided);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err != OK) {
        return err;
    }
    if (citations_are_old(citations)) {
        *ret_stored = (struct extraction_stored){citations_first_outcome(citations), 1};
        return OK;
    }
    return store_new(ctx, txn, request, citations, &decided, ret_stored);
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
