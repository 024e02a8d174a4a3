/*
 * records.h: rows of artifacts as plain C, and their bytes: messages of
 * proto/record/artifacts.proto. The rules of store/records.h apply: bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

#include <errata/v1/artifact.fields.h>

/* The counts of an artifact on one side of the experiment. */
struct artifact_counts {
    uint64_t exposure_count; /* exposures that outcomes cited */
    uint64_t outcome_count;
    uint64_t bad_count; /* number of the outcomes */
};

/* Maximum number of newest outcomes whose events an artifact's row names. */
#define ARTIFACT_OUTCOMES_MAX 5

/* ARTIFACT */
struct artifact_record {
    struct artifact_counts
        none; /* exposures and outcomes without an arm; of a learned rule, those in SHADOW too */
    struct artifact_counts treatment;
    struct artifact_counts control; /* held-out exposures, which would otherwise have been served */
    struct artifact_counts
        shadow; /* exposures without it, because it was in SHADOW; a guideline's, without the arm CONTROL */
    uint64_t
        withdrawn_seq; /* the last event that rejected or superseded a mapping; 0: there is none */
    uint64_t outcome_seqs[ARTIFACT_OUTCOMES_MAX]; /* seqs of the newest outcomes, newest first */
    size_t outcome_seq_count;
};

/* ARTIFACT_LIFE, also a part of the rows of artifacts that have states: a state and a version (life.h). */
struct artifact_life_record {
    uint32_t state; /* errata.v1.ArtifactState; not 0 */
    bool held_back; /* a person disabled it: it has no effect even if ACTIVE */
    bool set_by_person; /* a person set the state: evidence does not change it from RETIRED */
    uint32_t version; /* from 1 */
    uint64_t valid_from_seq; /* the event that made this change */
    uint64_t content_seq; /* the event that has the content of this version */
    uint64_t valid_to_seq; /* the event that made the next change; 0: this is the current one */
};

MUST_CHECK enum err record_decode_artifact(struct slice bytes, struct artifact_record *ret_record);
MUST_CHECK enum err record_decode_artifact_life(struct slice bytes,
                                                struct artifact_life_record *ret_life);

MUST_CHECK enum err record_encode_artifact(struct arena *arena,
                                           const struct artifact_record *record,
                                           struct slice *ret_bytes);
MUST_CHECK enum err record_encode_artifact_life(struct arena *arena,
                                                const struct artifact_life_record *life,
                                                struct slice *ret_bytes);

#endif
