/*
 * meta.c: see meta.h.
 */
#include "store/meta.h"

enum err meta_exists(struct store_txn *txn, const struct key *key, bool *ret_exists)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_META, key_slice(key), &value);

    *ret_exists = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err meta_read(struct store_txn *txn, const struct key *key, struct meta_record *ret_record)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_META, key_slice(key), &value);

    return err != OK ? err : record_decode_meta(value, ret_record);
}

enum err meta_put(struct arena *arena, struct store_txn *txn, const struct key *key,
                  const struct meta_record *record)
{
    struct slice value = {NULL, 0};
    enum err err = record_encode_meta(arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_META, key_slice(key), value);
}
