/*
 * candidates.h: possible mappings of a line that has no confirmed one: first the suggestions of
 * matchers for its SKU, by descending confidence; then, after a rejection, the mapping of its SKU
 * that was confirmed last and superseded since; then the confirmed mappings of the same customer's
 * SKUs with a similar spelling. An internal SKU that was rejected for this SKU is never a
 * candidate.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_CANDIDATES_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_CANDIDATES_H

#include "server/domain/mappings/past.h"
#include "server/domain/mappings/similar.h"

#include <errata/v1/mapping_service.fields.h>

#define CANDIDATES_MAX SIMILAR_FOUND_MAX

struct candidate {
    struct mapping_row row; /* borrowed from the transaction */
    enum match_method method; /* SUGGESTED_MAPPING, SUPERSEDED_MAPPING or SIMILAR_SKU */
    double confidence; /* confidence; for SIMILAR_SKU the similarity */
};

struct candidates {
    struct candidate items[CANDIDATES_MAX];
    size_t count;
    bool is_incomplete; /* a limit was reached: there may be better candidates */
};

struct candidates_query {
    struct org_id org;
    struct slice customer_id;
    struct slice folded_customer_sku; /* must not be empty */
    size_t limit; /* maximum number of candidates, 1 to CANDIDATES_MAX */
    struct past *past; /* NULL: the present state */
};

MUST_CHECK enum err candidates_find(struct arena *arena, struct store_txn *txn,
                                    const struct candidates_query *query,
                                    struct candidates *ret_candidates);

#endif
