/*
 * example_past.c: see example_past.h.
 */
#include "server/domain/corrections/example_past.h"

#include "server/domain/corrections/keys.h"
#include "store/base/bytes.h"
#include "store/scan.h"

enum err example_was_superseded(struct store_txn *txn, struct org_id org, uint64_t seq,
                                uint64_t as_of_seq, bool *ret_superseded)
{
    struct key after = key_example_freed(org, seq, as_of_seq);
    const struct scan_range range = {
        .table = TABLE_EXAMPLE_FREED,
        .prefix = key_example_freed_prefix(org, seq),
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.rows_max = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    *ret_superseded = false;
    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK && value.size != sizeof(as_of_seq)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_superseded = bytes_get_be64(value.data) <= as_of_seq;
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}
