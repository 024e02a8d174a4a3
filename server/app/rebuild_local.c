/*
 * rebuild_local.c: copies the values of the table META.
 */
#include "server/app/rebuild.h"

#include "server/domain/admin/token_use.h"
#include "store/keys.h"

/* Returns whether the value describes the store that it is in. */
static bool is_of_the_store(struct slice key)
{
    struct key format = key_meta_global(SLICE(KEY_META_FORMAT));
    struct key probe = key_meta_global(SLICE(KEY_META_PROBE));

    return slice_equal(key, key_slice(&format)) || slice_equal(key, key_slice(&probe));
}

static enum err carry_rows(struct store_txn *from, struct store_txn *to)
{
    struct key prefix = key_global_prefix();
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, from, TABLE_META, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    while (err == OK) {
        bool is_stale = false;

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = token_use_is_stale(to, key, &is_stale);
        }
        if (err == OK && !is_stale && !is_of_the_store(key)) {
            err = store_put(to, TABLE_META, key, value);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err rebuild_carry_local(struct store_backend *from, struct store_backend *to)
{
    struct store_txn *read = NULL;
    struct store_txn *write = NULL;
    enum err err = store_begin(from, STORE_READ, &read);

    if (err == OK) {
        err = store_begin(to, STORE_WRITE, &write);
    }
    if (err == OK) {
        err = carry_rows(read, write);
    }
    store_abort(read);
    if (err != OK) {
        store_abort(write);
        return err;
    }
    return store_commit(write);
}
