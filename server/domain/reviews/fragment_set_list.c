/*
 * fragment_set_list.c: fragment sets as messages, and the list of them; see fragment_sets.h. The shipped set has no row:
 * it is listed at the position that the key of version 0 would have, after all others.
 */
#include "server/domain/reviews/fragment_sets_internal.h"
#include "server/domain/reviews/keys.h"
#include "server/domain/reviews/records.h"

#include <errata/v1/event.views.h>

enum err fragment_sets_put_fragments(struct arena *arena, const struct fragment_set *set,
                                     struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        const struct prompt_fragment_view view = {
            .signal = set->fragments[i].signal,
            .placeholder = set->fragments[i].placeholder,
            .text = set->fragments[i].text,
        };

        if (view.text.size > 0) {
            prompt_fragment_view_put(&view, FRAGMENT_SET_FRAGMENTS_FIELD, &run);
        }
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err make_shipped(struct arena *arena, bool is_active,
                             struct fragment_set_view *ret_view)
{
    const struct fragment_set *set = fragment_set_default();
    struct fragment_set_view view = {
        .state = is_active ? FRAGMENT_SET_STATE_APPROVED : FRAGMENT_SET_STATE_REPLACED,
        .label_focus_fields = set->label_focus_fields,
    };
    enum err err = fragment_sets_put_fragments(arena, set, &view.fragments.run);

    if (err == OK) {
        *ret_view = view;
    }
    return err;
}

enum err fragment_set_shipped(struct arena *arena, struct fragment_set_view *ret_view)
{
    return make_shipped(arena, true, ret_view);
}

/* Adds the approver of a set and the time. */
static enum err add_approval(struct store_txn *txn, struct org_id org, uint64_t seq,
                             struct fragment_set_view *view)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == ERR_NOT_FOUND || (err == OK && event.kind != EVENT_FRAGMENT_SET_APPROVED)) {
        return ERR_CORRUPT;
    }
    if (err == OK) {
        view->approved_by = event.actor_user_id;
        view->has_approved_by = event.actor_user_id.size > 0;
        view->approved_at_us = event.created_at_us;
        view->has_approved_at = true;
    }
    return err;
}

enum err fragment_set_of_event(struct arena *arena, struct store_txn *txn,
                               const struct event *event, struct fragment_set_view *ret_view)
{
    struct fragment_set_approved_view facts = {.seq = event->seq};
    struct fragment_set_view view = {.version = 0};
    bool is_approval = event->kind == EVENT_FRAGMENT_SET_APPROVED;
    enum err err = is_approval ? fragment_set_approved_view_read(event->facts, &facts) : OK;

    if (err == OK) {
        err = facts.seq == 0 ? make_shipped(arena, true, &view)
                             : fragment_sets_read_put(txn, event->org, facts.seq, &view);
    }
    if (err == OK && is_approval) {
        view.state = FRAGMENT_SET_STATE_APPROVED;
        err = add_approval(txn, event->org, event->seq, &view);
    }
    if (err == OK) {
        *ret_view = view;
    }
    return err;
}

enum err fragment_set_list_begin(struct store_txn *txn, struct fragment_set_list *list)
{
    struct key shipped = key_fragment_set(list->org, 0);
    struct slice after = list->page->after;

    list->at = (struct key){.size = after.size};
    if (after.size > 0) {
        memcpy(list->at.bytes, after.data, after.size);
    }
    list->shipped_due = slice_compare(after, key_slice(&shipped)) < 0;
    return fragment_sets_active_seq(txn, list->org, FRAGMENT_SETS_NOW, &list->active_seq);
}

/* Reads the first row after list->at. ERR_NOT_FOUND after the last one. */
static enum err next_row(struct store_txn *txn, struct fragment_set_list *list,
                         struct fragment_set_record *ret_record)
{
    const struct scan_range range = {
        .table = TABLE_FRAGMENT_SET,
        .prefix = key_org(list->org),
        .after = key_slice(&list->at),
    };
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_open(list->page, txn, &range);

    if (err == OK) {
        err = scan_next(&list->page->scan, &key, &value);
    }
    if (err == OK) {
        err = record_decode_fragment_set(value, ret_record);
    }
    if (err == OK && key.size > sizeof(list->at.bytes)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        list->at.size = key.size;
        memcpy(list->at.bytes, key.data, key.size);
    }
    return err;
}

static enum err read_item(struct arena *arena, struct store_txn *txn,
                          const struct fragment_set_list *list,
                          const struct fragment_set_record *record,
                          struct fragment_set_view *ret_view)
{
    enum err err = OK;

    if (record->seq == 0) {
        return make_shipped(arena, list->active_seq == 0, ret_view);
    }
    err = fragment_sets_read_put(txn, list->org, record->seq, ret_view);
    if (err != OK || record->approved_seq == 0) {
        return err;
    }
    ret_view->state =
        record->seq == list->active_seq ? FRAGMENT_SET_STATE_APPROVED : FRAGMENT_SET_STATE_REPLACED;
    return add_approval(txn, list->org, record->approved_seq, ret_view);
}

enum err fragment_set_list_next(struct arena *arena, struct store_txn *txn,
                                struct fragment_set_list *list, struct fragment_set_view *ret_view)
{
    struct fragment_set_record record = {.seq = 0};
    enum err err = OK;

    if (!page_keep(list->page)) {
        return ERR_NOT_FOUND;
    }
    err = next_row(txn, list, &record);
    if (err == ERR_NOT_FOUND && list->shipped_due) {
        list->shipped_due = false;
        list->at = key_fragment_set(list->org, 0);
        err = OK;
    }
    if (err == OK && (!page_look(list->page) || !page_begin(list->page, key_slice(&list->at)))) {
        err = ERR_NOT_FOUND;
    }
    return err != OK ? err : read_item(arena, txn, list, &record, ret_view);
}
