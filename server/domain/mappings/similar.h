/*
 * similar.h: finds the confirmed SKUs of a customer whose spelling is similar to a given one, with
 * the blocks of similar_block.h: computes an upper bound of the similarity for all entries of each
 * block, sorts the candidates by it, and compares the best of them exactly. The result has the
 * exact order unless a limit below was reached, which is reported as incomplete.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_SIMILAR_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_SIMILAR_H

#include "server/domain/mappings/rows.h"
#include "server/domain/mappings/similar_block.h"

/* Maximum blocks of a customer that one search examines: 262,144 SKUs. */
#define SIMILAR_BLOCKS_MAX 512
/* Maximum mappings that one search compares exactly. */
#define SIMILAR_COMPARED_MAX 64
/* Maximum candidates that one search returns. */
#define SIMILAR_FOUND_MAX 20

/* Adds a confirmed mapping to the blocks; `ret_block` is the number of its block, 0 for a SKU
 * without trigrams, which is similar to no other. */
MUST_CHECK enum err similar_enter(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct mapping_row *row, uint32_t *ret_block);
/* Removes a mapping from its block. */
MUST_CHECK enum err similar_leave(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct mapping_row *row);
/* Replaces a mapping by the mapping `seq`, of the same SKU. */
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

/* Sorted by similarity, best first; of equal ones, the mapping that was created first. */
struct similar_found {
    struct similar_mapping items[SIMILAR_FOUND_MAX];
    size_t count;
    bool is_incomplete; /* a limit was reached: there may be better ones */
};

/* Inserts a mapping with this similarity into `found`, the best ones so far. */
void similar_found_add(struct similar_found *found, size_t limit, const struct mapping_row *row,
                       double similarity);
MUST_CHECK enum err similar_find(struct arena *arena, struct store_txn *txn,
                                 const struct similar_search *search,
                                 struct similar_found *ret_found);

#endif
