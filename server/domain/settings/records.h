/*
 * records.h: rows of settings as plain C, and their bytes: messages of proto/record/settings.proto.
 * The rules of store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_SETTINGS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_SETTINGS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* SETTINGS */
struct settings_record {
    uint64_t seq; /* number of the event that set them */
    uint32_t holdout_percent; /* 0 to 100 */
    uint32_t match_mode; /* errata.v1.MatchMode; 0: not set */
    uint32_t annotator_kinds; /* server/domain/events/annotator_kinds.h; at least one */
    uint32_t grouping; /* errata.v1.ExampleGrouping; 0: not set */
    uint32_t stacking; /* errata.v1.ScoreStacking; 0: the default */
    uint32_t suspicious_at; /* in billionths, + 1; 0: the default */
    uint32_t fake_at; /* in billionths, + 1, too; 0: the default */
    uint32_t reviews_needed; /* 2 to 100; 0: the default */
    uint32_t votes_needed; /* 1 to 100, not 2; 0: the default */
};

MUST_CHECK enum err record_decode_settings(struct slice bytes, struct settings_record *ret_record);

MUST_CHECK enum err record_encode_settings(struct arena *arena,
                                           const struct settings_record *record,
                                           struct slice *ret_bytes);

#endif
