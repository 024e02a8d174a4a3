/*
 * reference.h: a second implementation of scores, from the text of the contract: every rule is read from its row and
 * compared with all parts of the receipt.
 */
#ifndef ERRATA_TESTS_UNIT_SCORING_REFERENCE_H
#define ERRATA_TESTS_UNIT_SCORING_REFERENCE_H

#include "server/domain/scoring/rule_set.h"
#include "store/base/random.h"

#define REFERENCE_PATTERNS 24
#define REFERENCE_EVENTS_MAX (3 * REFERENCE_PATTERNS)
#define REFERENCE_FEATURES 6

extern const char *const reference_patterns[REFERENCE_PATTERNS];

/* A random receipt, with its parts. */
struct reference_receipt {
    struct receipt receipt;
    double score;
    struct score_context context;
    bool stacks_max;
    int features[REFERENCE_FEATURES]; /* number of the value of each feature; 0: it is absent */
};

struct reference_event {
    uint64_t seq;
    int64_t weight;
    bool is_suppressed;
    uint64_t count;
    uint64_t accuracy;
};

/* With `shadows`, rules in SHADOW count, which changes sum and verdict, but not the events. */
struct reference_score {
    struct reference_event events[REFERENCE_EVENTS_MAX];
    size_t count;
    double unclamped;
    uint64_t shadow_seqs[REFERENCE_EVENTS_MAX];
    size_t shadow_count;
    double unclamped_with_shadows;
};

/* The verdict of a score at thresholds of .4 and .6. */
enum verdict reference_verdict(double score);

uint32_t reference_pick(struct random_seeded *random, uint32_t below);
/* Draws a receipt, which is valid until the next call. */
struct reference_receipt reference_receipt(struct random_seeded *random);
struct reference_score reference_score(struct store_txn *txn, struct org_id org,
                                       const struct reference_receipt *receipt);

#endif
