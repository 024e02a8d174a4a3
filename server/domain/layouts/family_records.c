/*
 * family_records.c: see family_records.h.
 */
#include "server/domain/layouts/family_records.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/view.h"
#include "store/base/wire.h"
#include "store/record_row.h"

#include <record/layouts.views.h>

enum err record_decode_family(struct slice bytes, struct family_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct family_record record = {.sketch_count = 0};
    struct family_row_view message;
    enum err err = family_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record_need(&check, !bytes_are_zero(message.id, UUID_BYTES));
    record.sketch_count = record_numbers(&check, &message.sketch_seq, true, record.sketch_seqs,
                                         FAMILY_ROW_SKETCHES_MAX);
    record.alias_count =
        record_numbers(&check, &message.alias_seq, false, record.alias_seqs, FAMILY_ALIASES_MAX);
    record_need(&check, message.alias_of_seq == 0 || record.alias_count == 0);
    if (check.failed) {
        return ERR_CORRUPT;
    }
    memcpy(record.id.bytes, message.id, UUID_BYTES);
    record.document_count = message.document_count;
    record.fingerprint_count = message.fingerprint_count;
    record.first_seen_at_us = message.first_seen_at_us;
    record.last_seen_at_us = message.last_seen_at_us;
    record.alias_of_seq = message.alias_of_seq;
    *ret_record = record;
    return OK;
}

enum err record_decode_family_aliases(struct slice bytes, struct family_record *ret_record)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct slice aliases = {NULL, 0};
    struct wire_field field;
    uint64_t seq = 0;
    enum err err = OK;

    ret_record->alias_of_seq = 0;
    ret_record->alias_count = 0;
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == FAMILY_ROW_ALIAS_OF_SEQ_FIELD && field.type == WIRE_VARINT) {
            ret_record->alias_of_seq = field.value;
        } else if (field.number == FAMILY_ROW_ALIAS_SEQ_FIELD && field.type == WIRE_BYTES) {
            aliases = field.bytes;
        }
    }
    if (err != ERR_NOT_FOUND) {
        return ERR_CORRUPT;
    }
    while (ret_record->alias_count < FAMILY_ALIASES_MAX && view_next_number(&aliases, &seq)) {
        ret_record->alias_seqs[ret_record->alias_count] = seq;
        ret_record->alias_count++;
    }
    return aliases.size == 0 ? OK : ERR_CORRUPT;
}

enum err record_encode_family(struct arena *arena, const struct family_record *record,
                              struct slice *ret_bytes)
{
    struct family_row_view message = {
        .document_count = record->document_count,
        .fingerprint_count = record->fingerprint_count,
        .first_seen_at_us = record->first_seen_at_us,
        .last_seen_at_us = record->last_seen_at_us,
        .alias_of_seq = record->alias_of_seq,
    };
    enum err err = OK;

    if (UNEXPECTED(bytes_are_zero(record->id.bytes, UUID_BYTES)) ||
        UNEXPECTED(record->sketch_count > FAMILY_ROW_SKETCHES_MAX) ||
        UNEXPECTED(record->alias_count > FAMILY_ALIASES_MAX)) {
        return ERR_INTERNAL;
    }
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    err = record_list(arena, record->sketch_seqs, record->sketch_count, true, &message.sketch_seq);
    if (err == OK) {
        err =
            record_list(arena, record->alias_seqs, record->alias_count, false, &message.alias_seq);
    }
    return err != OK ? err : record_encode(arena, &family_row_view_type, &message, ret_bytes);
}

enum err record_decode_family_sketch(struct slice bytes, struct family_sketch_record *ret_record)
{
    if (bytes.size <= sizeof(uint64_t) || bytes.size > FAMILY_SKETCH_ROW_BYTES_MAX ||
        bytes_get_be64(bytes.data) == 0) {
        return ERR_CORRUPT;
    }
    ret_record->family_seq = bytes_get_be64(bytes.data);
    ret_record->sketch = slice_after(bytes, sizeof(uint64_t));
    return OK;
}

enum err record_encode_family_sketch(struct arena *arena, const struct family_sketch_record *record,
                                     struct slice *ret_bytes)
{
    uint8_t row[FAMILY_SKETCH_ROW_BYTES_MAX];
    size_t size = sizeof(uint64_t) + record->sketch.size;

    if (UNEXPECTED(record->family_seq == 0) || UNEXPECTED(record->sketch.size == 0) ||
        UNEXPECTED(size > sizeof(row))) {
        return ERR_INTERNAL;
    }
    bytes_put_be64(row, record->family_seq);
    memcpy(row + sizeof(uint64_t), record->sketch.data, record->sketch.size);
    return arena_copy(arena, slice_of(row, size), ret_bytes) ? OK : ERR_MEMORY;
}
