/*
 * keys.h: keys of counters, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_COUNTERS_KEYS_H
#define ERRATA_SERVER_DOMAIN_COUNTERS_KEYS_H

#include "store/key.h"

/* The dimension of a counter; the numbers are part of stored keys and never change. */
enum counter_dimension {
    COUNTER_EVENT_TYPE = 1, /* name: number of the event type as text */
    COUNTER_LINE_FIELD = 2, /* name: a field of EXTRACTION_LINE_CORRECTED */
    COUNTER_FIELD_FIELD = 3, /* name: a field of EXTRACTION_FIELD_CORRECTED */
    COUNTER_FIELD_NAMES = 4, /* one row: the number of distinct field names of the day */
    COUNTER_EXTRACTIONS = 5, /* one row: extractions */
    COUNTER_CONFIDENCE = 6, /* one row: the sum of their confidences in millionths */
    COUNTER_CORRECTED = 7, /* one row: the day's extractions that were corrected later */
    COUNTER_MAPPING_APPLIED = 8, /* one row: lines that mappings were applied to */
    COUNTER_RETRACTED = 9 /* one row: the day's feedback events that were retracted later */
};

/* The last dimension; a key with a larger number is corrupt. */
#define COUNTER_DIMENSION_MAX COUNTER_RETRACTED

/* Prefix of a day's counters; days ascend. Prefix of all: key_org. */
struct key key_counter_day_prefix(struct org_id org, uint32_t day);
/* `day` counts days since 1970 in UTC. */
struct key key_counter(struct org_id org, uint32_t day, enum counter_dimension dimension,
                       struct slice name);
/* ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_counter(struct slice key, uint32_t *ret_day,
                                     enum counter_dimension *ret_dimension);

#endif
