/*
 * similar_index.h: the themes of organisations' decisions in memory, as FindSimilar needs them: sketches, spaces and agents;
 * in an index of server/domain/vector_index. It only selects which stored themes are compared, so a row that the
 * transaction does not have, or has no longer, is never in a result.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_SIMILAR_INDEX_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_SIMILAR_INDEX_H

#include "server/domain/decisions/decisions.h"
#include "server/domain/vector_index/vector_index.h"
#include "server/domain/vectors/vectors.h"

/* Maximum decisions of all organisations that are kept, about 300 bytes each, half as much again while rows are added; a
 * single organisation may have more. */
#define SIMILAR_KEPT_MAX 1000000
/* Maximum rows of an organisation, with those of decisions that were retracted or erased since the index was made. Decisions
 * without a row are not searched, and the answer reports it: those that were recorded last, or, if the index was made from the
 * tables, those of the spaces that were read last. */
#define SIMILAR_ROWS_MAX 1000000

/* Decisions with the best sketches that are compared exactly: with fewer, recall decreases; with more, reading them takes longer
 * than a scan of 100,000 sketches. */
#define SIMILAR_EXACT_ROWS 1500

/* Kinds of rows. */
enum similar_kind {
    SIMILAR_SEARCHED,
    SIMILAR_LEFT_OUT = VECTORS_KINDS /* of another space or agent */
};

/* Columns of a row. */
enum similar_column {
    SIMILAR_AGENT, /* similar_agent of its agent */
    SIMILAR_COLUMNS
};

/* Makes rows of themes; those of a space ascend by seq. Retracted and erased decisions are in no space. Its spaces are hashes, as in keys. */
extern const struct vector_source similar_source;

/* A space as the index names it: the hash of its name, in `key`. */
struct slice similar_space(struct slice name, struct key *key);
/* The number by which rows of an agent are recognised; others may have it, too. */
uint64_t similar_agent(struct slice agent);
/* Writes the numbers of a theme as a vector of length 1; at most VECTORS_WIDTH_MAX. Returns how many. */
size_t similar_vector(struct slice numbers, float values[VECTORS_WIDTH_MAX]);

#endif
