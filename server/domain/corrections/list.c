/*
 * list.c: see list.h. A walk looks at one candidate after the other in the order of the answer; a page
 * ends when it is full, or when it has looked at enough, and the place of the last candidate that was
 * passed says where the next page begins.
 */
#include "server/domain/corrections/list.h"

#include "server/domain/json/diff.h"
#include "store/base/wire.h"

#include <errata/v1/feedback_service.fields.h>

/* A page that is being written. */
struct list_walk {
    struct ctx *ctx;
    struct store_txn *txn;
    struct list_page *page;
    struct buffer *body;
    size_t body_start;
    uint32_t count; /* events answered */
    uint32_t examined; /* rows looked at */
    struct store_cursor index; /* events apart from the log's order, or a layout's */
    bool index_ended;
    struct event indexed; /* the next of the index, once `has_indexed` */
    bool has_indexed;
    struct event logged; /* the next of the log that is not apart, once `has_logged` */
    bool has_logged;
    struct event below; /* the one before it in the log, of any kind, once `has_below` */
    bool has_below;
    bool full; /* the page ended before its list */
};

enum err list_append_event(struct ctx *ctx, uint32_t field, const struct event *event,
                           enum list_detail detail, struct buffer *body)
{
    struct slice content = event->content;
    struct feedback_event_view view;
    struct buffer diff = {0};
    enum err err = OK;

    buffer_init(&diff, ctx->arena, 0);
    if (detail == LIST_WITH_DIFF) {
        err = feedback_view_read(event, &view);
        if (err == OK) {
            err = diff_append(ctx->arena, FEEDBACK_EVENT_DIFF_FIELD, view.before_json,
                              view.after_json, &diff);
        }
    }
    if (err != OK) {
        return err;
    }
    wire_put_header(body, field, event->facts.size + content.size + diff.size);
    buffer_append(body, event->facts);
    buffer_append(body, content);
    buffer_append(body, buffer_slice(&diff));
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

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
    return !asks(filter->layout_fingerprint, view->layout_fingerprint) &&
           !asks(filter->draft_order_id, view->draft_order_id) &&
           !asks(filter->document_id, view->document_id) &&
           !asks(filter->entity_type, view->entity_type) &&
           !asks(filter->entity_id, view->entity_id) &&
           !asks(filter->actor_user_id, event->actor_user_id) &&
           (filter->field.size == 0 || has_field(view, filter->field));
}

/* Answers an event where it is wanted. Sets `full`, and answers nothing, where it does not fit. */
static enum err answer(struct list_walk *walk, const struct event *event)
{
    size_t before = walk->body->size;
    struct feedback_event_view view;
    enum err err = OK;

    if (event->kind != EVENT_FEEDBACK) {
        return OK;
    }
    err = feedback_view_read(event, &view);
    if (err != OK || !is_wanted(walk->page->filter, event, &view)) {
        return err;
    }
    if (walk->count == walk->page->page_size) {
        walk->full = true;
        return OK;
    }
    err = list_append_event(walk->ctx, LIST_FEEDBACK_EVENTS_RESPONSE_EVENTS_FIELD, event,
                            walk->page->detail, walk->body);
    if (err == OK && walk->count > 0 && walk->body->size - walk->body_start > LIST_PAGE_BYTES_MAX) {
        walk->body->size = before;
        walk->full = true;
        return OK;
    }
    walk->count++;
    return err;
}

/* Looking at another row ends the page where it has looked at enough. */
static bool may_examine(struct list_walk *walk)
{
    if (walk->examined == LIST_ROWS_MAX) {
        walk->full = true;
        return false;
    }
    walk->examined++;
    return true;
}

/* The next event of the index. */
static enum err fill_indexed(struct list_walk *walk)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = OK;

    if (walk->has_indexed || walk->index_ended || !may_examine(walk)) {
        return OK;
    }
    err = store_cursor_next(&walk->index, &key, &value);
    if (err == OK) {
        err = key_read_newest_first(key, &created_at_us, &seq);
    }
    if (err == ERR_NOT_FOUND || (err == OK && created_at_us < walk->page->filter->start_us)) {
        walk->index_ended = true;
        return OK;
    }
    if (err == OK) {
        err = log_read(walk->txn, walk->page->org, seq, &walk->indexed);
    }
    walk->has_indexed = err == OK;
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Reads the event at the place into `logged`, and the one before it into `below`, each once. */
static enum err read_logged(struct list_walk *walk)
{
    uint64_t seq = walk->page->place.log_seq;
    enum err err = OK;

    if (walk->has_below && walk->below.seq == seq) {
        walk->logged = walk->below;
    } else {
        err = log_read(walk->txn, walk->page->org, seq, &walk->logged);
    }
    walk->has_below = false;
    if (err == OK && seq > 1) {
        err = log_read(walk->txn, walk->page->org, seq - 1, &walk->below);
        walk->has_below = err == OK;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Goes to the first of the events that have the recorded_at of `logged`; those after it are all apart.
 * There may be years of them, if a clock was years ahead once. */
static enum err skip_apart(struct list_walk *walk)
{
    struct list_place *place = &walk->page->place;
    enum err err =
        log_seq_at(walk->txn, walk->page->org, walk->logged.recorded_at_us - 1, &place->log_seq);

    place->log_seq++;
    return err;
}

/* The next event of the log that its order places; those apart come from the index. */
static enum err fill_logged(struct list_walk *walk)
{
    struct list_place *place = &walk->page->place;

    while (!walk->has_logged && place->log_seq > 0 && may_examine(walk)) {
        const struct event *logged = &walk->logged;
        enum err err = read_logged(walk);

        if (err == OK && logged->recorded_at_us < walk->page->filter->start_us) {
            place->log_seq = 0;
        } else if (err == OK && walk->has_below &&
                   walk->below.recorded_at_us == logged->recorded_at_us) {
            err = skip_apart(walk);
        } else if (logged->source == SOURCE_BACKFILL || logged->kind != EVENT_FEEDBACK) {
            place->log_seq--;
        } else {
            walk->has_logged = true;
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

/* Answers the newer of the two candidates and passes it; false at the list's end. */
static enum err step(struct list_walk *walk, bool *ret_ended)
{
    struct list_place *place = &walk->page->place;
    bool logged =
        walk->has_logged && (!walk->has_indexed || is_newer(&walk->logged, &walk->indexed));
    enum err err = OK;

    *ret_ended = !walk->has_logged && !walk->has_indexed;
    if (*ret_ended) {
        return OK;
    }
    err = answer(walk, logged ? &walk->logged : &walk->indexed);
    if (err != OK || walk->full) {
        return err;
    }
    if (logged) {
        place->log_seq--;
        walk->has_logged = false;
    } else {
        place->index_created_at_us = walk->indexed.created_at_us;
        place->index_seq = walk->indexed.seq;
        walk->has_indexed = false;
    }
    return OK;
}

static struct key index_key(const struct list_page *page, int64_t created_at_us, uint64_t seq)
{
    if (page->filter->layout_fingerprint.size > 0) {
        return key_subject(page->org, SUBJECT_LAYOUT, page->filter->layout_fingerprint,
                           created_at_us, seq);
    }
    return key_backfill(page->org, created_at_us, seq);
}

/* Starts behind the last row that was passed, or at the newest that the filter may want. */
static enum err open_index(struct list_walk *walk)
{
    const struct list_page *page = walk->page;
    bool by_layout = page->filter->layout_fingerprint.size > 0;
    struct key prefix =
        by_layout ? key_subject_prefix(page->org, SUBJECT_LAYOUT, page->filter->layout_fingerprint)
                  : key_org(page->org);
    int64_t last_us = page->filter->end_us == INT64_MAX ? INT64_MAX : page->filter->end_us - 1;
    struct key from = index_key(page, last_us, UINT64_MAX);

    if (page->place.index_seq != 0) {
        from = index_key(page, page->place.index_created_at_us, page->place.index_seq - 1);
    }
    return store_cursor_init(&walk->index, walk->txn, by_layout ? TABLE_SUBJECT : TABLE_BACKFILL,
                             key_slice(&prefix), key_slice(&from), STORE_ASCENDING);
}

/* A first page begins at the log's end, or at the last event before the filter's. A layout's events
 * all stand in the index, so the log has nothing to add. */
static enum err start_place(struct list_walk *walk)
{
    struct list_page *page = walk->page;
    struct log_head head = {0};
    enum err err = OK;

    if (page->has_place) {
        return OK;
    }
    page->place = (struct list_place){0, 0, 0};
    if (page->filter->layout_fingerprint.size > 0) {
        return OK;
    }
    if (page->filter->end_us != INT64_MAX) {
        return log_seq_at(walk->txn, page->org, page->filter->end_us - 1, &page->place.log_seq);
    }
    err = log_read_head(walk->txn, page->org, &head);
    page->place.log_seq = head.last_seq;
    return err;
}

enum err list_write(struct ctx *ctx, struct store_txn *txn, struct list_page *page,
                    struct buffer *body, bool *ret_more)
{
    struct list_walk *walk = arena_calloc(ctx->arena, 1, sizeof(*walk));
    bool ended = false;
    enum err err = OK;

    if (walk == NULL) {
        return ERR_MEMORY;
    }
    walk->ctx = ctx;
    walk->txn = txn;
    walk->page = page;
    walk->body = body;
    walk->body_start = body->size;
    err = start_place(walk);
    if (err == OK) {
        err = open_index(walk);
    }
    while (err == OK && !walk->full && !ended) {
        err = fill_indexed(walk);
        if (err == OK && !walk->full) {
            err = fill_logged(walk);
        }
        if (err == OK && !walk->full) {
            err = step(walk, &ended);
        }
    }
    store_cursor_deinit(&walk->index);
    if (err == OK) {
        *ret_more = walk->full;
    }
    return err;
}
