/*
 * similar_block.h: up to 512 confirmed SKUs of a customer in one value, so that the SKUs that share
 * trigrams with a given one are found without reading each of them. Every trigram is hashed to one
 * of 168 rows of bits; a row has a bit for each entry, which is set if one of the entry's trigrams
 * hashes to the row. The sum of the rows of a text's trigrams is, for all entries at once, an upper
 * bound of the number of shared trigrams: collisions can only increase it. store/FORMAT.md
 * documents the bytes. A block grows by widening its rows, so a small block takes little space; a
 * row of a full block is one cache line.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_SIMILAR_BLOCK_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_SIMILAR_BLOCK_H

#include "server/domain/mappings/trigrams.h"
#include "store/base/err.h"

#define SIMILAR_ROWS 168
#define SIMILAR_ENTRIES_MAX 512
#define SIMILAR_BLOCK_BYTES_MAX (8 + SIMILAR_ENTRIES_MAX * (SIMILAR_ROWS / 8 + 2 + 8))

/* A block's bytes, parsed in place. */
struct similar_block {
    const uint8_t *rows; /* SIMILAR_ROWS rows of row_bytes each */
    const uint8_t *trigram_counts; /* 2 bytes per entry, little-endian */
    const uint8_t *seqs; /* 8 bytes per entry, little-endian */
    size_t row_bytes; /* 1, 4, 16 or 64: an eighth of the capacity in entries */
    size_t count; /* number of entries, from 1 */
    size_t least_trigrams; /* minimum number of trigrams of an entry, from 1 */
};

/* Returns the row to which a trigram is hashed. */
size_t similar_row_of(uint64_t trigram);

/* Parses a block, which borrows the bytes. ERR_CORRUPT for bytes that are not a block. */
MUST_CHECK enum err similar_block_read(struct slice bytes, struct similar_block *ret_block);
uint16_t similar_block_trigram_count(const struct similar_block *block, size_t entry);
uint64_t similar_block_seq(const struct similar_block *block, size_t entry);
/* Returns the index of a mapping's entry; the number of entries if it has none. */
size_t similar_block_find(const struct similar_block *block, uint64_t seq);

/* Builds the bytes of a block with an additional entry (for the empty slice: of a block with only
 * this entry). The block must not be full, nor have an entry of this mapping. */
MUST_CHECK enum err similar_block_add(struct arena *arena, struct slice bytes, uint64_t seq,
                                      const struct trigrams *trigrams, struct slice *ret_bytes);
/* Builds the bytes with an entry's mapping replaced by another one of the same SKU. */
MUST_CHECK enum err similar_block_replace(struct arena *arena, struct slice bytes, size_t entry,
                                          uint64_t seq, struct slice *ret_bytes);
/* Builds the bytes without an entry, which the last entry replaces; the empty slice if no entry is
 * left. */
MUST_CHECK enum err similar_block_remove(struct arena *arena, struct slice bytes, size_t entry,
                                         struct slice *ret_bytes);

/* For each entry, an upper bound of the number of shared trigrams, in bit planes: bit `i` of
 * planes[p] is bit p of the number of entry i. */
#define SIMILAR_PLANES_MAX 11

typedef uint64_t similar_lanes __attribute__((vector_size(64))); /* one bit per entry */
#define SIMILAR_LANE_WORDS (sizeof(similar_lanes) / sizeof(uint64_t))

struct similar_sums {
    similar_lanes planes[SIMILAR_PLANES_MAX];
    size_t plane_count; /* number of planes: the digits of the text's trigram count */
};

/* The rows to which the trigrams of a text are hashed. */
struct similar_query {
    uint16_t rows[TRIGRAMS_MAX];
    size_t count;
};

void similar_query_init(struct similar_query *query, const struct trigrams *trigrams);
void similar_block_sum(const struct similar_block *block, const struct similar_query *query,
                       struct similar_sums *ret_sums);
/* Returns, as bits, the entries whose number is at least `least`, which is 1 or more. */
void similar_sums_from(const struct similar_sums *sums, size_t least, similar_lanes *ret_lanes);
size_t similar_sums_get(const struct similar_sums *sums, size_t entry);

#endif
