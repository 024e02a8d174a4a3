/*
 * document_facts.c: see document_facts.h.
 */
#include "server/domain/layouts/document_facts.h"

#include "store/base/wire.h"

#include <errata/v1/layout_service.fields.h>

/* Where a text field of Document goes; NULL for a field that is none, or that nobody asks for. */
static struct slice *text_of(struct document_facts *facts, uint32_t number)
{
    switch (number) {
    case DOCUMENT_ID_FIELD:
        return &facts->id;
    case DOCUMENT_DOCUMENT_ID_FIELD:
        return &facts->document_id;
    case DOCUMENT_LAYOUT_FINGERPRINT_FIELD:
        return &facts->layout_fingerprint;
    case DOCUMENT_FP_VERSION_FIELD:
        return &facts->fp_version;
    default:
        return NULL;
    }
}

static enum err read_document_field(struct document_facts *facts, const struct wire_field *field)
{
    struct slice *text = text_of(facts, field->number);

    if (text != NULL) {
        *text = field->bytes;
        return field->type == WIRE_BYTES ? OK : ERR_CORRUPT;
    }
    if (field->number == DOCUMENT_SHA256_FIELD) {
        return field->type == WIRE_BYTES && sha256_parse(field->bytes, &facts->sha256)
                   ? OK
                   : ERR_CORRUPT;
    }
    if (field->number == DOCUMENT_PAGE_COUNT_FIELD) {
        facts->page_count = (uint32_t)field->value;
    } else if (field->number == DOCUMENT_TABLE_COUNT_FIELD) {
        facts->table_count = (uint32_t)field->value;
    }
    return OK;
}

/* Up to the first page's size: nothing but the others' is behind it. */
static enum err read_document(struct document_facts *facts)
{
    struct wire_reader reader = wire_reader_of(facts->document);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == DOCUMENT_PAGE_DIMENSIONS_FIELD) {
            break;
        }
        err = read_document_field(facts, &field);
        if (err != OK) {
            return err;
        }
    }
    facts->first_page_end = facts->document.size - reader.rest.size;
    return err == OK && facts->id.size > 0 && facts->document_id.size > 0 ? OK : ERR_CORRUPT;
}

static enum err read_field(struct document_facts *facts, const struct wire_field *field)
{
    bool bytes = field->type == WIRE_BYTES;

    switch (field->number) {
    case DOCUMENT_INGESTED_DOCUMENT_FIELD:
        facts->document = field->bytes;
        return bytes ? OK : ERR_CORRUPT;
    case DOCUMENT_INGESTED_PROFILE_FIELD:
        facts->profile = field->bytes;
        return bytes ? OK : ERR_CORRUPT;
    case DOCUMENT_INGESTED_TEXT_COVERAGE_HUNDREDTHS_FIELD:
        facts->text_coverage_hundredths = (uint32_t)field->value;
        return bytes ? ERR_CORRUPT : OK;
    case DOCUMENT_INGESTED_TEXT_DENSITY_TEN_THOUSANDTHS_FIELD:
        facts->text_density_ten_thousandths = (uint32_t)field->value;
        return bytes ? ERR_CORRUPT : OK;
    case DOCUMENT_INGESTED_SCAN_FIELD:
        facts->scan = field->value != 0;
        return bytes ? ERR_CORRUPT : OK;
    default:
        return OK; /* a later version's field */
    }
}

enum err document_facts_read(struct slice facts, struct document_facts *ret_facts)
{
    struct document_facts read = {.first_page_end = 0};
    struct wire_reader reader = wire_reader_of(facts);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        err = read_field(&read, &field);
        if (err != OK) {
            return err;
        }
    }
    if (err != ERR_NOT_FOUND) {
        return ERR_CORRUPT;
    }
    err = read_document(&read);
    if (err == OK) {
        *ret_facts = read;
    }
    return err;
}

enum err document_facts_snippet(struct slice content, struct slice *ret_snippet)
{
    struct wire_reader reader = wire_reader_of(content);
    struct wire_field field = {0};
    enum err err = OK;

    *ret_snippet = slice_of(NULL, 0);
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == DOCUMENT_INPUT_SNIPPET_FIELD) {
            *ret_snippet = field.bytes;
        }
    }
    return err == ERR_NOT_FOUND ? OK : ERR_CORRUPT;
}

enum err document_row_read(struct store_txn *txn, struct org_id org, struct slice document_id,
                           struct document_record *ret_record)
{
    struct key key = key_document(org, document_id);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_DOCUMENT, key_slice(&key), &value);

    return err != OK ? err : record_decode_document(value, ret_record);
}

enum err document_event_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                             struct event *ret_event)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == ERR_NOT_FOUND || (err == OK && event.kind != EVENT_DOCUMENT_INGESTED)) {
        return ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_event = event;
    }
    return err;
}
