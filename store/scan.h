/*
 * scan.h: a bounded scan of the rows of a prefix. It examines a limited number of rows and reports
 * whether there are more. Pages of lists (page.h) are based on it.
 */
#ifndef ERRATA_STORE_SCAN_H
#define ERRATA_STORE_SCAN_H

#include "store/key.h"

/* The range of rows to scan. */
struct scan_range {
    enum store_table table;
    struct key prefix;
    enum store_order order;
    /* Begins with the prefix: only rows after this key, in the order of the scan. Empty: all. */
    struct slice after;
    uint32_t rows_max; /* maximum number of rows, from 1 */
};

struct scan {
    struct store_cursor cursor;
    uint32_t rows_max;
    uint32_t row_count; /* number of returned rows */
    bool is_cut; /* the scan ended at rows_max, and there is another row */
};

/* Starts a scan. ERR_INTERNAL if `after` does not begin with the prefix. */
MUST_CHECK enum err scan_init(struct scan *scan, struct store_txn *txn,
                              const struct scan_range *range);
/* Returns the next row, borrowed from the transaction. ERR_NOT_FOUND after the last one, or after
 * rows_max; ERR_CORRUPT for an invalid key. */
MUST_CHECK enum err scan_next(struct scan *scan, struct slice *ret_key, struct slice *ret_value);
/* Accepts a zeroed scan too. */
void scan_deinit(struct scan *scan);

#endif
