/*
 * records.c: see records.h; the head row is in layout_head_record.c.
 */
#include "server/domain/layouts/records.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/record_row.h"

#include <record/layouts.views.h>

enum err record_decode_document(struct slice bytes, struct document_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct document_row_view message;
    enum err err = document_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, message.first_seq != 0 && message.first_seq <= message.seq);
    record_need(&check, !bytes_are_zero(message.sha256, SHA256_BYTES));
    if (!check.failed) {
        ret_record->seq = message.seq;
        ret_record->first_seq = message.first_seq;
        ret_record->created_at_us = message.created_at_us;
        memcpy(ret_record->sha256.bytes, message.sha256, SHA256_BYTES);
        ret_record->layout_fingerprint = message.layout_fingerprint;
        ret_record->scan = message.scan;
        ret_record->family_seq = message.family_seq;
    }
    return record_check_result(&check);
}

enum err record_encode_document(struct arena *arena, const struct document_record *record,
                                struct slice *ret_bytes)
{
    struct document_row_view message = {
        .seq = record->seq,
        .first_seq = record->first_seq,
        .created_at_us = record->created_at_us,
        .layout_fingerprint = record->layout_fingerprint,
        .scan = record->scan,
        .family_seq = record->family_seq,
    };

    if (UNEXPECTED(record->first_seq == 0) || UNEXPECTED(record->first_seq > record->seq) ||
        UNEXPECTED(bytes_are_zero(record->sha256.bytes, SHA256_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.sha256, record->sha256.bytes, SHA256_BYTES);
    return record_encode(arena, &document_row_view_type, &message, ret_bytes);
}

enum err record_decode_profile(struct slice bytes, struct profile_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct profile_row_view message;
    enum err err = profile_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, message.seen_count != 0);
    record_need(&check, !bytes_are_zero(message.measured, SHA256_BYTES));
    record_need(&check, !bytes_are_zero(message.id, UUID_BYTES));
    if (check.failed) {
        return ERR_CORRUPT;
    }
    memcpy(ret_record->measured.bytes, message.measured, SHA256_BYTES);
    memcpy(ret_record->id.bytes, message.id, UUID_BYTES);
    ret_record->seen_count = message.seen_count;
    ret_record->first_seen_at_us = message.first_seen_at_us;
    ret_record->last_seen_at_us = message.last_seen_at_us;
    ret_record->page_count_sum = message.page_count_sum;
    ret_record->table_count_sum = message.table_count_sum;
    ret_record->text_coverage_sum = message.text_coverage_sum;
    ret_record->text_density_sum = message.text_density_sum;
    ret_record->fp_version = message.fp_version;
    return OK;
}

enum err record_encode_profile(struct arena *arena, const struct profile_record *record,
                               struct slice *ret_bytes)
{
    struct profile_row_view message = {
        .seen_count = record->seen_count,
        .first_seen_at_us = record->first_seen_at_us,
        .last_seen_at_us = record->last_seen_at_us,
        .page_count_sum = record->page_count_sum,
        .table_count_sum = record->table_count_sum,
        .text_coverage_sum = record->text_coverage_sum,
        .text_density_sum = record->text_density_sum,
        .fp_version = record->fp_version,
    };

    if (UNEXPECTED(record->seen_count == 0) ||
        UNEXPECTED(bytes_are_zero(record->measured.bytes, SHA256_BYTES)) ||
        UNEXPECTED(bytes_are_zero(record->id.bytes, UUID_BYTES))) {
        return ERR_INTERNAL;
    }
    memcpy(message.measured, record->measured.bytes, SHA256_BYTES);
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    return record_encode(arena, &profile_row_view_type, &message, ret_bytes);
}
