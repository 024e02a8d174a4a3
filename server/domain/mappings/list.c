/*
 * list.c: see list.h.
 */
#include "server/domain/mappings/list.h"

#include "server/domain/mappings/keys.h"
#include "server/domain/text/sku.h"

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

/* The first row behind the page before. */
static enum err next_row(const struct mapping_list *list, struct store_cursor *cursor,
                         struct slice *ret_key)
{
    struct slice value = {NULL, 0};
    enum err err = store_cursor_next(cursor, ret_key, &value);

    if (err == OK && slice_equal(*ret_key, list->after)) {
        err = store_cursor_next(cursor, ret_key, &value);
    }
    return err;
}

static enum err walk(struct arena *arena, struct mapping_list *list, struct store_cursor *cursor,
                     struct buffer *body, bool *ret_more)
{
    size_t start = body->size;
    size_t count = 0;
    struct slice key = {NULL, 0};
    enum err err = OK;

    for (size_t rows = 0; err == OK; rows++) {
        size_t before = body->size;

        err = next_row(list, cursor, &key);
        *ret_more = err == OK && (rows == MAPPING_LIST_ROWS_MAX || count == list->page_size);
        if (err != OK || *ret_more) {
            return err;
        }
        err = take_row(arena, cursor->txn, list, key, body);
        if (err == OK && count > 0 && body->size - start > MAPPING_LIST_BYTES_MAX) {
            body->size = before;
            *ret_more = true;
            return OK;
        }
        count += body->size > before;
        memcpy(list->last.bytes, key.data, key.size);
        list->last.size = key.size;
    }
    return err;
}

enum err mapping_list_write(struct arena *arena, struct store_txn *txn, struct mapping_list *list,
                            struct buffer *body, bool *ret_more)
{
    struct key prefix = prefix_of(list);
    struct store_cursor cursor = {0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_MAPPING_SKU, key_slice(&prefix),
                                     list->after, STORE_ASCENDING);

    *ret_more = false;
    if (err == OK) {
        err = walk(arena, list, &cursor, body, ret_more);
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}
