/*
 * list.c: see list.h.
 */
#include "server/domain/mappings/list.h"

#include "server/domain/mappings/keys.h"
#include "server/domain/text/sku.h"
#include "store/page.h"

#include <errata/v1/mapping_service.fields.h>

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

/* Appends the mapping of a row where it is wanted. */
static enum err take_row(struct arena *arena, struct store_txn *txn, struct mapping_list *list,
                         struct slice key, struct buffer *body)
{
    struct mapping_row row;
    bool wanted = false;
    uint64_t seq = 0;
    enum err err = key_read_mapping_sku(key, &seq);

    if (err == OK) {
        err = mapping_row_read(txn, list->org, seq, &row);
    }
    if (err == OK) {
        err = matches(arena, list, &row.record, &wanted);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (wanted) {
        mapping_put(body, LIST_MAPPINGS_RESPONSE_MAPPINGS_FIELD, list->org, &row.record);
    }
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err mapping_list_write(struct arena *arena, struct store_txn *txn, struct mapping_list *list,
                            struct buffer *body, bool *ret_more)
{
    const struct page_request request = {
        .table = TABLE_MAPPING_SKU,
        .prefix = prefix_of(list),
        .after = list->after,
        .page_size = list->page_size,
    };
    struct page_walk walk;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_walk_init(&walk, txn, &request, body);

    while (err == OK) {
        err = page_walk_next(&walk, &key, &value);
        if (err == OK) {
            err = take_row(arena, txn, list, key, body);
        }
    }
    page_walk_deinit(&walk);
    list->last = walk.last;
    *ret_more = walk.more;
    return err == ERR_NOT_FOUND ? OK : err;
}
