/*
 * page_walk.c: see page_walk.h.
 */
#include "server/domain/layouts/page_walk.h"

enum err page_walk_init(struct page_walk *walk, struct store_txn *txn,
                        const struct page_request *request, struct buffer *body)
{
    memset(walk, 0, sizeof(*walk));
    walk->request = *request;
    walk->body = body;
    walk->start = body->size;
    return store_cursor_init(&walk->cursor, txn, request->table, key_slice(&request->prefix),
                             request->after, STORE_ASCENDING);
}

/* Keeps what was written for the current row; false where it does not fit. A page has at least one
 * item. */
static bool keep_current(struct page_walk *walk)
{
    if (walk->key.size == 0) {
        return true;
    }
    if (walk->count > 0 && walk->body->size - walk->start > PAGE_WALK_BYTES_MAX) {
        walk->body->size = walk->before;
        walk->more = true;
        return false;
    }
    memcpy(walk->last.bytes, walk->key.data, walk->key.size);
    walk->last.size = walk->key.size;
    walk->count++;
    return true;
}

enum err page_walk_next(struct page_walk *walk, struct slice *ret_key)
{
    bool first = walk->key.size == 0;
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (!keep_current(walk)) {
        return ERR_NOT_FOUND;
    }
    err = store_cursor_next(&walk->cursor, &walk->key, &value);
    if (err == OK && first && slice_equal(walk->key, walk->request.after)) {
        err = store_cursor_next(&walk->cursor, &walk->key, &value);
    }
    if (err != OK) {
        return err;
    }
    if (walk->count == walk->request.page_size) {
        walk->more = true;
        return ERR_NOT_FOUND;
    }
    walk->before = walk->body->size;
    *ret_key = walk->key;
    return OK;
}

void page_walk_deinit(struct page_walk *walk)
{
    store_cursor_deinit(&walk->cursor);
}
