/*
 * documents.h: ingests documents, and reads them. Prepare works only on values: it rounds, and computes the
 * fingerprint and the warnings. Store decides, appends and applies in one transaction. See profiles.h for lists
 * of layout profiles.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENTS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_DOCUMENTS_H

#include "server/domain/events/draft.h"
#include "server/domain/fingerprint/document_measures.h"
#include "server/domain/layouts/family_walk.h"
#include "store/log.h"
#include "store/page.h"

#include <errata/v1/event.views.h>
#include <errata/v1/layout_service.views.h>

/* Number of characters on page 1 that is a text density of 1. */
#define DOCUMENT_DENSE_CHARACTERS 2500

/* A document that lacks only the values known in the transaction. */
struct document_event;

/* Returns whether a text is empty or has only ends of pages and lines, and other ASCII white space: the
 * text of a scan. */
bool document_text_is_blank(struct slice text);
/* Fails only with ERR_MEMORY. The result is in ctx->arena. */
MUST_CHECK enum err document_prepare(struct ctx *ctx, const struct document_measures *measures,
                                     struct slice actor_user_id, struct document_event **ret_event);
/* Sets the time of a prepared document; without this call, it has the time at which it is
 * stored. */
void document_date(struct document_event *event, const struct event_time *time);
/* Stores the document, or finds that it is stored already; `ret_seq` is then the event that recorded it.
 * Returns ERR_EXISTS, with a message that names the stored sha256, if other bytes have its id. A document that
 * was stored without a fingerprint is stored again once it has one. Returns ERR_INVALID for a given time in the
 * future. */
MUST_CHECK enum err document_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   const struct document_event *event, uint64_t *ret_seq);

/* The values that other modules take from a document. Slices are borrowed from the transaction. */
struct document_known {
    struct slice layout_fingerprint; /* empty: none */
    struct slice input_snippet; /* empty: no text, or removed by retention */
    bool has_family;
    struct uuid family_id; /* id of its layout family */
    int64_t created_at_us; /* when it was ingested */
};

/* Returns ERR_NOT_FOUND if this organisation does not have the document. */
MUST_CHECK enum err document_find(struct store_txn *txn, struct org_id org,
                                  struct slice document_id, struct document_known *ret_known);

/* The properties of a document that a lookup of examples depends on. */
struct document_state {
    bool is_scan; /* page 1 has no text */
    bool
        is_measured; /* false: only its first event is old enough, which had neither layout nor family */
    struct slice layout_fingerprint; /* borrowed from the transaction; empty: none */
    uint64_t
        family_seq; /* seq of the event that created its layout family, which may have been merged since; 0: no
                     * family */
};

/* Reads the state of a document after the event `as_of_seq` (UINT64_MAX: now). Returns ERR_NOT_FOUND if this
 * organisation did not have the document then. */
MUST_CHECK enum err document_read_state(struct store_txn *txn, struct org_id org,
                                        struct slice document_id, uint64_t as_of_seq,
                                        struct document_state *ret_state);

/* Returns the event of a document, by the caller's id or by the server's. ERR_NOT_FOUND if this organisation
 * does not have it. */
MUST_CHECK enum err document_read(struct store_txn *txn, struct org_id org,
                                  struct slice document_id, struct event *ret_event);
MUST_CHECK enum err document_read_by_id(struct store_txn *txn, struct org_id org, struct uuid id,
                                        struct event *ret_event);

/* The members of a document that a response contains. */
struct document_detail {
    bool first_page_alone; /* set for page_dimensions */
};

/* The Document of an EVENT_DOCUMENT_INGESTED event, borrowed from it. */
MUST_CHECK enum err document_of_event(const struct event *event, struct document_detail detail,
                                      struct document_view *ret_document);
/* Returns the bytes of the document's LayoutProfile at that time; empty if it has none. */
MUST_CHECK enum err document_profile_of_event(const struct event *event, struct slice *ret_profile);
/* Returns the whole DocumentIngested; its document is assembled in the arena, with its content. */
MUST_CHECK enum err document_ingested_of_event(struct arena *arena, const struct event *event,
                                               struct document_ingested_view *ret_ingested);

/* Replaces the document's family at its event by its present one. */
MUST_CHECK enum err document_set_family(struct store_txn *txn, struct org_id org,
                                        struct document_view *document);

/* A list of documents, newest first, each with the size of only its first page. */
struct document_list {
    struct org_id org;
    struct slice layout_fingerprint; /* empty: documents of all layouts, and those without layout */
    const struct family_members
        *family; /* only documents of this family; requires an empty fingerprint; NULL: any */
    struct page *page;
    struct family_walk walk; /* walk of `family` */
};

/* The caller must call document_list_end, even after an error. */
MUST_CHECK enum err document_list_begin(struct arena *arena, struct store_txn *txn,
                                        struct document_list *list);
/* The next document, borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err document_list_next(struct store_txn *txn, struct document_list *list,
                                       struct document_view *ret_document);
void document_list_end(struct document_list *list);

#endif
