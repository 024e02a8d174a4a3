/*
 * list.c: see list.h.
 */
#include "server/domain/mappings/list.h"

#include "server/domain/mappings/keys.h"
#include "server/domain/text/sku.h"
#include "store/log.h"

static struct key prefix_of(const struct mapping_list *list)
{
    return list->customer_id.size == 0
               ? key_org(list->org)
               : key_mapping_sku_prefix(list->org, list->customer_id, list->folded_prefix);
}

static enum err matches(struct arena *arena, const struct mapping_list *list,
                        const struct mapping_record *record, bool *ret_matches)
{
    struct slice folded = {NULL, 0};
    enum err err = OK;

    *ret_matches =
        (list->status == MAPPING_STATUS_UNSPECIFIED || record->status == (uint32_t)list->status) &&
        (list->customer_id.size == 0 || slice_equal(list->customer_id, record->customer_id));
    if (!*ret_matches || list->folded_prefix.size == 0) {
        return OK;
    }
    err = sku_fold(arena, record->customer_sku, &folded);
    *ret_matches = err == OK && slice_starts_with(folded, list->folded_prefix);
    return err;
}

static bool by_id(const struct mapping_list *list)
{
    return list->id_prefix.digit_count > 0;
}

enum err mapping_list_begin(struct store_txn *txn, const struct mapping_list *list)
{
    const struct scan_range range = {
        .table = TABLE_MAPPING_SKU,
        .prefix = prefix_of(list),
        .after = list->page->after,
    };

    if (by_id(list)) {
        return id_prefix_open_page(&list->id_prefix, txn, TABLE_EVENT_ID, key_org(list->org),
                                   list->page);
    }
    return page_open(list->page, txn, &range);
}

/* The seq of the event that made the mapping of the next row. */
static enum err next_seq(const struct mapping_list *list, uint64_t *ret_seq)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = by_id(list) ? id_prefix_next_row(&list->id_prefix, list->page, &key, &value)
                               : page_next(list->page, &key, &value);

    if (err != OK) {
        return err;
    }
    return by_id(list) ? log_read_id_row(value, ret_seq) : key_read_mapping_sku(key, ret_seq);
}

enum err mapping_list_next(struct arena *arena, struct store_txn *txn,
                           const struct mapping_list *list, struct mapping_row *ret_row)
{
    uint64_t seq = 0;
    bool wanted = false;
    enum err err = OK;

    while (!wanted) {
        err = next_seq(list, &seq);
        if (err != OK) {
            return err;
        }
        err = mapping_row_read(txn, list->org, seq, ret_row);
        if (err == ERR_NOT_FOUND && by_id(list)) {
            continue; /* an event that made no mapping */
        }
        if (err == OK) {
            err = matches(arena, list, &ret_row->record, &wanted);
        }
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
    }
    return OK;
}
