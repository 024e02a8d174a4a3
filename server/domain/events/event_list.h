/*
 * event_list.h: lists an organisation's events, newest first: all events, or those of one kind or
 * about one subject, or those of the audit.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_EVENT_LIST_H
#define ERRATA_SERVER_DOMAIN_EVENTS_EVENT_LIST_H

#include "server/domain/events/subject.h"
#include "store/id_prefix.h"

struct event_list {
    struct org_id org;
    uint32_t kind; /* kind of the events; 0: any */
    bool audited; /* list only administrative and rule-changing events */
    struct slice actor_user_id; /* list only events by this user; empty: by any user */
    bool by_subject; /* list only events about `subject` */
    struct event_subject subject;
    struct id_prefix
        id_prefix; /* if it has digits: list only events with this id prefix, by id, oldest first */
    struct page *page;
};

MUST_CHECK enum err event_list_begin(struct store_txn *txn, const struct event_list *list);
/* Returns the next event, borrowed from the transaction. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err event_list_next(struct store_txn *txn, const struct event_list *list,
                                    struct event *ret_event);

#endif
