/*
 * field_counts.h: how often each corrected field was corrected, added up over days, and the most
 * frequent of them. Fields are distinguished by the hash in their counters' keys; their names stay in the
 * store.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_FIELD_COUNTS_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_FIELD_COUNTS_H

#include "store/base/arena.h"
#include "store/base/err.h"
#include "store/base/random.h"

#define FIELD_HASH_BYTES 16

/* The corrections to count. */
enum field_kind {
    FIELD_OF_LINE,
    FIELD_OF_HEADER,
    FIELD_OF_BOTH
};

struct field_count {
    uint8_t hash[FIELD_HASH_BYTES];
    struct slice name; /* borrowed from the transaction */
    uint64_t counts[2]; /* counts by enum field_kind, for the first two kinds */
};

struct field_counts {
    struct field_count *items; /* items in the order of insertion */
    size_t count;
    size_t count_max;
    uint32_t *places; /* hash table with open addressing: 0, or 1 + index of an item */
    unsigned place_bits;
    uint64_t seed; /* random seed of the hash, since callers choose the names */
};

/* Room for `count_max` different fields. Fails only with ERR_MEMORY. */
MUST_CHECK enum err field_counts_init(struct field_counts *counts, struct arena *arena,
                                      struct random *random, size_t count_max);
/* Returns ERR_CORRUPT for more fields than `count_max`. */
MUST_CHECK enum err field_counts_add(struct field_counts *counts, enum field_kind kind,
                                     const uint8_t hash[FIELD_HASH_BYTES], struct slice name,
                                     uint64_t amount);
/* Returns the number of corrections of a field. */
uint64_t field_count_of(const struct field_count *item, enum field_kind kind);
/* Writes the most frequent fields to `ret_top`, most frequent first, ties by name, without fields
 * that have no corrections. `ret_top` has room for `max` (at least 1). Returns their number. */
size_t field_counts_top(const struct field_counts *counts, enum field_kind kind, size_t max,
                        const struct field_count **ret_top);

#endif
