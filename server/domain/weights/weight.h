/*
 * weight.h: the weight that measured verdicts suggest for a rule: pure functions of its firings. With q the probability
 * that a firing agrees with the correct verdict, and c the magnitude with which the rule was learned, proposed or
 * imported, the magnitude is c x ln(q / (1 - q)) / ln(7 / 3), from 0 to 0.5; the sign is that of the rule. q is
 * (agreed + 7) / (agreed + disagreed + 10): without firings it is 7/10, which gives the rule's original weight.
 * The ends of the interval are the weights for the bounds of q: Wilson's 95% interval of the firings that agreed.
 */
#ifndef ERRATA_SERVER_DOMAIN_WEIGHTS_WEIGHT_H
#define ERRATA_SERVER_DOMAIN_WEIGHTS_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

/* Minimum number of firings that agreed or disagreed for a suggestion. */
#define WEIGHT_FIRINGS_MIN 5
/* The largest magnitude that is suggested, in units (VERDICT_UNIT): 0.5. */
#define WEIGHT_MAX 500000000

/* Suggested weights, in units, low <= high. With many firings that all agreed, the weight may be below both. */
struct weight_suggestion {
    int64_t weight;
    int64_t low;
    int64_t high;
};

/* Suggests the weight of a rule whose original adjustment is `first_adjustment`, in units. Returns
 * false if there are too few firings. */
bool weight_suggest(int64_t first_adjustment, uint64_t agreed, uint64_t disagreed,
                    struct weight_suggestion *ret_suggestion);

#endif
