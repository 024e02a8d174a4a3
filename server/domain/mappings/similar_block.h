/*
 * similar_block.h: up to 512 confirmed SKUs of a customer in one value, so that the SKUs which share
 * trigrams with another are found without reading each. Every trigram falls on one of 168 rows of bits;
 * a row has a bit for each entry, set where one of the entry's trigrams falls on it. The sum of a
 * text's rows gives for every entry at once how many of the text's trigrams it can have at most: never
 * too few, since what an entry has sets its bit, also if others fall on the same row. store/FORMAT.md
 * has the bytes. A block is as large as it needs to be, and grows by widening its rows: a small one costs
 * a customer little, and of a full one a row is one line of the processor's cache.
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

/* The row that a trigram falls on. */
size_t similar_row_of(uint64_t trigram);

/* ERR_CORRUPT for bytes that are not a block. Borrows them. */
MUST_CHECK enum err similar_block_read(struct slice bytes, struct similar_block *ret_block);
uint16_t similar_block_trigram_count(const struct similar_block *block, size_t entry);
uint64_t similar_block_seq(const struct similar_block *block, size_t entry);
/* The entry of a mapping; the block's count where it has none. */
size_t similar_block_find(const struct similar_block *block, uint64_t seq);

/* The bytes of a block with one entry more (of the empty slice: of a block of only this entry). The
 * block is not full, and has no entry of this mapping. */
MUST_CHECK enum err similar_block_add(struct arena *arena, struct slice bytes, uint64_t seq,
                                      const struct trigrams *trigrams, struct slice *ret_bytes);
/* The same with another mapping in an entry's place, whose SKU is the same. */
MUST_CHECK enum err similar_block_replace(struct arena *arena, struct slice bytes, size_t entry,
                                          uint64_t seq, struct slice *ret_bytes);
/* The same without an entry, in whose place the last one goes; the empty slice without entries. */
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

/* The rows that the trigrams of a text fall on. */
struct similar_query {
    uint16_t rows[TRIGRAMS_MAX];
    size_t count;
};

void similar_query_init(struct similar_query *query, const struct trigrams *trigrams);
void similar_block_sum(const struct similar_block *block, const struct similar_query *query,
                       struct similar_sums *ret_sums);
/* The entries whose number is `least` or more, as bits; `least` from 1. */
void similar_sums_from(const struct similar_sums *sums, size_t least, similar_lanes *ret_lanes);
size_t similar_sums_get(const struct similar_sums *sums, size_t entry);

#endif
