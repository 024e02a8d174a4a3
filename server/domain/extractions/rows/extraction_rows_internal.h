/*
 * extraction_rows_internal.h: what the files of this folder share.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_INTERNAL_H

#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "store/scan.h"

/* The place of an extraction among those of a document or draft order. */
struct extraction_place {
    int64_t served_at_us;
    uint64_t seq;
};

/* Reads the first row of a range of TABLE_EXTRACTION_SUBJECT. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err extraction_find_first(struct store_txn *txn, const struct scan_range *range,
                                          struct extraction_place *ret_place);
/* Reads an extraction's row, borrowed from the transaction. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err extraction_row_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                        struct extraction_record *ret_record);
MUST_CHECK enum err extraction_row_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         const struct extraction_record *record);
/* What the sums need of a row; its layout is borrowed from it. */
struct counted_extraction extraction_counted(struct org_id org,
                                             const struct extraction_record *record);
/* What is counted of a row's corrections: no more fields than it reported. */
struct counted_corrections extraction_counted_corrections(const struct extraction_record *record);
/* Corrections of an extraction before and after a change. */
struct corrections_change {
    struct counted_corrections before;
    struct counted_corrections after;
};

/* Counts a change of the corrections of an extraction, for its layout and for the artifacts that it cites. */
MUST_CHECK enum err extraction_change_corrected(struct ctx *ctx, struct store_txn *txn,
                                                const struct extraction_record *record,
                                                const struct counted_extraction *counted,
                                                const struct corrections_change *corrections);
/* Returns whether a correction marks the row. */
bool extraction_record_has(const struct extraction_record *record, uint64_t correction_seq);
/* Removes all corrections from a row. */
void extraction_record_clear(struct extraction_record *record);
/* Adds a correction to a row, up to RECORD_CORRECTIONS_MAX; each field that is new to it once, up to
 * RECORD_CORRECTED_FIELDS_MAX. */
void extraction_record_correct(struct extraction_record *record, uint64_t seq,
                               const struct feedback_event_view *view);

/* Finds the neighbours of an extraction that was just added, and takes the corrections that belong to it:
 * writes its row, and those of neighbours that lose a correction to it. `before` is what is counted of it. */
MUST_CHECK enum err extraction_marks_take(struct ctx *ctx, struct store_txn *txn,
                                          struct extraction_entry *entry,
                                          const struct counted_corrections *before);
/* Gives the corrections of an extraction that was just removed to those that were served before it. */
MUST_CHECK enum err extraction_marks_give(struct ctx *ctx, struct store_txn *txn,
                                          const struct extraction_entry *entry);

/* Puts a row for each correction in the record of an extraction that is added: it was taken over from the one
 * that the extraction replaces, whose document and draft order may be others. */
MUST_CHECK enum err extraction_kept_put(struct store_txn *txn,
                                        const struct extraction_entry *entry);
/* Removes those rows. */
MUST_CHECK enum err extraction_kept_remove(struct store_txn *txn,
                                           const struct extraction_entry *entry);

#endif
