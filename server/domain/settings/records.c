/*
 * records.c: see records.h.
 */
#include "server/domain/settings/records.h"

#include "server/domain/events/annotator_kinds.h"
#include "store/base/assert.h"
#include "store/record_row.h"

#include <record/settings.views.h>

#define PERCENT_MAX 100
/* The largest threshold, + 1. */
#define THRESHOLD_MAX (UINT32_C(1000000000) + 1)
#define REVIEWS_NEEDED_DEFAULT 1
#define REVIEWS_NEEDED_MAX 100
#define VOTES_NEEDED_DEFAULT 2
#define VOTES_NEEDED_MAX 100

/* The default has no field. */
static bool needed_fits(uint32_t reviews_needed)
{
    return reviews_needed != REVIEWS_NEEDED_DEFAULT && reviews_needed <= REVIEWS_NEEDED_MAX;
}

static bool votes_fit(uint32_t votes_needed)
{
    return votes_needed != VOTES_NEEDED_DEFAULT && votes_needed <= VOTES_NEEDED_MAX;
}

enum err record_decode_settings(struct slice bytes, struct settings_record *ret_record)
{
    struct settings_row_view message;
    enum err err = settings_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    if (message.seq == 0 || message.holdout_percent > PERCENT_MAX ||
        !annotator_kinds_is_valid(message.annotator_kinds) ||
        message.suspicious_at > THRESHOLD_MAX || message.fake_at > THRESHOLD_MAX ||
        !needed_fits(message.reviews_needed) || !votes_fit(message.votes_needed)) {
        return ERR_CORRUPT;
    }
    ret_record->seq = message.seq;
    ret_record->holdout_percent = message.holdout_percent;
    ret_record->match_mode = message.match_mode;
    ret_record->annotator_kinds = message.annotator_kinds;
    ret_record->grouping = message.grouping;
    ret_record->stacking = message.stacking;
    ret_record->suspicious_at = message.suspicious_at;
    ret_record->fake_at = message.fake_at;
    ret_record->reviews_needed = message.reviews_needed;
    ret_record->votes_needed = message.votes_needed;
    return OK;
}

enum err record_encode_settings(struct arena *arena, const struct settings_record *record,
                                struct slice *ret_bytes)
{
    struct settings_row_view message = {
        .seq = record->seq,
        .holdout_percent = record->holdout_percent,
        .match_mode = record->match_mode,
        .annotator_kinds = record->annotator_kinds,
        .grouping = record->grouping,
        .stacking = record->stacking,
        .suspicious_at = record->suspicious_at,
        .fake_at = record->fake_at,
        .reviews_needed = record->reviews_needed,
        .votes_needed = record->votes_needed,
    };

    if (UNEXPECTED(record->seq == 0) || UNEXPECTED(record->holdout_percent > PERCENT_MAX) ||
        UNEXPECTED(!annotator_kinds_is_valid(record->annotator_kinds)) ||
        UNEXPECTED(record->suspicious_at > THRESHOLD_MAX || record->fake_at > THRESHOLD_MAX) ||
        UNEXPECTED(!needed_fits(record->reviews_needed)) ||
        UNEXPECTED(!votes_fit(record->votes_needed))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &settings_row_view_type, &message, ret_bytes);
}
