/*
 * records.c: see records.h.
 */
#include "server/domain/extractions/rows/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/extractions.views.h>

/* A record has corrected fields only if it is corrected, and is corrected only if it has corrections. */
static bool corrections_fit(uint64_t corrected_by_seq, size_t field_count, size_t correction_count)
{
    return (corrected_by_seq != 0) == (correction_count != 0) &&
           (field_count == 0 || correction_count != 0) &&
           field_count <= RECORD_CORRECTED_FIELDS_MAX && correction_count <= RECORD_CORRECTIONS_MAX;
}

enum err record_decode_extraction(struct slice bytes, struct extraction_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct extraction_record record = {.seq = 0};
    struct extraction_row_view message;
    enum err err = extraction_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record.corrected_field_count =
        record_numbers(&check, &message.corrected_field, true, record.corrected_fields,
                       RECORD_CORRECTED_FIELDS_MAX);
    record.correction_count = record_numbers(&check, &message.correction_seq, false,
                                             record.correction_seqs, RECORD_CORRECTIONS_MAX);
    record_need(&check, message.seq != 0);
    record_need(&check, message.layout_fingerprint.size > 0);
    record_need(&check, corrections_fit(message.corrected_by_seq, record.corrected_field_count,
                                        record.correction_count));
    if (check.failed) {
        return ERR_CORRUPT;
    }
    record.seq = message.seq;
    record.created_at_us = message.created_at_us;
    record.layout_fingerprint = message.layout_fingerprint;
    record.arm = message.arm;
    record.exclusion = message.exclusion;
    record.field_count = message.field_count;
    record.cites_exposures = message.cites_exposures;
    record.corrected_by_seq = message.corrected_by_seq;
    *ret_record = record;
    return OK;
}

enum err record_encode_extraction(struct arena *arena, const struct extraction_record *record,
                                  struct slice *ret_bytes)
{
    struct extraction_row_view message;
    enum err err = OK;

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->layout_fingerprint.size == 0) ||
        UNEXPECTED(!corrections_fit(record->corrected_by_seq, record->corrected_field_count,
                                    record->correction_count))) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.seq = record->seq;
    message.created_at_us = record->created_at_us;
    message.layout_fingerprint = record->layout_fingerprint;
    message.arm = record->arm;
    message.exclusion = record->exclusion;
    message.field_count = record->field_count;
    message.cites_exposures = record->cites_exposures;
    message.corrected_by_seq = record->corrected_by_seq;
    err = record_list(arena, record->corrected_fields, record->corrected_field_count, true,
                      &message.corrected_field);
    if (err == OK) {
        err = record_list(arena, record->correction_seqs, record->correction_count, false,
                          &message.correction_seq);
    }
    return err != OK ? err : record_encode(arena, &extraction_row_view_type, &message, ret_bytes);
}

enum err record_decode_extraction_key(struct slice bytes, struct extraction_key_record *ret_record)
{
    struct extraction_key_row_view message;
    enum err err = extraction_key_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    if (message.seq == 0) {
        return ERR_CORRUPT;
    }
    ret_record->seq = message.seq;
    return OK;
}

enum err record_encode_extraction_key(struct arena *arena,
                                      const struct extraction_key_record *record,
                                      struct slice *ret_bytes)
{
    struct extraction_key_row_view message = {
        .seq = record->seq,
    };

    if (UNEXPECTED(record->seq == 0)) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &extraction_key_row_view_type, &message, ret_bytes);
}
