/*
 * records.c: see records.h.
 */
#include "server/domain/settings/records.h"

#include "server/domain/events/annotator_kinds.h"
#include "store/base/assert.h"
#include "store/record_pb.h"

#include <record/settings.pb.h>

#define PERCENT_MAX 100

enum err record_decode_settings(struct slice bytes, struct settings_record *ret_record)
{
    errata_record_SettingsRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_SettingsRow_msg, &message);
    if (err != OK) {
        return err;
    }
    if (message.seq == 0 || message.holdout_percent > PERCENT_MAX ||
        !annotator_kinds_is_valid(message.annotator_kinds)) {
        return ERR_CORRUPT;
    }
    ret_record->seq = message.seq;
    ret_record->holdout_percent = message.holdout_percent;
    ret_record->match_mode = message.match_mode;
    ret_record->annotator_kinds = message.annotator_kinds;
    ret_record->grouping = message.grouping;
    return OK;
}

enum err record_encode_settings(struct arena *arena, const struct settings_record *record,
                                struct slice *ret_bytes)
{
    errata_record_SettingsRow message = {
        .seq = record->seq,
        .holdout_percent = record->holdout_percent,
        .match_mode = record->match_mode,
        .annotator_kinds = record->annotator_kinds,
        .grouping = record->grouping,
    };

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->holdout_percent > PERCENT_MAX) ||
        UNEXPECTED(!annotator_kinds_is_valid(record->annotator_kinds))) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_SettingsRow_msg, &message, ret_bytes);
}
