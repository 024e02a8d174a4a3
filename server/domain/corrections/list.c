/*
 * list.c: see list.h. A list compares the next event of both orders, and returns the newer one if it passes the
 * filter. The position of the last passed event is the start of the next page.
 */
#include "server/domain/corrections/list.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"

/* A page token's position: the next event of the log, and the last one of the index by its time and seq. */
#define LIST_PLACE_BYTES 24

static bool asks(struct slice wanted, struct slice found)
{
    return wanted.size > 0 && !slice_equal(wanted, found);
}

static bool has_field(const struct feedback_event_view *view, struct slice name)
{
    struct slice names = view->fields_changed.run;
    struct slice found = {NULL, 0};

    while (view_next(&names, &found)) {
        if (slice_equal(found, name)) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct list_filter *filter, const struct event *event,
                      const struct feedback_event_view *view)
{
    if ((filter->event_type != FEEDBACK_EVENT_TYPE_UNSPECIFIED &&
         filter->event_type != view->event_type) ||
        event->created_at_us < filter->start_us || event->created_at_us >= filter->end_us) {
        return false;
    }
    if (filter->annotator_kind != ANNOTATOR_KIND_UNSPECIFIED &&
        filter->annotator_kind != (enum annotator_kind)event->annotator) {
        return false;
    }
    if (filter->exclude_mapping_events &&
        (view->event_type == FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED ||
         view->event_type == FEEDBACK_EVENT_TYPE_MAPPING_REJECTED)) {
        return false;
    }
    return !asks(filter->layout_fingerprint, view->layout_fingerprint) &&
           !asks(filter->draft_order_id, view->draft_order_id) &&
           !asks(filter->document_id, view->document_id) &&
           !asks(filter->entity_type, view->entity_type) &&
           !asks(filter->entity_id, view->entity_id) &&
           !asks(filter->actor_user_id, event->actor_user_id) &&
           (filter->field.size == 0 || has_field(view, filter->field));
}

/* Reads the next event of the index. ERR_NOT_FOUND at the end of the page. */
static enum err fill_indexed(struct store_txn *txn, struct feedback_list *list)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = OK;

    if (list->has_indexed || list->index_ended) {
        return OK;
    }
    if (!page_look(list->page)) {
        return ERR_NOT_FOUND;
    }
    err = scan_next(&list->page->scan, &key, &value);
    if (err == OK) {
        err = key_read_newest_first(key, &created_at_us, &seq);
    }
    if (err == ERR_NOT_FOUND || (err == OK && created_at_us < list->filter->start_us)) {
        list->index_ended = true;
        return OK;
    }
    if (err == OK) {
        err = log_read(txn, list->org, seq, &list->indexed);
    }
    list->has_indexed = err == OK;
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Reads the event at the position into `logged`, and the one before it into `below`, each once. */
static enum err read_logged(struct store_txn *txn, struct feedback_list *list)
{
    uint64_t seq = list->log_seq;
    enum err err = OK;

    if (list->has_below && list->below.seq == seq) {
        list->logged = list->below;
    } else {
        err = log_read(txn, list->org, seq, &list->logged);
    }
    list->has_below = false;
    if (err == OK && seq > 1) {
        err = log_read(txn, list->org, seq - 1, &list->below);
        list->has_below = err == OK;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Moves to the first of the events with the recorded_at of `logged`; all events after it are backdated. There
 * may be years of them if a clock was years ahead. */
static enum err skip_apart(struct store_txn *txn, struct feedback_list *list)
{
    enum err err = log_seq_at(txn, list->org, list->logged.recorded_at_us - 1, &list->log_seq);

    list->log_seq++;
    return err;
}

/* Reads the next event of the log that is not backdated; backdated ones come from the index. ERR_NOT_FOUND at
 * the end of the page. */
static enum err fill_logged(struct store_txn *txn, struct feedback_list *list)
{
    const struct event *logged = &list->logged;

    while (!list->has_logged && list->log_seq > 0) {
        enum err err = page_look(list->page) ? read_logged(txn, list) : ERR_NOT_FOUND;

        if (err == OK && logged->recorded_at_us < list->filter->start_us) {
            list->log_seq = 0;
        } else if (err == OK && list->has_below &&
                   list->below.recorded_at_us == logged->recorded_at_us) {
            err = skip_apart(txn, list);
        } else if (err == OK &&
                   (logged->source == SOURCE_BACKFILL || logged->kind != EVENT_FEEDBACK)) {
            list->log_seq--;
        } else {
            list->has_logged = err == OK;
        }
        if (err != OK) {
            return err;
        }
    }
    return OK;
}

static bool is_newer(const struct event *a, const struct event *b)
{
    return a->created_at_us != b->created_at_us ? a->created_at_us > b->created_at_us
                                                : a->seq > b->seq;
}

/* Passes the newer of the next events of both orders. */
static const struct event *pass_newer(struct feedback_list *list)
{
    if (list->has_logged && (!list->has_indexed || is_newer(&list->logged, &list->indexed))) {
        list->log_seq--;
        list->has_logged = false;
        return &list->logged;
    }
    list->index_created_at_us = list->indexed.created_at_us;
    list->index_seq = list->indexed.seq;
    list->has_indexed = false;
    return &list->indexed;
}

static struct key place_of(const struct feedback_list *list)
{
    struct key place = {.size = 0};

    key_put_be64(&place, list->log_seq);
    key_put_be64(&place, (uint64_t)list->index_created_at_us);
    key_put_be64(&place, list->index_seq);
    return place;
}

/* Returns the next event of both orders, whether it passes the filter or not; `ret_before` is the position
 * before it. ERR_NOT_FOUND at the end of the list or of the page. */
static enum err next_event(struct store_txn *txn, struct feedback_list *list,
                           struct key *ret_before, const struct event **ret_event)
{
    enum err err = fill_indexed(txn, list);

    if (err == OK) {
        err = fill_logged(txn, list);
    }
    *ret_before = place_of(list);
    if (err == OK && !list->has_logged && !list->has_indexed) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        *ret_event = pass_newer(list);
    }
    return err;
}

/* Returns the next event of both orders that passes the filter. */
static enum err next_in_order(struct store_txn *txn, struct feedback_list *list,
                              const struct event **ret_event, struct feedback_event_view *ret_view)
{
    struct key before = {.size = 0};
    enum err err = page_keep(list->page) ? OK : ERR_NOT_FOUND;
    bool wanted = false;

    if (err != OK) {
        return err;
    }
    while (err == OK && !wanted) {
        err = next_event(txn, list, &before, ret_event);
        if (err == OK && (*ret_event)->kind == EVENT_FEEDBACK) {
            err = feedback_view_read(*ret_event, ret_view);
            wanted = err == OK && is_wanted(list->filter, *ret_event, ret_view);
        }
    }
    list->place = place_of(list);
    if (err == OK && !page_begin(list->page, key_slice(&list->place))) {
        err = ERR_NOT_FOUND;
    }
    if (err == ERR_NOT_FOUND) {
        list->page->last = before; /* events passed since the last item are not examined again */
    }
    return err;
}

static bool by_id(const struct feedback_list *list)
{
    return list->filter->id_prefix.digit_count > 0;
}

/* Returns the next event whose id has the prefix. */
static enum err next_by_id(struct store_txn *txn, struct feedback_list *list,
                           struct feedback_event_view *ret_view)
{
    bool wanted = false;

    while (!wanted) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        uint64_t seq = 0;
        enum err err = id_prefix_next_row(&list->filter->id_prefix, list->page, &key, &value);

        if (err != OK) {
            return err;
        }
        err = log_read_id_row(value, &seq);
        if (err == OK) {
            err = log_read(txn, list->org, seq, &list->indexed);
        }
        if (err == OK && list->indexed.kind == EVENT_FEEDBACK) {
            err = feedback_view_read(&list->indexed, ret_view);
            wanted = err == OK && is_wanted(list->filter, &list->indexed, ret_view);
        }
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
    }
    return OK;
}

enum err feedback_list_next(struct store_txn *txn, struct feedback_list *list,
                            const struct event **ret_event, struct feedback_event_view *ret_view)
{
    if (by_id(list)) {
        *ret_event = &list->indexed;
        return next_by_id(txn, list, ret_view);
    }
    return next_in_order(txn, list, ret_event, ret_view);
}

/* Chooses the index with the fewest rows: a document or an order has a few events, a layout may have thousands.
 */
static enum feedback_source choose_source(const struct list_filter *filter)
{
    if (filter->document_id.size > 0) {
        return FEEDBACK_OF_DOCUMENT;
    }
    if (filter->draft_order_id.size > 0) {
        return FEEDBACK_OF_DRAFT_ORDER;
    }
    return filter->layout_fingerprint.size > 0 ? FEEDBACK_OF_LAYOUT : FEEDBACK_OF_LOG;
}

/* The rows of the list's index: a table and a key prefix. Keys end with time and seq. */
static struct scan_range index_range(const struct feedback_list *list)
{
    const struct list_filter *filter = list->filter;
    struct scan_range range = {.table = TABLE_FEEDBACK_SUBJECT};

    switch (list->source) {
    case FEEDBACK_OF_DOCUMENT:
        range.prefix =
            key_feedback_subject_prefix(list->org, SUBJECT_DOCUMENT, filter->document_id);
        break;
    case FEEDBACK_OF_DRAFT_ORDER:
        range.prefix =
            key_feedback_subject_prefix(list->org, SUBJECT_DRAFT_ORDER, filter->draft_order_id);
        break;
    case FEEDBACK_OF_LAYOUT:
        range.table = TABLE_SUBJECT;
        range.prefix = key_subject_prefix(list->org, SUBJECT_LAYOUT, filter->layout_fingerprint);
        break;
    case FEEDBACK_OF_LOG:
        range.table = TABLE_BACKFILL;
        range.prefix = key_org(list->org);
        break;
    }
    return range;
}

/* Starts after the last passed row, or at the newest row that can pass the filter. */
static enum err open_index(struct store_txn *txn, const struct feedback_list *list)
{
    int64_t end_us = list->filter->end_us;
    int64_t last_us = end_us == INT64_MAX ? INT64_MAX : end_us - 1;
    struct scan_range range = index_range(list);
    struct key after = range.prefix;

    if (list->index_seq != 0) {
        key_put_newest_first(&after, list->index_created_at_us, list->index_seq);
    } else {
        key_put_newest_first(&after, last_us, UINT64_MAX); /* no row has this seq */
    }
    range.after = key_slice(&after);
    return page_open(list->page, txn, &range);
}

/* The first page starts at the log's end, or at the last event before the filter's end. The other indexes have
 * all events of their lists, so those lists do not read the log. */
static enum err start_log(struct store_txn *txn, struct feedback_list *list)
{
    struct log_head head = {0};
    enum err err = OK;

    if (list->source != FEEDBACK_OF_LOG) {
        return OK;
    }
    if (list->filter->end_us != INT64_MAX) {
        return log_seq_at(txn, list->org, list->filter->end_us - 1, &list->log_seq);
    }
    err = log_read_head(txn, list->org, &head);
    list->log_seq = head.last_seq;
    return err;
}

/* Continues where the previous page ended. */
static enum err read_place(struct slice place, struct feedback_list *list)
{
    if (UNEXPECTED(place.size != LIST_PLACE_BYTES)) {
        return ERR_INTERNAL; /* the page token must be of this list */
    }
    list->log_seq = bytes_get_be64(place.data);
    list->index_created_at_us = (int64_t)bytes_get_be64(place.data + 8);
    list->index_seq = bytes_get_be64(place.data + 16);
    return OK;
}

enum err feedback_list_begin(struct store_txn *txn, struct feedback_list *list)
{
    enum err err = OK;

    if (by_id(list)) {
        return id_prefix_open_page(&list->filter->id_prefix, txn, TABLE_EVENT_ID,
                                   key_org(list->org), list->page);
    }
    list->source = choose_source(list->filter);
    err = list->page->after.size > 0 ? read_place(list->page->after, list) : start_log(txn, list);
    return err != OK ? err : open_index(txn, list);
}
