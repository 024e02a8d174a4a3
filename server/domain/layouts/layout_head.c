/*
 * layout_head.c: see layout_head.h.
 */
#include "server/domain/layouts/layout_head.h"

#include "server/domain/layouts/records.h"

enum err layout_head_read(struct arena *arena, struct store_txn *txn, const struct key *key,
                          struct layout_head_record *ret_head)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(key), &value);

    memset(ret_head, 0, sizeof(*ret_head));
    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    err = record_decode_layout_head(value, ret_head);
    if (err == OK && !arena_copy(arena, ret_head->measured, &ret_head->measured)) {
        err = ERR_MEMORY;
    }
    return err;
}

enum err layout_head_write(struct arena *arena, struct store_txn *txn, const struct key *key,
                           const struct layout_head_record *head)
{
    struct slice value = {NULL, 0};
    enum err err = record_encode_layout_head(arena, head, &value);

    return err != OK ? err : store_put(txn, TABLE_EXAMPLE, key_slice(key), value);
}
