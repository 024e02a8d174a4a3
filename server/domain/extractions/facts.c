/*
 * facts.c: see facts.h.
 */
#include "server/domain/extractions/facts.h"

#include "store/base/wire.h"

#include <errata/v1/learning_service.fields.h>

#define CONFIDENCE_UNIT 1000000

/* To the nearest millionth; a confidence is within 0 and 1. */
static uint32_t millionths_of(double confidence)
{
    return (uint32_t)(confidence * CONFIDENCE_UNIT + 0.5);
}

static void put_id(struct buffer *buffer, uint32_t field, struct uuid id)
{
    char text[UUID_TEXT_BYTES];

    uuid_format(id, text);
    wire_put_bytes(buffer, field, slice_of(text, sizeof(text)));
}

/* The wire bytes of the Extraction, without its references. */
static void put_extraction(struct buffer *buffer, struct org_id org, const struct log_stamp *stamp,
                           const struct extraction_decided *decided)
{
    put_id(buffer, EXTRACTION_ID_FIELD, stamp->id);
    put_id(buffer, EXTRACTION_ORG_ID_FIELD, org.uuid);
    wire_put_bytes_given(buffer, EXTRACTION_ACTOR_USER_ID_FIELD, decided->actor_user_id);
    wire_put_bytes_given(buffer, EXTRACTION_DOCUMENT_ID_FIELD, decided->document_id);
    wire_put_bytes_given(buffer, EXTRACTION_DRAFT_ORDER_ID_FIELD, decided->draft_order_id);
    wire_put_bytes(buffer, EXTRACTION_LAYOUT_FINGERPRINT_FIELD, decided->layout_fingerprint);
    wire_put_double(buffer, EXTRACTION_CONFIDENCE_FIELD, decided->confidence);
    wire_put_bytes_given(buffer, EXTRACTION_MODEL_FIELD, decided->model);
    wire_put_varint_given(buffer, EXTRACTION_FIELD_COUNT_FIELD, decided->field_count);
    for (size_t i = 0; i < decided->citations->example_count; i++) {
        put_id(buffer, EXTRACTION_EXAMPLE_IDS_FIELD, decided->citations->examples[i].id);
    }
    wire_put_varint(buffer, EXTRACTION_ARM_FIELD, (uint64_t)decided->arm);
    wire_put_timestamp(buffer, EXTRACTION_CREATED_AT_FIELD, decided->created_at_us);
}

static void put_example_seqs(struct buffer *buffer, const struct citations *citations)
{
    size_t size = 0;

    for (size_t i = 0; i < citations->example_count; i++) {
        size += wire_varint_bytes(citations->examples[i].seq);
    }
    if (size == 0) {
        return;
    }
    wire_put_header(buffer, EXTRACTION_RECORDED_EXAMPLE_SEQS_FIELD, size);
    for (size_t i = 0; i < citations->example_count; i++) {
        wire_put_packed(buffer, WIRE_VARINT, citations->examples[i].seq);
    }
}

/* Those that are cited for the subject for the first time: they stand in the log by now. */
static void put_exposure_seqs(struct buffer *buffer, const struct citations *citations)
{
    size_t size = 0;

    for (size_t i = 0; i < citations->count; i++) {
        if (citations->items[i].outcome_seq == 0) {
            size += wire_varint_bytes(citations->items[i].cited.seq);
        }
    }
    if (size == 0) {
        return;
    }
    wire_put_header(buffer, EXTRACTION_RECORDED_EXPOSURE_SEQS_FIELD, size);
    for (size_t i = 0; i < citations->count; i++) {
        if (citations->items[i].outcome_seq == 0) {
            wire_put_packed(buffer, WIRE_VARINT, citations->items[i].cited.seq);
        }
    }
}

enum err extraction_facts_write(struct arena *arena, struct org_id org,
                                const struct log_stamp *stamp,
                                const struct extraction_decided *decided, struct slice *ret_facts)
{
    size_t example_count = decided->citations->example_count;
    struct buffer extraction = {0};
    struct buffer facts = {0};

    buffer_init(&extraction, arena, 1024 + 40 * example_count);
    put_extraction(&extraction, org, stamp, decided);
    buffer_init(&facts, arena, extraction.size + 256 + 10 * example_count);
    wire_put_bytes(&facts, EXTRACTION_RECORDED_EXTRACTION_FIELD, buffer_slice(&extraction));
    wire_put_varint_given(&facts, EXTRACTION_RECORDED_CONFIDENCE_MILLIONTHS_FIELD,
                          millionths_of(decided->confidence));
    put_example_seqs(&facts, decided->citations);
    put_exposure_seqs(&facts, decided->citations);
    if (decided->layout_ready) {
        wire_put_varint(&facts, EXTRACTION_RECORDED_LAYOUT_READY_FIELD, 1);
    }
    if (example_count == 0 && !decided->citations->has_old_examples) {
        wire_put_varint(&facts, EXTRACTION_RECORDED_BARE_FIELD, 1);
    }
    *ret_facts = buffer_slice(&facts);
    return buffer_ok(&extraction) && buffer_ok(&facts) ? OK : ERR_MEMORY;
}

/* The field is of the type that its number has. */
static bool is_type_right(const struct wire_field *field, bool bytes)
{
    return field->type == (bytes ? WIRE_BYTES : WIRE_VARINT);
}

static bool is_extraction_text(uint32_t number)
{
    return number == EXTRACTION_DOCUMENT_ID_FIELD || number == EXTRACTION_DRAFT_ORDER_ID_FIELD ||
           number == EXTRACTION_LAYOUT_FINGERPRINT_FIELD;
}

static bool is_extraction_number(uint32_t number)
{
    return number == EXTRACTION_FIELD_COUNT_FIELD || number == EXTRACTION_ARM_FIELD;
}

static enum err read_extraction_field(const struct wire_field *field,
                                      struct extraction_facts *facts)
{
    if ((is_extraction_text(field->number) && !is_type_right(field, true)) ||
        (is_extraction_number(field->number) && !is_type_right(field, false))) {
        return ERR_CORRUPT;
    }
    switch (field->number) {
    case EXTRACTION_DOCUMENT_ID_FIELD:
        facts->document_id = field->bytes;
        return OK;
    case EXTRACTION_DRAFT_ORDER_ID_FIELD:
        facts->draft_order_id = field->bytes;
        return OK;
    case EXTRACTION_LAYOUT_FINGERPRINT_FIELD:
        facts->layout_fingerprint = field->bytes;
        return OK;
    case EXTRACTION_FIELD_COUNT_FIELD:
        facts->field_count = (uint32_t)field->value;
        return OK;
    case EXTRACTION_ARM_FIELD:
        return experiment_arm_from_wire((int32_t)field->value, &facts->arm) ? OK : ERR_CORRUPT;
    default:
        return OK;
    }
}

static enum err read_extraction(struct slice extraction, struct extraction_facts *facts)
{
    struct wire_reader reader = wire_reader_of(extraction);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        err = read_extraction_field(&field, facts);
        if (err != OK) {
            return err;
        }
    }
    return err == ERR_NOT_FOUND && facts->layout_fingerprint.size > 0 ? OK : ERR_CORRUPT;
}

/* A packed list of numbers; each takes a byte or more. */
static enum err read_examples(struct arena *arena, struct slice packed,
                              struct extraction_facts *facts)
{
    uint64_t *seqs = arena_calloc(arena, packed.size + 1, sizeof(*seqs));

    if (seqs == NULL) {
        return ERR_MEMORY;
    }
    facts->example_seqs = seqs;
    facts->example_count = 0;
    while (wire_take_packed(&packed, WIRE_VARINT, &seqs[facts->example_count])) {
        facts->example_count++;
    }
    return packed.size == 0 ? OK : ERR_CORRUPT;
}

static enum err read_exposures(struct slice packed, struct extraction_facts *facts)
{
    uint64_t seq = 0;

    while (wire_take_packed(&packed, WIRE_VARINT, &seq)) {
        if (facts->exposure_count == EXTRACTION_REFERENCES_MAX) {
            return ERR_CORRUPT;
        }
        facts->exposure_seqs[facts->exposure_count] = seq;
        facts->exposure_count++;
    }
    return packed.size == 0 ? OK : ERR_CORRUPT;
}

static bool is_recorded_message(uint32_t number)
{
    return number == EXTRACTION_RECORDED_EXTRACTION_FIELD ||
           number == EXTRACTION_RECORDED_EXAMPLE_SEQS_FIELD ||
           number == EXTRACTION_RECORDED_EXPOSURE_SEQS_FIELD;
}

static enum err read_field(struct arena *arena, const struct wire_field *field,
                           struct extraction_facts *facts)
{
    if (field->number <= EXTRACTION_RECORDED_BARE_FIELD &&
        !is_type_right(field, is_recorded_message(field->number))) {
        return ERR_CORRUPT;
    }
    switch (field->number) {
    case EXTRACTION_RECORDED_EXTRACTION_FIELD:
        return read_extraction(field->bytes, facts);
    case EXTRACTION_RECORDED_CONFIDENCE_MILLIONTHS_FIELD:
        facts->confidence_millionths = (uint32_t)field->value;
        return field->value <= CONFIDENCE_UNIT ? OK : ERR_CORRUPT;
    case EXTRACTION_RECORDED_EXAMPLE_SEQS_FIELD:
        return read_examples(arena, field->bytes, facts);
    case EXTRACTION_RECORDED_EXPOSURE_SEQS_FIELD:
        return read_exposures(field->bytes, facts);
    case EXTRACTION_RECORDED_LAYOUT_READY_FIELD:
        facts->layout_ready = field->value != 0;
        return OK;
    case EXTRACTION_RECORDED_BARE_FIELD:
        facts->bare = field->value != 0;
        return OK;
    default:
        return OK;
    }
}

enum err extraction_facts_read(struct arena *arena, struct slice facts,
                               struct extraction_facts *ret_facts)
{
    struct wire_reader reader = wire_reader_of(facts);
    struct wire_field field = {0};
    enum err err = OK;

    memset(ret_facts, 0, sizeof(*ret_facts));
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        err = read_field(arena, &field, ret_facts);
        if (err != OK) {
            return err;
        }
    }
    return err == ERR_NOT_FOUND && ret_facts->layout_fingerprint.size > 0 ? OK : ERR_CORRUPT;
}

enum err extraction_facts_extraction(struct slice facts, struct slice *ret_extraction)
{
    struct wire_reader reader = wire_reader_of(facts);
    struct wire_field field = {0};

    if (wire_next(&reader, &field) != OK || field.number != EXTRACTION_RECORDED_EXTRACTION_FIELD ||
        field.type != WIRE_BYTES) {
        return ERR_CORRUPT;
    }
    *ret_extraction = field.bytes;
    return OK;
}
