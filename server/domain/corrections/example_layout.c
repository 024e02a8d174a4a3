/*
 * example_layout.c: see example_layout.h.
 */
#include "server/domain/corrections/example_layout.h"

#include "server/domain/extractions/rows/extraction_rows.h"
#include "server/domain/layouts/documents.h"

/* Returns the layout of an ingested document. ERR_NOT_FOUND if it was not ingested by `as_of_seq`. */
static enum err find_ingested(struct store_txn *txn, struct org_id org, struct slice document_id,
                              uint64_t as_of_seq, struct slice *ret_fingerprint)
{
    struct document_known known = {.layout_fingerprint = {NULL, 0}};
    struct event event;
    enum err err = document_find(txn, org, document_id, &known);

    if (err == OK && as_of_seq != UINT64_MAX) {
        err = document_read(txn, org, document_id, &event);
        if (err == OK && event.seq > as_of_seq) {
            return ERR_NOT_FOUND;
        }
    }
    if (err == OK) {
        *ret_fingerprint = known.layout_fingerprint;
    }
    return err;
}

enum err example_layout_find(struct store_txn *txn, const struct examples_query *query,
                             struct slice *ret_fingerprint)
{
    uint64_t as_of_seq = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    struct slice fingerprint = query->layout_fingerprint;
    enum err err = OK;

    if (fingerprint.size == 0 && query->document_id.size > 0) {
        err = find_ingested(txn, query->org, query->document_id, as_of_seq, &fingerprint);
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
