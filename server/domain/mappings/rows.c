/*
 * rows.c: see rows.h.
 */
#include "server/domain/mappings/rows.h"

#include "server/domain/mappings/keys.h"
#include "server/domain/mappings/records.h"
#include "server/domain/text/sku.h"

enum err mapping_row_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct mapping_row *ret_row)
{
    struct key key = key_mapping(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_MAPPING, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_mapping(value, &ret_row->record);
    }
    if (err == OK) {
        ret_row->seq = seq;
    }
    return err;
}

enum err mapping_row_write(struct arena *arena, struct store_txn *txn, struct org_id org,
                           const struct mapping_row *row)
{
    struct key key = key_mapping(org, row->seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_mapping(arena, &row->record, &value);

    return err != OK ? err : store_put(txn, TABLE_MAPPING, key_slice(&key), value);
}

enum err mapping_row_keep(struct arena *arena, struct mapping_row *row)
{
    struct mapping_record *record = &row->record;

    return arena_copy(arena, record->customer_id, &record->customer_id) &&
                   arena_copy(arena, record->customer_sku, &record->customer_sku) &&
                   arena_copy(arena, record->internal_sku, &record->internal_sku)
               ? OK
               : ERR_MEMORY;
}

enum err mapping_row_find(struct store_txn *txn, struct org_id org, const struct mapping_pair *pair,
                          struct mapping_row *ret_row)
{
    struct key key = key_mapping_pair(org, pair->customer_id, pair->folded_customer_sku,
                                      pair->folded_internal_sku);
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = store_get(txn, TABLE_MAPPING_PAIR, key_slice(&key), &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, &seq);
    if (err == OK) {
        err = mapping_row_read(txn, org, seq, ret_row);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return err;
}

bool mapping_row_is_surer(const struct mapping_row *row, const struct mapping_row *other)
{
    return row->record.confidence != other->record.confidence
               ? row->record.confidence > other->record.confidence
               : row->seq < other->seq;
}

enum err mapping_row_find_id(struct store_txn *txn, struct org_id org, struct uuid id,
                             struct mapping_row *ret_row)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    return err != OK ? err : mapping_row_read(txn, org, seq, ret_row);
}

enum err mapping_confirmed_find(struct store_txn *txn, struct org_id org, struct slice customer_id,
                                struct slice folded_customer_sku,
                                struct mapping_confirmed_record *ret_confirmed)
{
    struct key key = key_mapping_confirmed(org, customer_id, folded_customer_sku);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_MAPPING_CONFIRMED, key_slice(&key), &value);

    return err != OK ? err : record_decode_mapping_confirmed(value, ret_confirmed);
}

enum err mapping_pair_of(struct arena *arena, const struct mapping_record *record,
                         struct mapping_pair *ret_pair)
{
    struct mapping_pair pair = {.customer_id = record->customer_id};
    enum err err = OK;

    if (record->customer_sku.size > SKU_BYTES_MAX || record->internal_sku.size > SKU_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    err = sku_fold(arena, record->customer_sku, &pair.folded_customer_sku);
    if (err == OK) {
        err = sku_fold(arena, record->internal_sku, &pair.folded_internal_sku);
    }
    if (err == OK) {
        *ret_pair = pair;
    }
    return err;
}

enum err mapping_sku_scan_init(struct scan *scan, struct store_txn *txn, struct org_id org,
                               struct slice customer_id, struct slice folded_customer_sku)
{
    const struct scan_range range = {
        .table = TABLE_MAPPING_PAIR,
        .prefix = key_mapping_pair_prefix(org, customer_id, folded_customer_sku),
        .rows_max = MAPPING_SKU_ROWS_MAX,
    };

    return scan_init(scan, txn, &range);
}

enum err mapping_sku_scan_next(struct scan *scan, struct org_id org, struct mapping_row *ret_row)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = scan_next(scan, &key, &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, &seq);
    if (err == OK) {
        err = mapping_row_read(scan->cursor.txn, org, seq, ret_row);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return err;
}
