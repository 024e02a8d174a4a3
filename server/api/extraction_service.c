/*
 * extraction_service.c: ExtractionService/RecordExtraction. Converts the request to values for the
 * domain, and the stored extraction to the response; the rules are in the domain.
 */
#include "server/domain/extractions/extractions.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"
#include "store/base/wire.h"

#include <errata/v1/extraction.views.h>
#include <errata/v1/extraction_service.fields.h>
#include <errata/v1/extraction_service.handlers.h>
#include <errata/v1/warning.views.h>

/* Reads at most as many texts as fit; the limits of the contract were checked before. */
static size_t read_texts(char *const *texts, size_t count, struct slice *slices, size_t max)
{
    size_t taken = count < max ? count : max;

    for (size_t i = 0; i < taken; i++) {
        slices[i] = slice_text(texts[i]);
    }
    return taken;
}

static void read_extraction(const Errata__V1__Extraction *extraction,
                            struct extraction_input *input)
{
    *input = (struct extraction_input){
        .actor_user_id = slice_text(extraction->actor_user_id),
        .extraction_id = slice_text(extraction->extraction_id),
        .document_id = slice_text(extraction->document_id),
        .draft_order_id = slice_text(extraction->draft_order_id),
        .layout_fingerprint = slice_text(extraction->layout_fingerprint),
        .has_confidence = extraction->_confidence_case != 0,
        .confidence = extraction->confidence,
        .model = slice_text(extraction->model),
        .field_count = extraction->_field_count_case != 0 ? extraction->field_count : 0,
        .time = time_given(extraction->created_at),
    };
    input->exposure_ref_count = read_texts(extraction->exposure_refs, extraction->n_exposure_refs,
                                           input->exposure_refs, EXTRACTION_REFERENCES_MAX);
    input->example_id_count = read_texts(extraction->example_ids, extraction->n_example_ids,
                                         input->example_ids, EXTRACTION_EXAMPLE_IDS_MAX);
}

enum err
extraction_service_record_extraction_write(struct extraction_service_record_extraction_call *call)
{
    struct extraction_input input;
    struct extraction_stored stored = {.first_seq = 0};
    const struct extraction_request extraction = {
        .org = call->org,
        .caller = caller_of(call->service),
        .key = &call->service->env->exposure_key,
        .input = &input,
    };
    enum err err = OK;

    read_extraction(call->request->extraction, &input);
    err = extraction_store(call->ctx, call->txn, &extraction, &stored);
    if (err == OK) {
        call->result->first_seq = stored.first_seq;
        call->result->count = stored.count;
    }
    return err;
}

static bool is_counted(struct slice example_ids, struct slice id)
{
    struct slice counted = {NULL, 0};

    while (view_next(&example_ids, &counted)) {
        if (slice_equal(counted, id)) {
            return true;
        }
    }
    return false;
}

/* Warns of each example of the request that was not counted: ids of other events were refused, so
 * the remaining ones belong to layouts outside the family. */
static enum err warn_of_examples(const struct extraction_service_record_extraction_call *call,
                                 struct slice extraction)
{
    const Errata__V1__Extraction *given = call->request->extraction;
    struct extraction_view stored;
    enum err err = extraction_view_read(extraction, &stored);

    for (size_t i = 0; err == OK && i < given->n_example_ids; i++) {
        struct slice id = slice_text(given->example_ids[i]);
        const struct warning_view warning = {
            .code = WARNING_CODE_FOREIGN_LAYOUT,
            .message = arena_printf(call->ctx->arena,
                                    "example_ids[%zu]: example of another layout, not counted; "
                                    "expected an example that was served for this layout",
                                    i)};

        if (!is_counted(stored.example_ids.run, id)) {
            warning_view_put(&warning, RECORD_EXTRACTION_RESPONSE_WARNINGS_FIELD, call->body);
        }
    }
    return err;
}

enum err
extraction_service_record_extraction_answer(struct extraction_service_record_extraction_call *call)
{
    const struct extraction_stored stored = {call->result->first_seq, call->result->count};
    struct slice extraction = {NULL, 0};
    enum err err = extraction_find_stored(call->txn, call->result->org, &stored, &extraction);

    if (err == OK) {
        wire_put_bytes(call->body, RECORD_EXTRACTION_RESPONSE_EXTRACTION_FIELD, extraction);
        err = warn_of_examples(call, extraction);
    }
    return err;
}
