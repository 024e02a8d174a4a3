/*
 * log_import.c: see log_import.h. The mark's key is the name `import` and the organisation's id; its bytes are the export's
 * id.
 */
#include "store/log_import.h"

#include "store/meta.h"

static struct key mark_key(struct org_id org)
{
    struct key key = key_meta_global(SLICE(KEY_META_IMPORT));

    key_put_bytes(&key, org.uuid.bytes, UUID_BYTES);
    return key;
}

enum err log_import_is_marked(struct store_txn *txn, struct org_id org, bool *ret_is_marked)
{
    struct key key = mark_key(org);

    return meta_exists(txn, &key, ret_is_marked);
}

enum err log_import_read(struct store_txn *txn, struct org_id org, struct uuid *ret_export_id)
{
    struct key key = mark_key(org);
    struct meta_record record = {.number = 0};
    enum err err = meta_read(txn, &key, &record);

    if (err == OK && record.bytes.size != UUID_BYTES) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        memcpy(ret_export_id->bytes, record.bytes.data, UUID_BYTES);
    }
    return err;
}

enum err log_import_begin(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          struct uuid export_id)
{
    struct key key = mark_key(org);
    const struct meta_record record = {.bytes = slice_of(export_id.bytes, UUID_BYTES)};

    return meta_put(ctx->arena, txn, &key, &record);
}

enum err log_import_end(struct store_txn *txn, struct org_id org)
{
    struct key key = mark_key(org);

    return store_del_if_present(txn, TABLE_META, key_slice(&key));
}
