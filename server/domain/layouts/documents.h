/*
 * documents.h: documents and the profiles of their layouts: what an ingested document becomes in the
 * log and in the tables, and how both are read. Prepare works only on values: it rounds, computes
 * the fingerprint and the warnings. Store decides, appends and applies in one transaction. Profiles
 * are listed by profiles.h.
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

/* What a text density of 1 is: characters of page 1. */
#define DOCUMENT_DENSE_CHARACTERS 2500

/* A document that only lacks what the transaction gives it. */
struct document_event;

/* Returns whether a text is empty or has only ends of pages and lines, and other ASCII white space: the
 * text of a scan. */
bool document_text_is_blank(struct slice text);
/* Fails only with ERR_MEMORY. The result lives in ctx->arena. */
MUST_CHECK enum err document_prepare(struct ctx *ctx, const struct document_measures *measures,
                                     struct slice actor_user_id, struct document_event **ret_event);
/* Dates a prepared document; without it, it is dated when it is stored. */
void document_date(struct document_event *event, const struct event_time *time);
/* Stores it, or finds that it is stored already (`ret_seq` is the event that recorded it then).
 * ERR_EXISTS with a message that names the stored sha256 where other bytes have its id. A document
 * that was kept without a fingerprint is stored again once it has one. ERR_INVALID for a given time in the
 * future. */
MUST_CHECK enum err document_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   const struct document_event *event, uint64_t *ret_seq);

/* What other capabilities fill in from a document. Slices are borrowed from the transaction. */
struct document_known {
    struct slice layout_fingerprint; /* empty: none */
    struct slice input_snippet; /* empty: no text, or removed by retention */
    bool has_family;
    struct uuid family_id; /* of its layout family */
    int64_t created_at_us; /* when it was ingested */
};

/* ERR_NOT_FOUND for one that this organisation does not have. */
MUST_CHECK enum err document_find(struct store_txn *txn, struct org_id org,
                                  struct slice document_id, struct document_known *ret_known);
/* Reads the layout of a document, as after the event `as_of_seq` (UINT64_MAX: now), borrowed from the transaction; empty if
 * it has none. ERR_NOT_FOUND for one that this organisation did not have, or had not measured, then. */
MUST_CHECK enum err document_read_layout(struct store_txn *txn, struct org_id org,
                                         struct slice document_id, uint64_t as_of_seq,
                                         struct slice *ret_fingerprint);

/* The properties of a document that a lookup of examples depends on. */
struct document_state {
    bool is_scan; /* page 1 has no text */
    uint64_t
        family_seq; /* of the event that made its layout family, which may be an alias by now; 0: it has none */
};

/* Reads the state of a document after the event `as_of_seq` (UINT64_MAX: now). ERR_NOT_FOUND for one that this
 * organisation did not have then. */
MUST_CHECK enum err document_read_state(struct store_txn *txn, struct org_id org,
                                        struct slice document_id, uint64_t as_of_seq,
                                        struct document_state *ret_state);

/* The event that has a document, by the caller's id or by the server's. ERR_NOT_FOUND for one
 * that this organisation does not have. */
MUST_CHECK enum err document_read(struct store_txn *txn, struct org_id org,
                                  struct slice document_id, struct event *ret_event);
MUST_CHECK enum err document_read_by_id(struct store_txn *txn, struct org_id org, struct uuid id,
                                        struct event *ret_event);

/* How much of a document is answered. */
struct document_detail {
    bool first_page_alone; /* of page_dimensions */
};

/* The Document of an EVENT_DOCUMENT_INGESTED event, borrowed from it. */
MUST_CHECK enum err document_of_event(const struct event *event, struct document_detail detail,
                                      struct document_view *ret_document);
/* The bytes of its LayoutProfile at that time; empty if it has none. */
MUST_CHECK enum err document_profile_of_event(const struct event *event, struct slice *ret_profile);
/* The whole DocumentIngested; its document is put together in the arena, with its content. */
MUST_CHECK enum err document_ingested_of_event(struct arena *arena, const struct event *event,
                                               struct document_ingested_view *ret_ingested);

/* Gives a document the family that it is of now, in place of the one at its event. */
MUST_CHECK enum err document_set_family(struct store_txn *txn, struct org_id org,
                                        struct document_view *document);

/* A list of documents, newest first, each with only its first page's size. */
struct document_list {
    struct org_id org;
    struct slice layout_fingerprint; /* empty: documents of all layouts, and of none */
    const struct family_members
        *family; /* only documents of this family, without a fingerprint; NULL:
                                          * of all */
    struct page *page;
    struct family_walk walk; /* of `family` */
};

/* document_list_end must follow, after an error too. */
MUST_CHECK enum err document_list_begin(struct arena *arena, struct store_txn *txn,
                                        struct document_list *list);
/* The next document, borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err document_list_next(struct store_txn *txn, struct document_list *list,
                                       struct document_view *ret_document);
void document_list_end(struct document_list *list);

#endif
