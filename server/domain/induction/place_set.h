/*
 * place_set.h: sets of places in a list of submissions: the targets that a pattern hits. Rules are chosen one after
 * another for the targets that those before them leave unexplained.
 */
#ifndef ERRATA_SERVER_DOMAIN_INDUCTION_PLACE_SET_H
#define ERRATA_SERVER_DOMAIN_INDUCTION_PLACE_SET_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* A rule is chosen only if at least this share of its targets is not explained by rules chosen before. */
#define INDUCTION_NEW_SHARE_PERCENT 25

/* A set of the places 0 to `places - 1`. Its words are in an arena. */
struct place_set {
    uint64_t *words;
    size_t word_count;
};

/* Makes an empty set; fails only with ERR_MEMORY. */
MUST_CHECK enum err place_set_init(struct place_set *set, struct arena *arena, size_t places);
/* Adds a place, which must be below `places`. */
void place_set_add(struct place_set *set, size_t place);
/* Adds the places of a set of the same size. */
void place_set_add_all(struct place_set *set, const struct place_set *added);
/* Returns how many places of `set` are not in `explained`, of the same size; 0 if those are less than
 * INDUCTION_NEW_SHARE_PERCENT of `targets`, the number of places in `set`. */
uint64_t place_set_count_new(const struct place_set *set, const struct place_set *explained,
                             uint64_t targets);

#endif
