/*
 * document_facts.c: see document_facts.h.
 */
#include "server/domain/layouts/document_facts.h"

#include "server/domain/layouts/keys.h"

enum err document_facts_read(struct slice facts, struct document_facts *ret_facts)
{
    struct document_facts read;
    enum err err = document_ingested_view_read(facts, &read.ingested);

    if (err == OK) {
        err = document_ingested_internal_view_read(payload_internal(read.ingested.internal, facts),
                                                   &read.internal);
    }
    if (err == OK) {
        err = view_read_range(&document_view_type, read.ingested.document, 1,
                              DOCUMENT_PAGE_DIMENSIONS_FIELD, &read.document, &read.pages);
    }
    if (err != OK || !sha256_parse(read.document.sha256, &read.sha256)) {
        return ERR_CORRUPT;
    }
    *ret_facts = read;
    return OK;
}

enum err document_facts_snippet(struct slice content, struct slice *ret_snippet)
{
    struct document_view document;
    struct slice rest = {NULL, 0};
    enum err err = view_read_range(&document_view_type, content, VIEW_CONTENT_FIELD_MIN, UINT32_MAX,
                                   &document, &rest);

    if (err == OK) {
        *ret_snippet = document.input_snippet;
    }
    return err;
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
