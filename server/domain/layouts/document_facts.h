/*
 * document_facts.h: an EVENT_DOCUMENT_INGESTED event, read from its runs of wire bytes without a copy,
 * and the row that names it.
 *
 * Facts are a DocumentIngested whose `document` has the fields below 20 alone; content is the bytes of
 * Document's other fields. An answer puts them together as one Document: its facts, then its content.
 * `page_dimensions` stand last among a document's facts, so that a list, which answers the first
 * page's alone, copies a prefix.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_FACTS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_FACTS_H

#include "store/log.h"
#include "store/record.h"

#include <errata/v1/event.fields.h>

/* Slices are borrowed from the event; empty: absent. */
struct document_facts {
    struct slice document; /* the bytes of Document's facts */
    size_t first_page_end; /* in them: behind the first page's size */
    struct slice profile; /* the bytes of LayoutProfile */
    uint32_t text_coverage_hundredths;
    uint32_t text_density_ten_thousandths;
    bool scan;
    struct slice id; /* the document's, as text */
    struct slice document_id;
    struct slice layout_fingerprint;
    struct sha256_digest sha256;
    struct slice fp_version;
    uint32_t page_count;
    uint32_t table_count; /* 0 where it was not counted */
};

/* ERR_CORRUPT for facts that are none of a document. */
MUST_CHECK enum err document_facts_read(struct slice facts, struct document_facts *ret_facts);
/* The text of content; empty where there is none, or it was removed. */
MUST_CHECK enum err document_facts_snippet(struct slice content, struct slice *ret_snippet);

/* The row of a document, borrowed from the transaction. ERR_NOT_FOUND where there is none. */
MUST_CHECK enum err document_row_read(struct store_txn *txn, struct org_id org,
                                      struct slice document_id, struct document_record *ret_record);
/* The event that a document's row names, borrowed likewise: one that is missing, or of another kind, is
 * ERR_CORRUPT. */
MUST_CHECK enum err document_event_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                        struct event *ret_event);

#endif
