/*
 * list.h: lists turns, newest first: all, those of a session, or those with a status.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_LIST_H
#define ERRATA_SERVER_DOMAIN_TURNS_LIST_H

#include "server/domain/turns/turns.h"
#include "store/page.h"

struct turn_list {
    struct org_id org;
    struct slice session_id; /* empty: any */
    enum turn_status status; /* UNSPECIFIED: any */
    struct page *page;
};

MUST_CHECK enum err turn_list_begin(struct store_txn *txn, const struct turn_list *list);
/* Returns the next turn. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err turn_list_next(struct store_txn *txn, const struct turn_list *list,
                                   struct turn_record *ret_record);

#endif
