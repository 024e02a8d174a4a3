/*
 * reviewers.h: the reviewers of one run, each once. Unknown reviewers (the empty text) count as one.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_REVIEWERS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_REVIEWERS_H

#include "store/base/arena.h"

struct reviewers {
    struct slice *slots; /* .data is NULL in an empty slot */
    size_t slot_count; /* capacity; a power of two */
};

/* Makes room for at most `count` reviewers. */
MUST_CHECK enum err reviewers_init(struct reviewers *reviewers, struct arena *arena, size_t count);
/* Adds a reviewer, borrowed; false if it was present. */
bool reviewers_add(struct reviewers *reviewers, struct slice name);

#endif
