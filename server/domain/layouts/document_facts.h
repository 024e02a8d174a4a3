/*
 * document_facts.h: reads an EVENT_DOCUMENT_INGESTED event without a copy, and the row that names it. Facts are
 * a DocumentIngested whose `document` has only the fields below 20; content is the bytes of Document's other
 * fields. `page_dimensions` are last in a document's facts, so that they can be skipped: a document may have
 * 5,000 pages, and lists return only the first one's size.
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
    struct document_ingested_internal_view internal; /* internal part of `ingested` */
    struct document_view document; /* without its page sizes and its content */
    struct slice pages; /* the run of page_dimensions, unread */
    struct sha256_digest sha256; /* sha256 of `document` */
};

/* Returns ERR_CORRUPT if the facts are not of a document. */
MUST_CHECK enum err document_facts_read(struct slice facts, struct document_facts *ret_facts);
/* Returns the text of content; empty if there is none, or it was removed. */
MUST_CHECK enum err document_facts_snippet(struct slice content, struct slice *ret_snippet);

/* Returns the row of a document, borrowed from the transaction. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err document_row_read(struct store_txn *txn, struct org_id org,
                                      struct slice document_id, struct document_record *ret_record);
/* Returns the event that a document's row names, borrowed from the transaction. ERR_CORRUPT if it is missing or
 * of another kind. */
MUST_CHECK enum err document_event_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                        struct event *ret_event);

#endif
