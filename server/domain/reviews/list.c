/*
 * list.c: see list.h.
 */
#include "server/domain/reviews/list.h"

#include "server/domain/reviews/keys.h"
#include "store/keys.h"

static bool by_id(const struct review_list *list)
{
    return list->id_prefix.digit_count > 0;
}

/* Starts a list at the newest review before its end, if there is one. */
static struct slice first_after(const struct review_list *list, struct key *first)
{
    if (list->page->after.size > 0 || list->end_us == INT64_MAX) {
        return list->page->after;
    }
    key_put_newest_first(first, list->end_us, 0);
    return key_slice(first);
}

enum err review_list_begin(struct store_txn *txn, const struct review_list *list)
{
    struct scan_range range = {.table = TABLE_REVIEW_TIME, .prefix = key_org(list->org)};
    struct review_run_hash run;
    struct key first;

    if (by_id(list)) {
        return id_prefix_open_page(&list->id_prefix, txn, TABLE_EVENT_ID, key_org(list->org),
                                   list->page);
    }
    if (list->run_id.size > 0) {
        run = review_run_hash_of(list->run_id);
        range.table = TABLE_REVIEW;
        range.prefix = key_review_prefix(list->org, &run);
    } else if (list->subcategory.size > 0) {
        range.table = TABLE_REVIEW_SUBCATEGORY;
        range.prefix = key_review_subcategory_prefix(list->org, list->subcategory);
    }
    first = range.prefix;
    range.after = first_after(list, &first);
    return page_open(list->page, txn, &range);
}

/* Reads the number and the time of the next row's event. ERR_NOT_FOUND at the end of the page, and of the list's
 * times. */
static enum err next_seq(const struct review_list *list, uint64_t *ret_seq)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    enum err err = by_id(list) ? id_prefix_next_row(&list->id_prefix, list->page, &key, &value)
                               : page_next(list->page, &key, &value);

    if (err != OK || by_id(list)) {
        return err != OK ? err : log_read_id_row(value, ret_seq);
    }
    err = key_read_newest_first(key, &created_at_us, ret_seq);
    return err == OK && created_at_us < list->start_us ? ERR_NOT_FOUND : err;
}

static bool asks(struct slice wanted, struct slice found)
{
    return wanted.size > 0 && !slice_equal(wanted, found);
}

static bool is_wanted(const struct review_list *list, const struct event *event,
                      const struct review_view *view)
{
    return (list->decision == REVIEW_DECISION_UNSPECIFIED || list->decision == view->decision) &&
           !asks(list->run_id, view->run_id) && !asks(list->subcategory, view->subcategory) &&
           !asks(list->reviewed_by, view->reviewed_by) && event->created_at_us >= list->start_us &&
           event->created_at_us < list->end_us;
}

enum err review_list_next(struct store_txn *txn, const struct review_list *list,
                          struct event *ret_event, struct review_view *ret_view)
{
    uint64_t seq = 0;
    enum err err = next_seq(list, &seq);

    while (err == OK) {
        err = log_read(txn, list->org, seq, ret_event);
        if (err != OK || (ret_event->kind != EVENT_REVIEW_SUBMITTED && !by_id(list))) {
            return err == OK || err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (ret_event->kind == EVENT_REVIEW_SUBMITTED) { /* by id, events of any kind are found */
            err = review_view_read(ret_event->facts, ret_view);
            if (err != OK || is_wanted(list, ret_event, ret_view)) {
                return err;
            }
        }
        err = next_seq(list, &seq);
    }
    return err;
}
