/*
 * token_scan.c: see token_scan.h.
 */
#include "server/domain/admin/token_scan.h"

#include "server/domain/admin/keys.h"

enum err token_scan_init(struct scan *scan, struct store_txn *txn, struct slice after,
                         uint32_t tokens_max)
{
    const struct scan_range range = {
        .table = TABLE_TOKEN,
        .prefix = key_global_prefix(),
        .after = after,
        .rows_max = tokens_max,
    };

    return scan_init(scan, txn, &range);
}

enum err token_scan_next(struct scan *scan, struct token_record *ret_token, uint32_t *ret_key_id)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_next(scan, &key, &value);

    if (err == OK) {
        err = key_read_token(key, ret_key_id);
    }
    return err != OK ? err : record_decode_token(value, ret_token);
}
