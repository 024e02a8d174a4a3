/*
 * items.h: the items of runs. The latest item of a run was stored last, by an event of its own or
 * with a review that was not retracted. The example item of a subcategory is the most recently
 * stored among the latest items of its reviewed runs.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_ITEMS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_ITEMS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/reviews/window.h"
#include "store/log.h"

/* The item to store. */
struct run_item_request {
    struct org_id org;
    struct event_caller caller;
    struct slice actor_user_id;
    struct slice run_id;
    struct slice item_id; /* empty: none */
    struct event_time time;
    struct slice item_json;
};

/* Appends and applies the item. ERR_INVALID for an invalid time, ERR_DENIED if the caller lacks a permission. */
MUST_CHECK enum err run_item_put(struct ctx *ctx, struct store_txn *txn,
                                 const struct run_item_request *request, uint64_t *ret_seq);
MUST_CHECK enum err run_item_apply(struct ctx *ctx, struct store_txn *txn,
                                   const struct event *event);
/* Records that an event has an item of the run; `retracted_seq` is that of its retraction, or 0. */
MUST_CHECK enum err run_item_enter(struct store_txn *txn, struct org_id org,
                                   const struct review_run_hash *run, uint64_t seq,
                                   uint64_t retracted_seq);
/* Returns the number of the event that has the latest item of a run as it was after `as_of_seq`; 0: there is none. */
MUST_CHECK enum err run_item_latest(struct store_txn *txn, struct org_id org,
                                    const struct review_run_hash *run, uint64_t as_of_seq,
                                    uint64_t *ret_seq);
/* Returns the number of the event that has the example item of the query's subcategory; 0: there is none. A past one is
 * searched among all reviews of the subcategory. ERR_CANCELLED. */
MUST_CHECK enum err run_item_example(struct arena *arena, struct store_txn *txn,
                                     const struct review_window_query *query, uint64_t *ret_seq);
/* Reads the item of an event; empty if its content was removed. Borrowed from the transaction. */
MUST_CHECK enum err run_item_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                  struct slice *ret_item_json);

#endif
