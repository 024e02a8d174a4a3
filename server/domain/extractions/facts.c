/*
 * facts.c: see facts.h.
 */
#include "server/domain/extractions/facts.h"

#include "store/base/assert.h"

#define CONFIDENCE_UNIT 1000000

/* Rounds to the nearest millionth; a confidence is between 0 and 1. */
static uint32_t millionths_of(double confidence)
{
    return (uint32_t)(confidence * CONFIDENCE_UNIT + 0.5);
}

static void put_example_ids(struct buffer *run, const struct citations *citations)
{
    char id[UUID_TEXT_BYTES];

    for (size_t i = 0; i < citations->example_count; i++) {
        uuid_format(citations->examples[i].id, id);
        extraction_view_add_example_ids(run, slice_of(id, sizeof(id)));
    }
}

/* Confidences are compared within one layout, so only its own examples are listed. */
static void put_example_seqs(struct buffer *run, const struct citations *citations)
{
    for (size_t i = 0; i < citations->example_count; i++) {
        if (!citations->examples[i].is_other) {
            extraction_recorded_internal_view_add_example_seqs(run, citations->examples[i].seq);
        }
    }
}

/* The citations are in the log at this point. */
static void put_exposure_seqs(struct buffer *run, const struct citations *citations)
{
    for (size_t i = 0; i < citations->count; i++) {
        extraction_recorded_view_add_exposure_seqs(run, citations->items[i].seq);
    }
}

static void put_applied_seqs(struct buffer *run, const struct extraction_decided *decided)
{
    for (size_t i = 0; i < decided->applied_count; i++) {
        extraction_recorded_internal_view_add_applied_seqs(run, decided->applied_seqs[i]);
    }
}

/* Encodes the Extraction without its references. */
static struct extraction_view extraction_of(struct org_id org, const struct log_stamp *stamp,
                                            const struct extraction_decided *decided)
{
    return (struct extraction_view){
        .id = stamp->id,
        .org_id = org.uuid,
        .actor_user_id = decided->actor_user_id,
        .has_actor_user_id = decided->actor_user_id.size > 0,
        .document_id = decided->document_id,
        .has_document_id = decided->document_id.size > 0,
        .draft_order_id = decided->draft_order_id,
        .has_draft_order_id = decided->draft_order_id.size > 0,
        .layout_fingerprint = decided->layout_fingerprint,
        .confidence = decided->confidence,
        .has_confidence = true,
        .model = decided->model,
        .has_model = decided->model.size > 0,
        .field_count = decided->field_count,
        .has_field_count = decided->field_count != 0,
        .arm = decided->arm,
        .extraction_id = decided->extraction_id,
        .has_extraction_id = decided->extraction_id.size > 0,
        .experiment_exclusion = decided->exclusion,
        .created_at_us = decided->created_at_us,
        .has_created_at = true,
    };
}

/* Encodes the ExtractionRecordedInternal without its lists. Times with their default value are omitted. */
static struct extraction_recorded_internal_view
internal_of(const struct extraction_decided *decided)
{
    return (struct extraction_recorded_internal_view){
        .confidence_millionths = millionths_of(decided->confidence),
        .layout_ready = decided->layout_ready,
        .bare = decided->citations->example_count == 0,
        .key_kind = (uint32_t)decided->key_kind,
        .served_at_us = decided->served_at_us,
        .has_served_at = decided->served_at_us != decided->created_at_us,
        .corrected_from_us = decided->corrected_from_us,
        .has_corrected_from = decided->corrected_from_us != decided->served_at_us,
    };
}

enum err extraction_facts_write(struct arena *arena, struct org_id org,
                                const struct log_stamp *stamp,
                                const struct extraction_decided *decided, struct slice *ret_facts)
{
    const struct citations *citations = decided->citations;
    struct extraction_view extraction = extraction_of(org, stamp, decided);
    struct extraction_recorded_view recorded = {.has_extraction = true,
                                                .replaced_seq = decided->replaced_seq};
    struct extraction_recorded_internal_view internal = internal_of(decided);
    struct buffer ids;
    struct buffer example_seqs;
    struct buffer exposure_seqs;
    struct buffer applied_seqs;

    buffer_init(&ids, arena, citations->example_count * (UUID_TEXT_BYTES + WIRE_OVERHEAD_BYTES));
    put_example_ids(&ids, citations);
    extraction.example_ids.run = buffer_slice(&ids);
    buffer_init(&example_seqs, arena, citations->example_count * WIRE_OVERHEAD_BYTES);
    put_example_seqs(&example_seqs, citations);
    internal.example_seqs.run = buffer_slice(&example_seqs);
    buffer_init(&exposure_seqs, arena, citations->count * WIRE_OVERHEAD_BYTES);
    put_exposure_seqs(&exposure_seqs, citations);
    recorded.exposure_seqs.run = buffer_slice(&exposure_seqs);
    buffer_init(&applied_seqs, arena, decided->applied_count * WIRE_OVERHEAD_BYTES);
    put_applied_seqs(&applied_seqs, decided);
    internal.applied_seqs.run = buffer_slice(&applied_seqs);
    if (!view_encode(&extraction_view_type, &extraction, arena, &recorded.extraction) ||
        !view_encode(&extraction_recorded_internal_view_type, &internal, arena,
                     &recorded.internal) ||
        !buffer_ok(&ids) || !buffer_ok(&example_seqs) || !buffer_ok(&exposure_seqs) ||
        !buffer_ok(&applied_seqs) ||
        !view_encode(&extraction_recorded_view_type, &recorded, arena, ret_facts)) {
        return ERR_MEMORY;
    }
    return OK;
}

/* Decodes a packed list of numbers into an array. */
static enum err read_numbers(struct arena *arena, const struct view_list *list,
                             const uint64_t **ret_numbers, size_t *ret_count)
{
    uint64_t *numbers = arena_calloc(arena, list->count + 1, sizeof(*numbers));
    struct slice run = list->run;
    size_t count = 0;

    if (numbers == NULL) {
        return ERR_MEMORY;
    }
    while (view_next_number(&run, &numbers[count])) {
        count++;
    }
    ASSERT(count == list->count);
    *ret_numbers = numbers;
    *ret_count = count;
    return OK;
}

enum err extraction_facts_read(struct arena *arena, struct slice facts,
                               struct extraction_facts *ret_facts)
{
    enum err err = extraction_recorded_view_read(facts, &ret_facts->recorded);

    if (err == OK) {
        err = extraction_recorded_internal_view_read(
            payload_internal(ret_facts->recorded.internal, facts), &ret_facts->internal);
    }
    if (err == OK) {
        err = extraction_view_read(ret_facts->recorded.extraction, &ret_facts->extraction);
    }
    if (err != OK) {
        return err;
    }
    if (ret_facts->internal.confidence_millionths > CONFIDENCE_UNIT ||
        ret_facts->recorded.exposure_seqs.count > EXTRACTION_REFERENCES_MAX ||
        ret_facts->internal.applied_seqs.count > EXTRACTION_REFERENCES_MAX) {
        return ERR_CORRUPT;
    }
    err = read_numbers(arena, &ret_facts->internal.example_seqs, &ret_facts->example_seqs,
                       &ret_facts->example_count);
    return err != OK ? err
                     : read_numbers(arena, &ret_facts->internal.applied_seqs,
                                    &ret_facts->applied_seqs, &ret_facts->applied_count);
}

enum err extraction_facts_extraction(struct slice facts, struct slice *ret_extraction)
{
    struct extraction_recorded_view recorded;
    enum err err = extraction_recorded_view_read(facts, &recorded);

    if (err == OK) {
        *ret_extraction = recorded.extraction;
    }
    return err;
}
