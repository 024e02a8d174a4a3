/*
 * records.h: rows of artifacts as plain C, and their bytes: messages of proto/record/artifacts.proto. The rules of
 * store/records.h hold: what does not decode is ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* The key of an artifact: the number of the event that made it. */
static inline struct key key_artifact(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

/* What was counted of an artifact on one side of the experiment. */
struct artifact_counts {
    uint64_t exposure_count; /* that outcomes cited */
    uint64_t outcome_count;
    uint64_t bad_count; /* of the outcomes */
};

/* Newest outcomes of an artifact whose events its row names. */
#define ARTIFACT_OUTCOMES_MAX 5

/* ARTIFACT */
struct artifact_record {
    struct artifact_counts none; /* without an arm */
    struct artifact_counts treatment;
    struct artifact_counts control; /* held out: it would have been served */
    uint64_t withdrawn_seq; /* the last event that rejected or superseded a mapping; 0: none did */
    uint64_t outcome_seqs[ARTIFACT_OUTCOMES_MAX]; /* of the newest outcomes, newest first */
    size_t outcome_seq_count;
};

MUST_CHECK enum err record_decode_artifact(struct slice bytes, struct artifact_record *ret_record);

MUST_CHECK enum err record_encode_artifact(struct arena *arena,
                                           const struct artifact_record *record,
                                           struct slice *ret_bytes);

#endif
