/*
 * records.c: see records.h.
 */
#include "server/domain/experiment/records.h"

#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/experiment.views.h>

/* Checks the sums of an arm: corrected extractions do not exceed extractions, and an empty arm has
 * no sums. Fields are not compared, since a person may correct more fields than the model
 * reported. */
static bool arm_fits(const struct arm_sums *arm)
{
    return arm->corrected_count <= arm->extraction_count &&
           (arm->extraction_count != 0 ||
            (arm->field_count == 0 && arm->corrected_field_count == 0));
}

/* The arms are parts of the whole. A layout may be listed without extractions; an organisation's
 * row must have at least one. */
static bool layout_stats_fit(const struct layout_stats_record *record)
{
    return (record->layout_fingerprint.size > 0 || record->extraction_count != 0) &&
           record->corrected_count <= record->extraction_count && arm_fits(&record->treatment) &&
           arm_fits(&record->control) &&
           record->treatment.extraction_count <= record->extraction_count &&
           record->control.extraction_count <=
               record->extraction_count - record->treatment.extraction_count;
}

static enum err take_arm(struct slice bytes, struct arm_sums *ret_arm)
{
    struct arm_sums_view arm;
    enum err err = arm_sums_view_read(bytes, &arm);

    if (err == OK) {
        *ret_arm = (struct arm_sums){
            .extraction_count = arm.extraction_count,
            .corrected_count = arm.corrected_count,
            .field_count = arm.field_count,
            .corrected_field_count = arm.corrected_field_count,
        };
    }
    return err;
}

enum err record_decode_layout_stats(struct slice bytes, struct layout_stats_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct layout_stats_row_view message;
    struct layout_stats_record record;
    enum err err = layout_stats_row_view_read(bytes, &message);

    if (err == OK) {
        err = take_arm(message.treatment, &record.treatment);
    }
    if (err == OK) {
        err = take_arm(message.control, &record.control);
    }
    if (err != OK) {
        return err;
    }
    record.layout_fingerprint = message.layout_fingerprint;
    record.extraction_count = message.extraction_count;
    record.corrected_count = message.corrected_count;
    memset(record.excluded_count, 0, sizeof(record.excluded_count));
    (void)record_numbers(&check, &message.excluded_count, false, record.excluded_count, EXCLUSIONS);
    record_need(&check, layout_stats_fit(&record));
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

/* An arm without extractions is left out. */
static enum err give_arm(struct arena *arena, const struct arm_sums *arm, struct slice *ret_bytes,
                         bool *ret_has)
{
    const struct arm_sums_view view = {
        .extraction_count = arm->extraction_count,
        .corrected_count = arm->corrected_count,
        .field_count = arm->field_count,
        .corrected_field_count = arm->corrected_field_count,
    };

    *ret_has = arm->extraction_count != 0;
    return record_encode(arena, &arm_sums_view_type, &view, ret_bytes);
}

enum err record_encode_layout_stats(struct arena *arena, const struct layout_stats_record *record,
                                    struct slice *ret_bytes)
{
    struct layout_stats_row_view message;
    size_t excluded_count = EXCLUSIONS;
    enum err err = OK;

    if (UNEXPECTED(!layout_stats_fit(record))) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.layout_fingerprint = record->layout_fingerprint;
    message.extraction_count = record->extraction_count;
    message.corrected_count = record->corrected_count;
    err = give_arm(arena, &record->treatment, &message.treatment, &message.has_treatment);
    if (err == OK) {
        err = give_arm(arena, &record->control, &message.control, &message.has_control);
    }
    while (excluded_count > 0 && record->excluded_count[excluded_count - 1] == 0) {
        excluded_count--;
    }
    if (err == OK) {
        err = record_list(arena, record->excluded_count, excluded_count, false,
                          &message.excluded_count);
    }
    return err != OK ? err : record_encode(arena, &layout_stats_row_view_type, &message, ret_bytes);
}
