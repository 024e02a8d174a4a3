/*
 * strategies.h: searches the strategies of earlier turns with similar queries: accepted ones first,
 * and never one that was rejected for a similar query. They are ranked by quality and by the
 * feedback in the conversation.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_STRATEGIES_H
#define ERRATA_SERVER_DOMAIN_TURNS_STRATEGIES_H

#include "server/domain/turns/strategy_index.h"

/* Maximum number of the most similar turns of each status that are ranked. */
#define STRATEGY_CANDIDATES_MAX 200
/* Maximum entries of `avoid`. */
#define STRATEGY_AVOID_MAX 100
/* Minimum shown similarity by default. */
#define STRATEGY_SIMILARITY_MIN 0.5
/* Minimum similarity of a query for which a strategy was rejected, so that the strategy is left out. */
#define STRATEGY_SAME_QUERY 0.8F

/* The parameters of a search. */
struct strategy_query {
    struct org_id org;
    struct turn_vector vector;
    struct slice text; /* the query; empty if only its vector is known */
    struct slice intent; /* intent of the counts; empty: any */
    float similarity_min; /* shown */
    size_t limit; /* maximum number of returned turns */
    const struct embedder *embedder; /* embedder that made the vector, unless the caller did */
    const atomic_bool *cancelled;
    bool is_past; /* the search is as of the event `as_of_seq` */
    uint64_t as_of_seq;
};

/* A turn that was found. */
struct strategy_match {
    uint64_t seq; /* seq of its event */
    struct event event; /* borrowed from the transaction */
    struct turn_view turn; /* the turn in that event */
    enum turn_status status;
    float similarity; /* shown */
    float cosine;
    double ranking;
    uint64_t strategy; /* strategy_hash */
    uint64_t mark; /* mark of the event that set the status */
    bool is_excluded; /* its strategy was rejected for a similar query, and not accepted since */
    uint32_t accepted; /* counts of turns with its strategy and the intent */
    uint32_t rejected;
};

struct strategies {
    struct strategy_match *items; /* in the arena, best first */
    size_t count;
    struct strategy_match
        *avoid; /* rejected turns, then turns with a rejected strategy; most similar first */
    size_t avoid_count;
    size_t searched; /* number of turns with a vector of the space */
    size_t incomparable; /* number of turns without one */
    bool is_cut;
    bool misses_erased; /* of the past: turns were erased since */
};

/* Searches. ERR_MEMORY, ERR_CANCELLED, ERR_BUSY. */
MUST_CHECK enum err strategies_search(struct arena *arena, struct store_txn *txn,
                                      struct vector_index *index,
                                      const struct strategy_query *query,
                                      struct strategies *ret_strategies);

#endif
