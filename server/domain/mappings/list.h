/*
 * list.h: one page of mappings, in the order of the first KEY_SKU_BYTES of their folded customer SKUs, then of
 * creation. Lists of an internal SKU, of a customer and of all mappings have an index each; other filters
 * examine a bounded number of its rows per page.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_LIST_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_LIST_H

#include "server/domain/mappings/rows.h"
#include "store/id_prefix.h"

#include <errata/v1/sku_mapping.fields.h>

struct mapping_list {
    struct org_id org;
    struct slice customer_id; /* empty: all customers */
    enum mapping_status status; /* UNSPECIFIED: any status */
    struct slice folded_internal_sku; /* empty: any internal SKU */
    struct slice folded_prefix; /* prefix of the customer SKU; empty: any */
    struct id_prefix id_prefix; /* if it has digits: only mappings with this id prefix, by id */
    struct page *page;
};

MUST_CHECK enum err mapping_list_begin(struct store_txn *txn, const struct mapping_list *list);
/* Returns the next mapping, borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err mapping_list_next(struct arena *arena, struct store_txn *txn,
                                      const struct mapping_list *list, struct mapping_row *ret_row);

#endif
