/*
 * recount.h: counts the exposures and outcomes of artifacts from explanations, without the server's counts.
 */
#ifndef ERRATA_TESTS_EXPLAIN_RECOUNT_H
#define ERRATA_TESTS_EXPLAIN_RECOUNT_H

#include "tests/rpc/fixture.h"

/* Maximum artifacts, mappings and outcomes of one fixture. */
#define RECOUNT_ARTIFACTS_MAX 1000
#define RECOUNT_MAPPINGS_MAX 64
#define RECOUNT_OUTCOMES_MAX 20000

/* A mapping: confirmed or not, and the last event that made it so no more. */
struct recount_mapping {
    const char *id;
    bool is_confirmed;
    uint64_t lost_seq;
};

/* An outcome of one artifact. */
struct recount_outcome {
    size_t artifact;
    const char *event_id;
    unsigned arm;
    bool bad;
};

struct recount_artifact {
    const char *id;
    uint64_t exposures[4]; /* by arm */
};

struct recount {
    struct recount_mapping mappings[RECOUNT_MAPPINGS_MAX];
    size_t mapping_count;
    struct recount_artifact artifacts[RECOUNT_ARTIFACTS_MAX];
    size_t artifact_count;
    struct recount_outcome outcomes[RECOUNT_OUTCOMES_MAX];
    size_t outcome_count;
    const char *exposures[1000]; /* ids of those that were counted */
    size_t exposure_count;
};

/* Records the mappings as they are after a judgement, the event `seq`. */
void recount_judgement(struct recount *recount, const Errata__V1__FeedbackEvent *event,
                       uint64_t seq);
/* Counts an exposure that is in the log, once. */
void recount_exposure(struct recount *recount,
                      const Errata__V1__ExplainExposureResponse *explained);
/* Compares the report of each artifact. */
void recount_check(const struct recount *recount, struct fixture *fixture);

#endif
