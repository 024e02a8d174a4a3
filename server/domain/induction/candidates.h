/*
 * candidates.h: counts for each pattern the submissions that have it: a hash table that grows up to
 * its limit. A pattern counts once for a submission.
 */
#ifndef ERRATA_SERVER_DOMAIN_INDUCTION_CANDIDATES_H
#define ERRATA_SERVER_DOMAIN_INDUCTION_CANDIDATES_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Maximum patterns; further ones are left out. */
#define CANDIDATES_MAX 200000
/* Maximum bytes of a pattern, as in the contract. */
#define CANDIDATE_BYTES_MAX 256

/* The error that a rule would correct. */
enum induction_target {
    TARGET_FALSE_NEGATIVE, /* original REAL, correct FAKE */
    TARGET_FALSE_POSITIVE, /* original FAKE, correct REAL */
    TARGET_COUNT
};

struct candidate {
    struct slice pattern;
    uint32_t next; /* next in the same bucket, + 1; 0: this is the last one */
    uint32_t last_submission; /* number of the last counted submission, + 1 */
    uint32_t hits;
    uint32_t targets[TARGET_COUNT]; /* targets among the hits */
};

struct candidates {
    struct arena
        *arena; /* owns the table and its patterns; keeps smaller tables that were replaced */
    struct candidate *items;
    uint32_t count;
    uint32_t room; /* capacity of `items`, and number of buckets */
    uint32_t *buckets; /* the newest candidate, + 1; 0: none */
    uint64_t seed;
    bool is_full; /* a pattern was left out */
};

/* `seed` must be random, so that callers cannot choose patterns that share a bucket. Fails only with ERR_MEMORY. */
MUST_CHECK enum err candidates_init(struct candidates *candidates, struct arena *arena,
                                    uint64_t seed);
/* Adds a pattern without counting it. Empty and too long patterns are left out. */
MUST_CHECK enum err candidates_add(struct candidates *candidates, struct slice pattern);
/* Counts a pattern for a submission; an unknown pattern is ignored. `targets`: the targets that the submission has. */
void candidates_count(struct candidates *candidates, struct slice pattern, uint32_t submission,
                      const bool targets[TARGET_COUNT]);

#endif
