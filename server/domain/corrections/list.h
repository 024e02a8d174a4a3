/*
 * list.h: lists stored feedback events, newest first by created_at, then seq. The events of a document, a draft
 * order or a layout are read from an index that has all of them. Other lists merge two orders: the log in
 * reverse, for events with created_at equal to recorded_at, and the index of the other events (event_is_apart
 * in store/log.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_LIST_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_LIST_H

#include "server/domain/events/feedback.h"
#include "store/id_prefix.h"

#include <errata/v1/annotator_kind.fields.h>

/* Selects events; empty and unspecified members match any. */
struct list_filter {
    enum feedback_event_type event_type;
    struct slice layout_fingerprint;
    struct slice draft_order_id;
    struct slice document_id;
    struct slice entity_type;
    struct slice entity_id;
    struct slice actor_user_id;
    struct slice field;
    bool exclude_mapping_events;
    enum annotator_kind annotator_kind;
    struct id_prefix
        id_prefix; /* if it has digits: only events with such ids, by id, oldest first */
    int64_t start_us; /* created_at at or after it; INT64_MIN: any */
    int64_t end_us; /* created_at before it; INT64_MAX: any */
};

/* The source of a list's events. */
enum feedback_source {
    FEEDBACK_OF_DOCUMENT,
    FEEDBACK_OF_DRAFT_ORDER,
    FEEDBACK_OF_LAYOUT,
    FEEDBACK_OF_LOG, /* the log and TABLE_BACKFILL, merged */
};

/* The read positions of both orders. Their rows are sorted by (created_at, seq). */
struct feedback_list {
    const struct list_filter *filter;
    struct org_id org;
    struct page *page;
    /* While it is read: */
    enum feedback_source source;
    uint64_t log_seq; /* the next event of the log, in descending order; 0: none left */
    int64_t index_created_at_us; /* the last passed row of the index; */
    uint64_t index_seq; /* 0: none yet */
    bool index_ended;
    bool has_indexed; /* `indexed` is the next event of the index */
    bool has_logged; /* `logged` is the next event of the log that is not backdated */
    bool has_below; /* `below` is the event before it in the log, of any kind */
    struct event indexed;
    struct event logged;
    struct event below;
    struct key place; /* position after the last returned event */
};

MUST_CHECK enum err feedback_list_begin(struct store_txn *txn, struct feedback_list *list);
/* Reads the next event and its view, which are valid until the next call. ERR_NOT_FOUND at the end of the page.
 */
MUST_CHECK enum err feedback_list_next(struct store_txn *txn, struct feedback_list *list,
                                       const struct event **ret_event,
                                       struct feedback_event_view *ret_view);

#endif
