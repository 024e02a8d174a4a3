/*
 * list.h: one page of reviews, including retracted ones, newest first by created_at, then seq: those of
 * a run, of a subcategory, or all. A list by id is in the order of the ids, which is that of the log.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_LIST_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_LIST_H

#include "store/id_prefix.h"
#include "store/log.h"

#include <errata/v1/review.views.h>

/* Selects reviews; empty and unspecified members match any. */
struct review_list {
    struct org_id org;
    struct slice run_id;
    struct slice subcategory;
    enum review_decision decision;
    struct slice reviewed_by;
    int64_t start_us; /* created_at at or after it; INT64_MIN: any */
    int64_t end_us; /* created_at before it; INT64_MAX: any */
    struct id_prefix id_prefix; /* if it has digits: only reviews with such ids */
    struct page *page;
};

MUST_CHECK enum err review_list_begin(struct store_txn *txn, const struct review_list *list);
/* Reads the next review and its event, borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err review_list_next(struct store_txn *txn, const struct review_list *list,
                                     struct event *ret_event, struct review_view *ret_view);

#endif
