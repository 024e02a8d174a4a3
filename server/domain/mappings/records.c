/*
 * records.c: see records.h.
 */
#include "server/domain/mappings/records.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/record_row.h"

#include <record/mappings.views.h>

static bool mapping_fits(const struct mapping_record *record)
{
    return !bytes_are_zero(record->id.bytes, UUID_BYTES) && record->customer_id.size > 0 &&
           record->customer_sku.size > 0 && record->internal_sku.size > 0 && record->status != 0 &&
           record->confidence >= 0 && record->confidence <= 1 && record->last_seq != 0 &&
           record->version != 0;
}

enum err record_decode_mapping(struct slice bytes, struct mapping_record *ret_record)
{
    struct mapping_row_view message;
    struct mapping_record record;
    enum err err = mapping_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    memcpy(record.id.bytes, message.id, UUID_BYTES);
    record.customer_id = message.customer_id;
    record.customer_sku = message.customer_sku;
    record.internal_sku = message.internal_sku;
    record.status = message.status;
    record.confidence = message.confidence;
    record.support_count = message.support_count;
    record.use_count = message.use_count;
    record.last_used_at_us = message.last_used_at_us;
    record.created_at_us = message.created_at_us;
    record.updated_at_us = message.updated_at_us;
    record.last_seq = message.last_seq;
    record.version = message.version;
    record.similar_block = message.similar_block;
    record.settled_at_us = message.settled_at_us;
    if (!mapping_fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_mapping(struct arena *arena, const struct mapping_record *record,
                               struct slice *ret_bytes)
{
    struct mapping_row_view message = {
        .customer_id = record->customer_id,
        .customer_sku = record->customer_sku,
        .internal_sku = record->internal_sku,
        .status = record->status,
        .confidence = record->confidence,
        .support_count = record->support_count,
        .use_count = record->use_count,
        .last_used_at_us = record->last_used_at_us,
        .created_at_us = record->created_at_us,
        .updated_at_us = record->updated_at_us,
        .last_seq = record->last_seq,
        .version = record->version,
        .similar_block = record->similar_block,
        .settled_at_us = record->settled_at_us,
    };

    if (UNEXPECTED(!mapping_fits(record))) {
        return ERR_INTERNAL;
    }
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    return record_encode(arena, &mapping_row_view_type, &message, ret_bytes);
}

enum err record_decode_mapping_confirmed(struct slice bytes,
                                         struct mapping_confirmed_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct mapping_confirmed_row_view message;
    enum err err = mapping_confirmed_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, message.seq != 0 && message.version != 0);
    record_need(&check, !bytes_are_zero(message.id, UUID_BYTES));
    record_need(&check, message.internal_sku.size > 0);
    if (!check.failed) {
        ret_record->seq = message.seq;
        ret_record->version = message.version;
        memcpy(ret_record->id.bytes, message.id, UUID_BYTES);
        ret_record->internal_sku = message.internal_sku;
    }
    return record_check_result(&check);
}

enum err record_encode_mapping_confirmed(struct arena *arena,
                                         const struct mapping_confirmed_record *record,
                                         struct slice *ret_bytes)
{
    struct mapping_confirmed_row_view message = {
        .seq = record->seq,
        .version = record->version,
        .internal_sku = record->internal_sku,
    };

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->version == 0) ||
        UNEXPECTED(record->internal_sku.size == 0) ||
        UNEXPECTED(bytes_are_zero(record->id.bytes, UUID_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    return record_encode(arena, &mapping_confirmed_row_view_type, &message, ret_bytes);
}
