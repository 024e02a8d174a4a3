/*
 * records.h: rows of sums over extractions as plain C, and their bytes: messages of
 * proto/record/experiment.proto. The rules of store/records.h apply: slices are borrowed from the bytes,
 * and bytes that do not decode are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPERIMENT_RECORDS_H
#define ERRATA_SERVER_DOMAIN_EXPERIMENT_RECORDS_H

#include "server/domain/layouts/keys.h"
#include "store/base/arena.h"

/* Sums of a layout, or (of the zero fingerprint) of the organisation. Prefix of all: key_org. */
static inline struct key key_layout_stats(struct org_id org,
                                          const struct key_fingerprint *fingerprint)
{
    return key_layout_prefix(org, fingerprint);
}

/* Sums over the extractions of one arm of an experiment. */
struct arm_sums {
    uint64_t extraction_count;
    uint64_t corrected_count; /* extractions with corrections */
    uint64_t field_count; /* fields of the extractions that report a number */
    uint64_t corrected_field_count; /* corrected ones of those fields */
};

/* Reasons why an extraction counts in no arm: errata.v1.ExperimentExclusion from 1 on. */
#define EXCLUSIONS 5

/* LAYOUT_STATS: the sums over the extractions of a layout, or of an organisation. */
struct layout_stats_record {
    struct slice layout_fingerprint; /* text; empty: the organisation */
    uint64_t extraction_count;
    uint64_t corrected_count;
    struct arm_sums treatment;
    struct arm_sums control;
    uint64_t excluded_count
        [EXCLUSIONS]; /* number of extractions in neither arm, indexed by reason minus 1 */
};

MUST_CHECK enum err record_decode_layout_stats(struct slice bytes,
                                               struct layout_stats_record *ret_record);

MUST_CHECK enum err record_encode_layout_stats(struct arena *arena,
                                               const struct layout_stats_record *record,
                                               struct slice *ret_bytes);

#endif
