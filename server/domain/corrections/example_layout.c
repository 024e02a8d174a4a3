/*
 * example_layout.c: see example_layout.h.
 */
#include "server/domain/corrections/example_layout.h"

#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/layouts/documents.h"

enum err example_layout_find(struct store_txn *txn, const struct examples_query *query,
                             struct slice *ret_fingerprint)
{
    uint64_t as_of_seq = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    struct slice fingerprint = query->layout_fingerprint;
    enum err err = OK;

    if (fingerprint.size == 0 && query->document_id.size > 0) {
        err = document_read_layout(txn, query->org, query->document_id, as_of_seq, &fingerprint);
        if (err == ERR_NOT_FOUND) {
            err = extraction_rows_layout_of_document(txn, query->org, query->document_id, as_of_seq,
                                                     &fingerprint);
        }
    }
    if (err == OK) {
        *ret_fingerprint = fingerprint;
    }
    return err;
}
