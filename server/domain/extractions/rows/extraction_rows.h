/*
 * extraction_rows.h: the rows of extractions: each extraction with its corrections, the current one of each id,
 * those of each document and draft order, and the sums over them. Extractions write the rows, corrections mark
 * them; only apply changes them. The rows have their own folder because both corrections and the rest of
 * extractions depend on them. The extractions of a document or draft order are sorted by the time at which
 * their examples were served. A correction belongs to the newest extraction that was served before it,
 * whichever of both was recorded first.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_H

#include "server/domain/extractions/rows/keys.h"
#include "server/domain/extractions/rows/records.h"
#include "store/log.h"

#include <errata/v1/feedback_event.views.h>

/* One extraction: its row, and the values of its event's facts that determine its position. */
struct extraction_entry {
    struct org_id org;
    struct extraction_record record;
    uint32_t confidence_millionths;
    enum extraction_key_kind key_kind;
    struct slice key_id; /* empty: no key */
    struct slice document_id; /* empty: none; the same applies to the next members */
    struct slice draft_order_id;
    int64_t served_at_us;
    int64_t
        corrected_from_us; /* corrections since this time mark it, unless another extraction was served between */
};

/* Reads the entry of an EVENT_EXTRACTION_RECORDED without its corrections, borrowed from the event. ERR_CORRUPT
 * for other events. */
MUST_CHECK enum err extraction_entry_of_event(const struct event *event,
                                              struct extraction_entry *ret_entry);
/* Reads the entry of a stored extraction with its corrections, in the arena. ERR_NOT_FOUND if it was replaced
 * or does not exist. */
MUST_CHECK enum err extraction_entry_read(struct arena *arena, struct store_txn *txn,
                                          struct org_id org, uint64_t seq,
                                          struct extraction_entry *ret_entry);

/* Change of the counts of each artifact of the exposures that an extraction cites: -1, 0 or 1. */
struct extraction_credit_change {
    int outcomes;
    int bad; /* outcomes of corrected extractions */
};

/* Counts the extraction of the event `seq` as an outcome of each artifact that it cites, or subtracts it. An
 * extraction without a key counts only for exposures that no such extraction cited before; the caller must
 * store the outcomes first. The functions below count whether it is corrected. */
MUST_CHECK enum err extraction_credits_change(struct ctx *ctx, struct store_txn *txn,
                                              struct org_id org, uint64_t seq,
                                              const struct extraction_credit_change *change);
/* Adds an extraction to the rows and sums, with the corrections in its record and the stored ones that belong
 * to it. */
MUST_CHECK enum err extraction_rows_add(struct ctx *ctx, struct store_txn *txn,
                                        struct extraction_entry *entry);
/* Removes an extraction that was added, with its corrections. */
MUST_CHECK enum err extraction_rows_remove(struct ctx *ctx, struct store_txn *txn,
                                           const struct extraction_entry *entry);
/* Marks the extraction to which a correction belongs as corrected, and counts the extraction and each corrected
 * field once. Does nothing if the correction names neither document nor draft order, or if its extraction is
 * not recorded. */
MUST_CHECK enum err extraction_rows_correct(struct ctx *ctx, struct store_txn *txn,
                                            const struct event *event,
                                            const struct feedback_event_view *view);
/* Removes a retracted correction, and its counts, from the extractions that it marked. */
MUST_CHECK enum err extraction_rows_uncorrect(struct ctx *ctx, struct store_txn *txn,
                                              const struct event *event,
                                              const struct feedback_event_view *view);

/* Finds the current extraction of an id. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err extraction_rows_find_key(struct store_txn *txn, struct org_id org,
                                             enum extraction_key_kind kind, struct slice id,
                                             uint64_t *ret_seq);
/* Finds the newest extraction of a document (SUBJECT_DOCUMENT) or draft order (SUBJECT_DRAFT_ORDER).
 * ERR_NOT_FOUND if there is none, or the id is empty. */
MUST_CHECK enum err extraction_rows_find_newest(struct store_txn *txn, struct org_id org,
                                                enum subject_kind kind, struct slice id,
                                                uint64_t *ret_seq);
/* Returns the document of the newest extraction of a draft order, in the arena; empty if there is no such
 * extraction or it names no document. */
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
