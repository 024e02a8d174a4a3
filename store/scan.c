/*
 * scan.c: see scan.h.
 */
#include "store/scan.h"

#include "store/base/assert.h"

enum err scan_init(struct scan *scan, struct store_txn *txn, const struct scan_range *range)
{
    ASSERT(range->rows_max > 0);
    scan->rows_max = range->rows_max;
    scan->row_count = 0;
    scan->is_cut = false;
    return store_cursor_init(&scan->cursor, txn, range->table, key_slice(&range->prefix),
                             range->after, range->order);
}

enum err scan_next(struct scan *scan, struct slice *ret_key, struct slice *ret_value)
{
    const struct store_cursor *cursor = &scan->cursor;
    enum err err = store_cursor_next(&scan->cursor, ret_key, ret_value);

    /* The cursor begins at `after` itself if there is such a row. */
    if (err == OK && scan->row_count == 0 &&
        slice_equal(*ret_key, slice_of(cursor->from, cursor->from_bytes))) {
        err = store_cursor_next(&scan->cursor, ret_key, ret_value);
    }
    if (err != OK) {
        return err;
    }
    if (ret_key->size == 0 || ret_key->size > STORE_KEY_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    if (scan->row_count == scan->rows_max) {
        scan->is_cut = true;
        return ERR_NOT_FOUND;
    }
    scan->row_count++;
    return OK;
}

void scan_deinit(struct scan *scan)
{
    store_cursor_deinit(&scan->cursor);
}
