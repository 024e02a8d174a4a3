/*
 * event_list.c: see event_list.h.
 */
#include "server/domain/events/event_list.h"

static bool is_wanted(const struct event_list *list, const struct event *event)
{
    if (list->kind != 0 && list->kind != (uint32_t)event->kind) {
        return false;
    }
    if (list->audited && !event_kind_is_audited(event->kind)) {
        return false;
    }
    if (list->actor_user_id.size > 0 && !slice_equal(list->actor_user_id, event->actor_user_id)) {
        return false;
    }
    for (size_t i = 0; list->by_subject && i < event->subject_count; i++) {
        if (event->subjects[i].kind == list->subject.kind &&
            slice_equal(event->subjects[i].id, list->subject.id)) {
            return true;
        }
    }
    return !list->by_subject;
}

/* Returns whether each event about a subject of this kind has it as its main subject, so that the
 * index contains all of them. */
static bool is_always_main(enum subject_kind kind)
{
    switch (kind) {
    case SUBJECT_LAYOUT:
    case SUBJECT_ORGANIZATION:
    case SUBJECT_TOKEN:
    case SUBJECT_PROMPT_TEMPLATE:
    case SUBJECT_RECEIPT:
    case SUBJECT_LEARNED_RULE:
    case SUBJECT_SUBCATEGORY:
    case SUBJECT_PROPOSAL:
    case SUBJECT_SESSION:
    case SUBJECT_DEAD_LETTER:
        return true;
    case SUBJECT_DOCUMENT:
    case SUBJECT_DRAFT_ORDER:
    case SUBJECT_ENTITY:
    case SUBJECT_EXPOSURE:
    case SUBJECT_LAYOUT_FAMILY:
    case SUBJECT_RUN:
    case SUBJECT_ITEM:
    case SUBJECT_AGENT:
    case SUBJECT_DECISION:
    case SUBJECT_TURN:
        break;
    }
    return false;
}

/* Selects the rows to read: those of the subject, or those of the log. */
static bool by_index(const struct event_list *list)
{
    return list->by_subject && is_always_main((enum subject_kind)list->subject.kind);
}

static bool by_id(const struct event_list *list)
{
    return list->id_prefix.digit_count > 0;
}

enum err event_list_begin(struct store_txn *txn, const struct event_list *list)
{
    const struct scan_range log = {
        .table = TABLE_EVENT,
        .prefix = key_org(list->org),
        .order = STORE_DESCENDING,
        .after = list->page->after,
    };
    const struct scan_range subject = {
        .table = TABLE_SUBJECT,
        .prefix = key_subject_prefix(list->org, list->subject.kind, list->subject.id),
        .after = list->page->after,
    };

    if (by_id(list)) {
        return id_prefix_open_page(&list->id_prefix, txn, TABLE_EVENT_ID, key_org(list->org),
                                   list->page);
    }
    return page_open(list->page, txn, by_index(list) ? &subject : &log);
}

/* Returns the seq of the event of the next row. */
static enum err next_seq(const struct event_list *list, uint64_t *ret_seq)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    enum err err = by_id(list) ? id_prefix_next_row(&list->id_prefix, list->page, &key, &value)
                               : page_next(list->page, &key, &value);

    if (err != OK || by_id(list)) {
        return err != OK ? err : log_read_id_row(value, ret_seq);
    }
    return by_index(list) ? key_read_newest_first(key, &created_at_us, ret_seq)
                          : key_read_event(key, ret_seq);
}

enum err event_list_next(struct store_txn *txn, const struct event_list *list,
                         struct event *ret_event)
{
    bool wanted = false;

    while (!wanted) {
        uint64_t seq = 0;
        enum err err = next_seq(list, &seq);

        if (err != OK) {
            return err;
        }
        err = log_read(txn, list->org, seq, ret_event);
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        wanted = is_wanted(list, ret_event);
    }
    return OK;
}
