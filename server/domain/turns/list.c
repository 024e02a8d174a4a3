/*
 * list.c: see list.h.
 */
#include "server/domain/turns/list.h"

enum err turn_list_begin(struct store_txn *txn, const struct turn_list *list)
{
    struct scan_range range = {.table = TABLE_TURN_TIME, .prefix = key_org(list->org)};

    if (list->session_id.size > 0) {
        struct turn_hash hash = turn_hash_of(list->session_id, slice_of(NULL, 0));

        range.table = TABLE_TURN_SESSION;
        range.prefix = key_turn_session_prefix(list->org, &hash);
    } else if (list->status != TURN_STATUS_UNSPECIFIED) {
        range.table = TABLE_TURN_STATUS;
        range.prefix = key_turn_status_prefix(list->org, (uint32_t)list->status);
    }
    range.after = list->page->after;
    return page_open(list->page, txn, &range);
}

enum err turn_list_next(struct store_txn *txn, const struct turn_list *list,
                        struct turn_record *ret_record)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_next(list->page, &key, &value);

    while (err == OK) {
        err = turn_read_listed(txn, list->org, value, ret_record);
        if (err != OK) {
            return err;
        }
        if (list->status == TURN_STATUS_UNSPECIFIED ||
            (uint32_t)list->status == ret_record->status) {
            return OK;
        }
        err = page_next(list->page, &key, &value);
    }
    return err;
}
