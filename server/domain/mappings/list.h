/*
 * list.h: one page of mappings: a customer's in the order of their folded SKUs, as far as the first
 * KEY_SKU_BYTES tell them apart, then in the order in which they were made; all customers' customer by
 * customer. What the order does not know is found by walking it, a bounded number of rows a page.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_LIST_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_LIST_H

#include "server/domain/mappings/change.h"

struct mapping_list {
    struct org_id org;
    struct slice customer_id; /* empty: all customers' */
    enum mapping_status status; /* UNSPECIFIED: any */
    struct slice folded_prefix; /* of the customer SKU; empty: any */
    uint32_t page_size; /* from 1 */
    struct slice after; /* `last` of the page before; empty: the first page */
    struct key last; /* the last row that this page looked at */
};

/* Appends the mappings of one page. `ret_more` tells that the list may go on behind list->last. */
MUST_CHECK enum err mapping_list_write(struct arena *arena, struct store_txn *txn,
                                       struct mapping_list *list, struct buffer *body,
                                       bool *ret_more);

#endif
