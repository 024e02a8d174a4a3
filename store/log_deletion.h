/*
 * log_deletion.h: organisations that are being deleted. Their rows disappear little by little, the log's events among
 * them, so a mark in the table META comes first: from then on nothing is appended to the log, no write of the
 * organisation runs, and a replay leaves the log out. The mark goes with the last row. It is not in any log, since it
 * says which logs are whole; a rebuild carries it over, and a backup has it.
 */
#ifndef ERRATA_STORE_LOG_DELETION_H
#define ERRATA_STORE_LOG_DELETION_H

#include "store/log.h"

/* A mark. */
struct log_deletion {
    struct org_id org; /* the organisation that is being deleted */
    struct org_id audit_org; /* whose log records the deletion */
    uint64_t audit_seq; /* the event there that began it; not 0 */
    uint64_t row_count; /* rows deleted so far */
};

/* Returns whether an organisation is being deleted. */
MUST_CHECK enum err log_deletion_is_marked(struct store_txn *txn, struct org_id org,
                                           bool *ret_is_marked);
/* Reads the mark of an organisation. ERR_NOT_FOUND if it is not being deleted. */
MUST_CHECK enum err log_deletion_read(struct store_txn *txn, struct org_id org,
                                      struct log_deletion *ret_deletion);
/* Reads the first mark of an organisation after `after` (NULL: of all). ERR_NOT_FOUND after the last. */
MUST_CHECK enum err log_deletion_next(struct store_txn *txn, const struct uuid *after,
                                      struct log_deletion *ret_deletion);
/* Puts or replaces the mark. */
MUST_CHECK enum err log_deletion_put(struct ctx *ctx, struct store_txn *txn,
                                     const struct log_deletion *deletion);
/* Removes the mark, after the last row. */
MUST_CHECK enum err log_deletion_end(struct store_txn *txn, struct org_id org);

/* Rows that a step deletes, at most; the caller may allow fewer. */
#define LOG_DELETION_ROWS_MAX 1000

/* Where a deletion goes on. Zeroed: at the first row. Without it each step would read again what a journal says of the
 * rows that were deleted before. */
struct log_deletion_position {
    size_t table; /* tables before it have no rows of the organisation */
    struct key after; /* nor has this one up to this key; size 0: it was not read */
};

/* Deletes up to `rows_max` rows of an organisation from the tables, beginning at the position, which becomes the one to
 * go on with. Returns their number; 0: none is left from there on. */
MUST_CHECK enum err log_deletion_delete_rows(struct ctx *ctx, struct store_txn *txn,
                                             struct org_id org, size_t rows_max,
                                             struct log_deletion_position *position,
                                             size_t *ret_count);
/* Returns whether a table, or any, has a row of the organisation. */
MUST_CHECK enum err log_deletion_table_has_rows(struct store_txn *txn, struct org_id org,
                                                enum store_table table, bool *ret_has);
MUST_CHECK enum err log_deletion_has_rows(struct store_txn *txn, struct org_id org, bool *ret_has);

#endif
