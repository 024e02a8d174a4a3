/*
 * example_layout.c: see example_layout.h.
 */
#include "server/domain/corrections/example_layout.h"

#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/layouts/documents.h"

enum err example_layout_find(struct store_txn *txn, struct examples_query *query)
{
    uint64_t as_of_seq = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    enum err err = OK;

    if (query->layout_fingerprint.size > 0 || query->document_id.size == 0) {
        return OK;
    }
    err = document_read_state(txn, query->org, query->document_id, as_of_seq, &query->document);
    query->document_is_read = err == OK;
    if (err == OK && query->document.is_measured) {
        query->layout_fingerprint = query->document.layout_fingerprint;
        return OK;
    }
    return err != OK && err != ERR_NOT_FOUND
               ? err
               : extraction_rows_layout_of_document(txn, query->org, query->document_id, as_of_seq,
                                                    &query->layout_fingerprint);
}
