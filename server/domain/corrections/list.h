/*
 * list.h: stored feedback events as answers: one by its id, or many, newest first by created_at, then
 * seq. By layout they come from the subject index, where each event that names a layout stands.
 * Everything else merges two orders that are there anyway: the log from its end, for events that are
 * dated as they were recorded, and the index of those that are not (event_is_apart in store/log.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_LIST_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_LIST_H

#include "server/domain/events/feedback.h"

/* Rows that one call examines at most; a page may be short, or empty, and still go on. */
#define LIST_ROWS_MAX 2000
/* A page ends before it is larger than this, but has at least one event. */
#define LIST_PAGE_BYTES_MAX (1u << 20)

/* How much of an event is answered. */
enum list_detail {
    LIST_STORED, /* facts and content */
    LIST_WITH_DIFF /* and the diff made from them */
};

/* What an event must be; empty and unspecified members ask nothing. */
struct list_filter {
    enum feedback_event_type event_type;
    struct slice layout_fingerprint;
    struct slice draft_order_id;
    struct slice document_id;
    struct slice entity_type;
    struct slice entity_id;
    struct slice actor_user_id;
    struct slice field;
    int64_t start_us; /* created_at at or after it; INT64_MIN: any */
    int64_t end_us; /* created_at before it; INT64_MAX: any */
};

/* Where a list goes on. Both ways of reading it are in the order of (created_at, seq). */
struct list_place {
    uint64_t log_seq; /* the next of the log to look at, downwards; 0: none left */
    int64_t index_created_at_us; /* the last row of the index that was passed; */
    uint64_t index_seq; /* 0: none yet */
};

struct list_page {
    const struct list_filter *filter;
    struct org_id org;
    uint32_t page_size; /* from 1 */
    enum list_detail detail;
    bool has_place; /* `place` says where the page before ended */
    struct list_place place;
};

/* Appends an event as field `field`: its stored runs as they are, then its diff. */
MUST_CHECK enum err list_append_event(struct ctx *ctx, uint32_t field, const struct event *event,
                                      enum list_detail detail, struct buffer *body);
/* Appends the events of one page. `ret_more` tells that the list goes on at page->place. */
MUST_CHECK enum err list_write(struct ctx *ctx, struct store_txn *txn, struct list_page *page,
                               struct buffer *body, bool *ret_more);

#endif
