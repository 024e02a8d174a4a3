/*
 * extraction_rows.h: the rows of extractions: each one as corrections change it, and the newest of each
 * document and draft order. Extractions write them, corrections mark them; by apply alone.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXTRACTION_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXTRACTION_ROWS_H

#include "server/domain/corrections/view.h"
#include "store/record.h"

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
/* The event of the newest extraction of a draft order. ERR_NOT_FOUND where there is none. */
MUST_CHECK enum err extraction_rows_find_draft(struct store_txn *txn, struct org_id org,
                                               struct slice draft_order_id,
                                               struct event *ret_event);

#endif
