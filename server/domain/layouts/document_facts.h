/*
 * document_facts.h: an EVENT_DOCUMENT_INGESTED event, read without a copy, and the row that names it.
 *
 * Facts are a DocumentIngested whose `document` has the fields below 20 only; content is the bytes of
 * Document's other fields. `page_dimensions` are the last of a document's facts, so that they need not be
 * read: a document may have 5,000 pages, and lists answer the first one's size.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_FACTS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_FACTS_H

#include "server/domain/events/payload.h"
#include "server/domain/layouts/records.h"
#include "store/log.h"

#include <errata/v1/event.views.h>
#include <errata/v1/layout_service.views.h>

/* Slices are borrowed from the event. */
struct document_facts {
    struct document_ingested_view ingested;
    struct document_ingested_internal_view internal; /* of `ingested` */
    struct document_view document; /* without its page sizes and its content */
    struct slice pages; /* the run of page_dimensions, unread */
    struct sha256_digest sha256; /* of `document` */
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
