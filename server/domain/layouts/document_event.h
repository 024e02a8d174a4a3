/*
 * document_event.h: a document's event between prepare and store: without the values that are known only in the
 * transaction.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_EVENT_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENT_EVENT_H

#include "server/domain/events/payload.h"
#include "server/domain/layouts/documents.h"

struct document_event {
    const struct document_measures *measures;
    struct slice actor_user_id;
    struct event_time time;
    struct sha256_digest measured; /* the hex digits of the fingerprint, if the document has one */
    struct document_view document; /* without id and created_at */
    struct document_ingested_internal_view internal; /* internal part of its DocumentIngested */
};

#endif
