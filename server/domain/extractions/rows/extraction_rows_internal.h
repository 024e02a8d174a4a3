/*
 * extraction_rows_internal.h: functions shared by the files of this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_EXTRACTION_ROWS_INTERNAL_H

#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "store/scan.h"

/* The position of an extraction among those of a document or draft order. */
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
/* The values of a row on which the sums depend; its layout is borrowed from the row. */
struct counted_extraction extraction_counted(struct org_id org,
                                             const struct extraction_record *record);
/* The counted corrections of a row: at most as many fields as the extraction reported. */
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
/* Adds a correction to a row, up to RECORD_CORRECTIONS_MAX, and each field that the row does not have yet, up
 * to RECORD_CORRECTED_FIELDS_MAX. */
void extraction_record_correct(struct extraction_record *record, uint64_t seq,
                               const struct feedback_event_view *view);

/* Finds the neighbours of an extraction that was just added, and assigns to it the corrections that belong to
 * it: writes its row and those of neighbours that lose a correction. `before` is the part that is already
 * counted. */
MUST_CHECK enum err extraction_marks_take(struct ctx *ctx, struct store_txn *txn,
                                          struct extraction_entry *entry,
                                          const struct counted_corrections *before);
/* Assigns the corrections of an extraction that was just removed to the extractions that were served before it.
 */
MUST_CHECK enum err extraction_marks_give(struct ctx *ctx, struct store_txn *txn,
                                          const struct extraction_entry *entry);

/* Puts a row for each correction that an added extraction took over from the one that it replaces, since that
 * one may name another document and draft order. */
MUST_CHECK enum err extraction_kept_put(struct store_txn *txn,
                                        const struct extraction_entry *entry);
/* Removes those rows. */
MUST_CHECK enum err extraction_kept_remove(struct store_txn *txn,
                                           const struct extraction_entry *entry);

#endif
