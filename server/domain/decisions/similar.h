/*
 * similar.h: finds decisions whose words are similar to those of a given decision, by their stored themes.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_SIMILAR_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_SIMILAR_H

#include "server/domain/decisions/decisions.h"

/* Maximum decisions that are compared, the most recent ones. */
#define SIMILAR_ROWS_MAX 20000
#define SIMILAR_LIMIT_MAX 100
#define SIMILAR_LIMIT_DEFAULT 20

struct similar_query {
    struct org_id org;
    uint64_t seq; /* seq of the decision; 0: `theme` is given */
    struct decision_theme theme; /* that decisions are compared with; without numbers: with none */
    double threshold; /* shown score */
    size_t limit; /* at most SIMILAR_LIMIT_MAX */
    struct slice agent; /* empty: all agents */
    /* Ends the search early with ERR_CANCELLED; called once for each 256 rows. */
    bool (*is_cancelled)(const void *user);
    const void *user;
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
};

MUST_CHECK enum err decision_find_similar(struct store_txn *txn, const struct similar_query *query,
                                          struct similar_matches *ret_matches);

#endif
