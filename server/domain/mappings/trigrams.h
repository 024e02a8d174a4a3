/*
 * trigrams.h: the similarity of the spelling of two SKUs: the Jaccard index of their sets of
 * trigrams, as computed by PostgreSQL's pg_trgm: all runs of three characters of each word of
 * letters and digits, with two spaces before it and one after it.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_TRIGRAMS_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_TRIGRAMS_H

#include "server/domain/text/sku.h"

#include <stdbool.h>

/* A word of n characters has n + 1 trigrams, and words are separated by at least one character. */
#define TRIGRAMS_MAX (SKU_FOLDED_BYTES_MAX + (SKU_FOLDED_BYTES_MAX + 1) / 2)

/* The set of a text's trigrams: each once, ascending. */
struct trigrams {
    uint64_t items[TRIGRAMS_MAX]; /* three code points of 21 bits per item */
    size_t count;
};

/* `folded` is valid UTF-8 of at most SKU_FOLDED_BYTES_MAX bytes. */
void trigrams_read(struct slice folded, struct trigrams *ret_trigrams);
/* Returns the number of trigrams in both sets. */
size_t trigrams_count_shared(const struct trigrams *a, const struct trigrams *b);

/* Returns the Jaccard index of two sets of these sizes that share `shared` trigrams; 0 for two
 * empty sets. */
static inline double trigrams_similarity(size_t a_count, size_t b_count, size_t shared)
{
    return shared == 0 ? 0 : (double)shared / (double)(a_count + b_count - shared);
}

/* Returns whether the index is 0.4 or more: similar enough to be a candidate. */
static inline bool trigrams_are_similar(size_t a_count, size_t b_count, size_t shared)
{
    return shared != 0 && 5 * shared >= 2 * (a_count + b_count - shared);
}

#endif
