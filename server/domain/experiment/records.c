/*
 * records.c: see records.h.
 */
#include "server/domain/experiment/records.h"

#include "store/base/assert.h"
#include "store/record_pb.h"

#include <record/experiment.pb.h>

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

static struct arm_sums take_arm(const errata_record_ArmSums *arm)
{
    return (struct arm_sums){
        .extraction_count = arm->extraction_count,
        .corrected_count = arm->corrected_count,
        .field_count = arm->field_count,
        .corrected_field_count = arm->corrected_field_count,
    };
}

enum err record_decode_layout_stats(struct slice bytes, struct layout_stats_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_LayoutStatsRow message;
    struct layout_stats_record record;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_LayoutStatsRow_msg, &message);
    if (err != OK) {
        return err;
    }
    record.layout_fingerprint = record_take(&check, message.layout_fingerprint);
    record.extraction_count = message.extraction_count;
    record.corrected_count = message.corrected_count;
    record.treatment = take_arm(&message.treatment);
    record.control = take_arm(&message.control);
    memset(record.excluded_count, 0, sizeof(record.excluded_count));
    memcpy(record.excluded_count, message.excluded_count,
           message.excluded_count_count * sizeof(message.excluded_count[0]));
    record_need(&check, layout_stats_fit(&record));
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

/* An arm without extractions is left out. */
static void give_arm(const struct arm_sums *arm, errata_record_ArmSums *ret_arm, bool *ret_has)
{
    *ret_has = arm->extraction_count != 0;
    ret_arm->extraction_count = arm->extraction_count;
    ret_arm->corrected_count = arm->corrected_count;
    ret_arm->field_count = arm->field_count;
    ret_arm->corrected_field_count = arm->corrected_field_count;
}

enum err record_encode_layout_stats(struct arena *arena, const struct layout_stats_record *record,
                                    struct slice *ret_bytes)
{
    errata_record_LayoutStatsRow message;

    if (UNEXPECTED(!layout_stats_fit(record))) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.layout_fingerprint = record->layout_fingerprint;
    message.extraction_count = record->extraction_count;
    message.corrected_count = record->corrected_count;
    give_arm(&record->treatment, &message.treatment, &message.has_treatment);
    give_arm(&record->control, &message.control, &message.has_control);
    memcpy(message.excluded_count, record->excluded_count, sizeof(record->excluded_count));
    message.excluded_count_count = EXCLUSIONS;
    while (message.excluded_count_count > 0 &&
           message.excluded_count[message.excluded_count_count - 1] == 0) {
        message.excluded_count_count--;
    }
    return record_pb_encode(arena, &errata_record_LayoutStatsRow_msg, &message, ret_bytes);
}
