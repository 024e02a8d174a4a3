/*
 * list.c: see list.h.
 */
#include "server/domain/mappings/list.h"

#include "server/domain/mappings/keys.h"
#include "server/domain/text/sku.h"

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
        list->status == MAPPING_STATUS_UNSPECIFIED || record->status == (uint32_t)list->status;
    if (!*ret_matches || list->folded_prefix.size == 0) {
        return OK;
    }
    err = sku_fold(arena, record->customer_sku, &folded);
    *ret_matches = err == OK && slice_starts_with(folded, list->folded_prefix);
    return err;
}

enum err mapping_list_begin(struct store_txn *txn, const struct mapping_list *list)
{
    const struct scan_range range = {
        .table = TABLE_MAPPING_SKU,
        .prefix = prefix_of(list),
        .after = list->page->after,
    };

    return page_open(list->page, txn, &range);
}

enum err mapping_list_next(struct arena *arena, struct store_txn *txn,
                           const struct mapping_list *list, struct mapping_row *ret_row)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    bool wanted = false;
    enum err err = OK;

    while (!wanted) {
        err = page_next(list->page, &key, &value);
        if (err != OK) {
            return err;
        }
        err = key_read_mapping_sku(key, &seq);
        if (err == OK) {
            err = mapping_row_read(txn, list->org, seq, ret_row);
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
