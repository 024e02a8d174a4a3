/*
 * extraction_rows.h: the rows of extractions: each one with its corrections, the one that is recorded under
 * an id, and those of each document and draft order; and what is summed over them. Extractions write them,
 * corrections mark them; only apply changes them. A folder of its own, since corrections are between these
 * rows and the rest of extractions, which credit examples.
 *
 * The extractions of a document or draft order are ordered by the time at which their examples were served.
 * A correction belongs to the newest that was served before it, whichever of both was recorded first.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_H

#include "server/domain/extractions/rows/keys.h"
#include "server/domain/extractions/rows/records.h"
#include "store/log.h"

#include <errata/v1/feedback_event.views.h>

/* One extraction: its row, and what the facts of its event say of its place among others. */
struct extraction_entry {
    struct org_id org;
    struct extraction_record record;
    uint32_t confidence_millionths;
    enum extraction_key_kind key_kind;
    struct slice key_id; /* empty: it has no key */
    struct slice document_id; /* empty: none; as are those below */
    struct slice draft_order_id;
    int64_t served_at_us;
    int64_t
        corrected_from_us; /* corrections from then on mark it, if no other extraction was served before */
};

/* Reads the entry of an EVENT_EXTRACTION_RECORDED, without any correction, borrowed from the event. ERR_CORRUPT
 * for other events. */
MUST_CHECK enum err extraction_entry_of_event(const struct event *event,
                                              struct extraction_entry *ret_entry);
/* Reads the entry of a stored extraction with its corrections, in the arena. ERR_NOT_FOUND for one that was
 * replaced, or does not exist. */
MUST_CHECK enum err extraction_entry_read(struct arena *arena, struct store_txn *txn,
                                          struct org_id org, uint64_t seq,
                                          struct extraction_entry *ret_entry);

/* What an extraction changes about each artifact of the exposures that it cites: -1, 0 or 1. */
struct extraction_credit_change {
    int outcomes;
    int bad; /* outcomes of extractions that were corrected */
};

/* Counts the extraction of the event `seq` as an outcome of the artifacts that it cites, each once; or subtracts it.
 * An extraction without a key counts only for exposures that no such extraction cited before, so the outcomes are kept
 * first. Whether it is corrected is counted by the functions below. */
MUST_CHECK enum err extraction_credits_change(struct ctx *ctx, struct store_txn *txn,
                                              struct org_id org, uint64_t seq,
                                              const struct extraction_credit_change *change);
/* Adds an extraction to the rows and sums: with the corrections in its record, and those that were stored
 * before and belong to it. */
MUST_CHECK enum err extraction_rows_add(struct ctx *ctx, struct store_txn *txn,
                                        struct extraction_entry *entry);
/* Removes an extraction that was added, with its corrections. */
MUST_CHECK enum err extraction_rows_remove(struct ctx *ctx, struct store_txn *txn,
                                           const struct extraction_entry *entry);
/* Marks the extraction that a correction belongs to as corrected, and counts: an extraction once, and each of
 * its fields once. Does nothing for a correction that names no document and no draft order, or whose
 * extraction is not recorded. */
MUST_CHECK enum err extraction_rows_correct(struct ctx *ctx, struct store_txn *txn,
                                            const struct event *event,
                                            const struct feedback_event_view *view);
/* Removes a retracted correction from the extractions that it marked, and its counts. */
MUST_CHECK enum err extraction_rows_uncorrect(struct ctx *ctx, struct store_txn *txn,
                                              const struct event *event,
                                              const struct feedback_event_view *view);

/* Finds the extraction that is recorded under an id. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err extraction_rows_find_key(struct store_txn *txn, struct org_id org,
                                             enum extraction_key_kind kind, struct slice id,
                                             uint64_t *ret_seq);
/* Finds the newest extraction of a document (SUBJECT_DOCUMENT) or draft order (SUBJECT_DRAFT_ORDER).
 * ERR_NOT_FOUND if there is none, or the id is empty. */
MUST_CHECK enum err extraction_rows_find_newest(struct store_txn *txn, struct org_id org,
                                                enum subject_kind kind, struct slice id,
                                                uint64_t *ret_seq);
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
