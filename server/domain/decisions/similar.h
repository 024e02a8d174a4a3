/*
 * similar.h: finds decisions whose words are similar to those of a given decision, by their stored themes: among all of the
 * organisation, the SIMILAR_EXACT_ROWS with the best sketches are compared exactly.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_SIMILAR_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_SIMILAR_H

#include "server/domain/decisions/similar_index.h"

#define SIMILAR_LIMIT_MAX 100
#define SIMILAR_LIMIT_DEFAULT 20

struct similar_query {
    struct org_id org;
    uint64_t seq; /* seq of the decision; 0: `theme` is given */
    struct decision_theme theme; /* that decisions are compared with; without numbers: with none */
    double threshold; /* shown score */
    size_t limit; /* at most SIMILAR_LIMIT_MAX */
    struct slice agent; /* empty: all agents */
    const atomic_bool
        *cancelled; /* ends the search early with ERR_CANCELLED, while the index is made */
};

struct similar_match {
    uint64_t seq;
    double cosine;
    double shown;
};

struct similar_matches {
    struct similar_match items[SIMILAR_LIMIT_MAX]; /* most similar first */
    size_t count;
    struct slice space;
    bool is_cut; /* some decisions were not searched; see SIMILAR_ROWS_MAX */
};

/* ERR_MEMORY, ERR_CANCELLED, ERR_BUSY. A decision that was retracted after the transaction began may be left out. */
MUST_CHECK enum err decision_find_similar(struct arena *arena, struct store_txn *txn,
                                          struct vector_index *index,
                                          const struct similar_query *query,
                                          struct similar_matches *ret_matches);

#endif
