/*
 * page.c: see page.h.
 */
#include "store/page.h"

#include "store/base/assert.h"

enum err page_walk_init(struct page_walk *walk, struct store_txn *txn,
                        const struct page_request *request, struct buffer *body)
{
    ASSERT(request->page_size > 0);
    memset(walk, 0, sizeof(*walk));
    if (UNEXPECTED(request->after.size > 0 &&
                   !slice_starts_with(request->after, key_slice(&request->prefix)))) {
        return ERR_INTERNAL;
    }
    walk->request = *request;
    walk->body = body;
    walk->start = body != NULL ? body->size : 0;
    return store_cursor_init(&walk->cursor, txn, request->table, key_slice(&request->prefix),
                             request->after, request->order);
}

/* Keeps what was written for the current row; false if it does not fit. */
static bool keep_current(struct page_walk *walk)
{
    bool is_item = walk->body == NULL || walk->body->size > walk->before;

    if (walk->key.size == 0) {
        return true;
    }
    if (is_item && walk->count > 0 && walk->body != NULL &&
        walk->body->size - walk->start > PAGE_BYTES_MAX) {
        walk->body->size = walk->before;
        walk->more = true;
        return false;
    }
    memcpy(walk->last.bytes, walk->key.data, walk->key.size);
    walk->last.size = walk->key.size;
    walk->row_count++;
    walk->count += is_item;
    return true;
}

enum err page_walk_next(struct page_walk *walk, struct slice *ret_key, struct slice *ret_value)
{
    bool first = walk->key.size == 0;
    enum err err = OK;

    if (!keep_current(walk)) {
        return ERR_NOT_FOUND;
    }
    err = store_cursor_next(&walk->cursor, &walk->key, ret_value);
    if (err == OK && first && slice_equal(walk->key, walk->request.after)) {
        err = store_cursor_next(&walk->cursor, &walk->key, ret_value);
    }
    if (err != OK) {
        return err;
    }
    if (walk->count == walk->request.page_size || walk->row_count == PAGE_ROWS_MAX) {
        walk->more = true;
        return ERR_NOT_FOUND;
    }
    walk->before = walk->body != NULL ? walk->body->size : 0;
    *ret_key = walk->key;
    return OK;
}

void page_walk_deinit(struct page_walk *walk)
{
    store_cursor_deinit(&walk->cursor);
}
