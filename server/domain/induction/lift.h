/*
 * lift.h: how much more often a target occurs where a predicate hits than where it does not: the ratio of the two
 * proportions, with Katz's log interval. Pure.
 *
 * Katz, D., Baptista, J., Azen, S. P. and Pike, M. C. (1978): Obtaining confidence intervals for the risk ratio in cohort
 * studies. Biometrics 34, 469-474. If no target occurs outside the hits, the ratio is infinite;
 * half a case is then added to each of the four groups (Haldane 1956).
 */
#ifndef ERRATA_SERVER_DOMAIN_INDUCTION_LIFT_H
#define ERRATA_SERVER_DOMAIN_INDUCTION_LIFT_H

#include <stdbool.h>
#include <stdint.h>

/* The cases of a group, and those with the target. */
struct lift_group {
    uint64_t targets; /* at most `cases` */
    uint64_t cases;
};

struct lift {
    double ratio; /* from 0 */
    double low; /* ends of the 95% interval; 0 without targets in the hits */
    double high;
};

/* Compares the hits with the others. Returns false if either group has no cases. */
bool lift_of(const struct lift_group *hits, const struct lift_group *others, struct lift *ret_lift);

#endif
