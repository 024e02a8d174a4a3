/*
 * similar.h: the confirmed SKUs of a customer that are written like another, by the blocks of
 * similar_block.h: each block is looked at whole, what may be similar enough is ranked by the most
 * that it can be, and the best are compared as they are written. What is answered is the true order as
 * long as the limits below hold; beyond them it is said to be incomplete.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_SIMILAR_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_SIMILAR_H

#include "server/domain/mappings/rows.h"
#include "server/domain/mappings/similar_block.h"

/* Blocks of a customer that one search looks at: 262,144 SKUs. */
#define SIMILAR_BLOCKS_MAX 512
/* Mappings that one search compares as they are written. */
#define SIMILAR_COMPARED_MAX 64
/* Candidates that one search answers at most. */
#define SIMILAR_FOUND_MAX 20

/* A confirmed mapping enters the blocks; `ret_block` is the number of its block, 0 for a SKU without
 * trigrams, which is like no other. */
MUST_CHECK enum err similar_enter(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct mapping_row *row, uint32_t *ret_block);
/* A mapping leaves its block. */
MUST_CHECK enum err similar_leave(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct mapping_row *row);
/* The mapping `seq`, of the same SKU, takes the place of one that leaves. */
MUST_CHECK enum err similar_take_place(struct arena *arena, struct store_txn *txn,
                                       struct org_id org, const struct mapping_row *leaving,
                                       uint64_t seq);

/* Parameters of a search. */
struct similar_search {
    struct org_id org;
    struct slice customer_id;
    struct slice folded_customer_sku;
    const struct slice *rejected; /* folded internal SKUs to exclude */
    size_t rejected_count;
    size_t limit; /* maximum number of results, 1 to SIMILAR_FOUND_MAX */
};

/* Returns whether an internal SKU is to be excluded. */
bool similar_is_rejected(const struct similar_search *search, struct slice folded_internal_sku);

struct similar_mapping {
    struct mapping_row row; /* borrowed from the transaction */
    double similarity;
};

/* Best first; of equal ones the mapping that was made first. */
struct similar_found {
    struct similar_mapping items[SIMILAR_FOUND_MAX];
    size_t count;
    bool is_incomplete; /* a limit was met: there may be better ones */
};

/* Adds to `found`, which holds the best so far, a mapping that is as similar. */
void similar_found_add(struct similar_found *found, size_t limit, const struct mapping_row *row,
                       double similarity);
MUST_CHECK enum err similar_find(struct arena *arena, struct store_txn *txn,
                                 const struct similar_search *search,
                                 struct similar_found *ret_found);

#endif
