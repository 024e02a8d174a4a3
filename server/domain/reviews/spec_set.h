/*
 * spec_set.h: fields that reviews name as missing, by their folded names. A set over several
 * reviews counts the runs in which each occurs, and keeps the newest spelling.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_SPEC_SET_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_SPEC_SET_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* A field that reviews name as missing. */
struct spec_count {
    struct slice folded;
    struct slice spelling; /* spelling of the newest review that names it; borrowed */
    int64_t created_at_us; /* time and number of that review */
    uint64_t seq;
    uint32_t run_count; /* number of runs that name it */
    uint32_t last_run; /* the last run that was counted, from 1 */
};

struct spec_set {
    struct arena *arena;
    struct spec_count *slots; /* run_count 0: empty */
    size_t slot_count; /* 0, or a power of two */
    size_t count;
};

/* The review whose fields are added. */
struct spec_source {
    uint32_t
        run; /* number of its run in the set, from 1; the reviews of a run are added together */
    int64_t created_at_us;
    uint64_t seq;
};

/* Initialises an empty set; allocates nothing yet. */
void spec_set_init(struct spec_set *set, struct arena *arena);
/* Adds the fields of a review, given as its encoded list. ERR_CORRUPT for other bytes; ERR_MEMORY. */
MUST_CHECK enum err spec_set_add(struct spec_set *set, const struct spec_source *source,
                                 struct slice missing_spec);
/* Returns the fields that occur in at least `run_count` runs, in the arena: most frequent first,
 * then by folded name. */
MUST_CHECK enum err spec_set_select(const struct spec_set *set, uint32_t run_count,
                                    const struct spec_count **ret_specs, size_t *ret_count);

/* Returns the folded names of one review in the order of their bytes, one per line: equal for equal sets. */
MUST_CHECK enum err spec_set_canonical(struct arena *arena, struct slice missing_spec,
                                       struct slice *ret_names);

#endif
