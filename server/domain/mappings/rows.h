/*
 * rows.h: rows of mappings in their tables: by number, by customer and both SKUs, by customer and
 * customer SKU, and the confirmed mapping of each customer SKU. SKUs are looked up folded
 * (text/sku.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_ROWS_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_ROWS_H

#include "server/domain/mappings/records.h"
#include "store/log.h"
#include "store/scan.h"

/* A mapping: the number of the event that created it, and its state. */
struct mapping_row {
    uint64_t seq;
    struct mapping_record record; /* slices are borrowed from the transaction */
};

/* The identity of a mapping: its customer and both SKUs, folded. */
struct mapping_pair {
    struct slice customer_id;
    struct slice folded_customer_sku;
    struct slice folded_internal_sku;
};

/* Reads a mapping by its number. ERR_NOT_FOUND for an unknown number. */
MUST_CHECK enum err mapping_row_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                     struct mapping_row *ret_row);
MUST_CHECK enum err mapping_row_write(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct mapping_row *row);
/* Reads the same row with its texts copied into the arena, so that puts do not invalidate them. */
MUST_CHECK enum err mapping_row_keep(struct arena *arena, struct mapping_row *row);
/* Finds a mapping by its customer and both SKUs. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err mapping_row_find(struct store_txn *txn, struct org_id org,
                                     const struct mapping_pair *pair, struct mapping_row *ret_row);
/* Returns whether a suggestion is preferred over another: by higher confidence, then by earlier
 * creation. */
bool mapping_row_is_surer(const struct mapping_row *row, const struct mapping_row *other);
/* Finds a mapping by its id. ERR_NOT_FOUND for an unknown id. */
MUST_CHECK enum err mapping_row_find_id(struct store_txn *txn, struct org_id org, struct uuid id,
                                        struct mapping_row *ret_row);
/* Finds the mapping that is confirmed for a customer's SKU. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err mapping_confirmed_find(struct store_txn *txn, struct org_id org,
                                           struct slice customer_id,
                                           struct slice folded_customer_sku,
                                           struct mapping_confirmed_record *ret_confirmed);
/* Folds the SKUs of a mapping, into the arena. */
MUST_CHECK enum err mapping_pair_of(struct arena *arena, const struct mapping_record *record,
                                    struct mapping_pair *ret_pair);

/* Maximum rows of one customer SKU that are scanned; usually it has a few mappings. */
#define MAPPING_SKU_ROWS_MAX 256

/* Scans the mappings of one customer SKU, of any status, in no particular order. */
MUST_CHECK enum err mapping_sku_scan_init(struct scan *scan, struct store_txn *txn,
                                          struct org_id org, struct slice customer_id,
                                          struct slice folded_customer_sku);
/* Returns the next mapping. ERR_NOT_FOUND after the last one, or after MAPPING_SKU_ROWS_MAX
 * (`scan->is_cut`). */
MUST_CHECK enum err mapping_sku_scan_next(struct scan *scan, struct org_id org,
                                          struct mapping_row *ret_row);

#endif
