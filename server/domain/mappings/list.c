/*
 * list.c: see list.h.
 */
#include "server/domain/mappings/list.h"

#include "server/domain/mappings/keys.h"
#include "store/log.h"

/* The index of the list. An internal SKU has fewer mappings than a customer: about one for each customer. */
static struct scan_range index_range(const struct mapping_list *list)
{
    struct scan_range range = {.table = TABLE_MAPPING_ALL, .after = list->page->after};

    if (list->folded_internal_sku.size > 0) {
        range.table = TABLE_MAPPING_INTERNAL;
        range.prefix =
            key_mapping_internal_prefix(list->org, list->folded_internal_sku, list->folded_prefix);
    } else if (list->customer_id.size > 0) {
        range.table = TABLE_MAPPING_SKU;
        range.prefix = key_mapping_sku_prefix(list->org, list->customer_id, list->folded_prefix);
    } else {
        range.prefix = key_mapping_all_prefix(list->org, list->folded_prefix);
    }
    return range;
}

static enum err matches(struct arena *arena, const struct mapping_list *list,
                        const struct mapping_record *record, bool *ret_matches)
{
    struct mapping_pair pair;
    enum err err = OK;

    *ret_matches =
        (list->status == MAPPING_STATUS_UNSPECIFIED || record->status == (uint32_t)list->status) &&
        (list->customer_id.size == 0 || slice_equal(list->customer_id, record->customer_id));
    if (!*ret_matches || (list->folded_prefix.size == 0 && list->folded_internal_sku.size == 0)) {
        return OK;
    }
    err = mapping_pair_of(arena, record, &pair);
    *ret_matches = err == OK && slice_starts_with(pair.folded_customer_sku, list->folded_prefix) &&
                   (list->folded_internal_sku.size == 0 ||
                    slice_equal(pair.folded_internal_sku, list->folded_internal_sku));
    return err;
}

static bool by_id(const struct mapping_list *list)
{
    return list->id_prefix.digit_count > 0;
}

enum err mapping_list_begin(struct store_txn *txn, const struct mapping_list *list)
{
    const struct scan_range range = index_range(list);

    if (by_id(list)) {
        return id_prefix_open_page(&list->id_prefix, txn, TABLE_EVENT_ID, key_org(list->org),
                                   list->page);
    }
    return page_open(list->page, txn, &range);
}

/* Returns the seq of the event that created the mapping of the next row. */
static enum err next_seq(const struct mapping_list *list, uint64_t *ret_seq)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = by_id(list) ? id_prefix_next_row(&list->id_prefix, list->page, &key, &value)
                               : page_next(list->page, &key, &value);

    if (err != OK) {
        return err;
    }
    return by_id(list) ? log_read_id_row(value, ret_seq) : key_read_mapping_order(key, ret_seq);
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
            continue; /* this event created no mapping */
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
