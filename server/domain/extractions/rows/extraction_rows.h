/*
 * extraction_rows.h: the rows of extractions: each one as corrections change it, and the newest of each
 * document and draft order. Extractions write them, corrections mark them; only apply changes them. A
 * folder of its own, since corrections are between these rows and the rest of extractions, which
 * credit examples.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_H

#include "server/domain/extractions/rows/records.h"
#include "store/log.h"

#include <errata/v1/feedback_event.views.h>

/* Keeps an extraction that no correction has met yet, as the newest of its document and draft order
 * (empty: none is named) where it is. */
MUST_CHECK enum err extraction_rows_add(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        const struct extraction_record *record,
                                        struct slice document_id, struct slice draft_order_id);
/* A correction that names a document or draft order marks the newest extraction of them as corrected,
 * and counts: an extraction once, and each of its fields once. Does nothing for one that names
 * neither, or whose extraction was not recorded. */
MUST_CHECK enum err extraction_rows_correct(struct ctx *ctx, struct store_txn *txn,
                                            const struct event *event,
                                            const struct feedback_event_view *view);
/* The document that the newest extraction of a draft order was made of, in the arena; empty if it names
 * none, or there is no such extraction. */
MUST_CHECK enum err extraction_rows_document_of_draft(struct arena *arena, struct store_txn *txn,
                                                      struct org_id org,
                                                      struct slice draft_order_id,
                                                      struct slice *ret_document_id);
/* Returns the layout that the newest extraction of a document names, borrowed from the transaction; empty if
 * there is no extraction, or the newest was recorded after the event `as_of_seq` (UINT64_MAX: now). */
MUST_CHECK enum err extraction_rows_layout_of_document(struct store_txn *txn, struct org_id org,
                                                       struct slice document_id, uint64_t as_of_seq,
                                                       struct slice *ret_fingerprint);

#endif
