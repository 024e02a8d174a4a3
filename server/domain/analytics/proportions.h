/*
 * proportions.h: compares two proportions: the score test of their equality, and the score interval
 * of their ratio. Both come from one statistic, so they never contradict each other: the p-value is
 * below 0.05 exactly where the interval excludes equality. Pure functions of four counts; defined
 * for all of them, and never NaN.
 *
 * Koopman, P. A. R. (1984): Confidence intervals for the ratio of two binomial proportions. Biometrics
 * 40, 513-517. Miettinen, O. and Nurminen, M. (1985): Comparative analysis of two rates. Statistics in
 * Medicine 4, 213-226 (here without their factor N/(N-1), as Koopman).
 *
 * The difference of two proportions has another interval, from the score intervals of both: Newcombe, R. G. (1998):
 * Interval estimation for the difference between independent proportions. Statistics in Medicine 17, 873-890 (method
 * 10). It is defined for any counts, and stays within -1 and 1.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_PROPORTIONS_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_PROPORTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The level of significance; the confidence level of the interval is 1 minus this value. */
#define PROPORTIONS_SIGNIFICANT 0.05

struct proportion {
    uint64_t success_count; /* number of successes, at most trial_count */
    uint64_t trial_count;
};

/* The difference of two proportions relative to the second one. */
struct proportion_improvement {
    double relative; /* ratio minus 1 */
    double low; /* ends of the 95% interval; finite, -1 or more */
    double high;
    bool target_reached; /* relative is PROPORTIONS_TARGET_PERCENT or more, computed exactly */
};

#define PROPORTIONS_TARGET_PERCENT 15

/* One proportion with the ends of its 95% interval, Wilson's score interval. */
struct proportion_interval {
    double estimate; /* from 0 to 1, and so are the ends */
    double low;
    double high;
};

/* The difference of two proportions. */
struct proportion_difference {
    double estimate; /* from -1 to 1, and so are the ends of its 95% interval */
    double low;
    double high;
};

/* Computes the two-sided p-value of the hypothesis that both proportions are equal, by the test
 * with pooled variance. Returns false if either has no trials. */
bool proportions_test(const struct proportion *treated, const struct proportion *control,
                      double *ret_p_value);
/* Computes their ratio. Returns false if either has no trials, or if the control has no success,
 * since the ratio is then undefined. */
bool proportions_improvement(const struct proportion *treated, const struct proportion *control,
                             struct proportion_improvement *ret_improvement);

/* Computes the interval of one proportion. Returns false without trials. */
bool proportion_interval_of(const struct proportion *proportion,
                            struct proportion_interval *ret_interval);

/* Subtracts the second proportion from the first. Returns false if either has no trials. */
bool proportions_subtract(const struct proportion *first, const struct proportion *second,
                          struct proportion_difference *ret_difference);

#endif
