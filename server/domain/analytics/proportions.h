/*
 * proportions.h: two proportions beside each other: the score test of their equality, and the score
 * interval of their ratio. Both come from one statistic, so they never contradict each other: the
 * p-value is below 0.05 exactly where the interval excludes equality. Pure functions of four counts;
 * defined for all of them, and never NaN.
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

/* The interval's level is 1 less this. */
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

/* How far one proportion lies above another. */
struct proportion_difference {
    double estimate; /* from -1 to 1, as the ends of its 95% interval */
    double low;
    double high;
};

/* Two-sided p-value of the two being equal: the test with pooled variance. False where either has no
 * trials. */
bool proportions_test(const struct proportion *treated, const struct proportion *control,
                      double *ret_p_value);
/* False where either has no trials, or the control no success: then there is no ratio. */
bool proportions_improvement(const struct proportion *treated, const struct proportion *control,
                             struct proportion_improvement *ret_improvement);

/* The first less the second. False if either has no trials. */
bool proportions_subtract(const struct proportion *first, const struct proportion *second,
                          struct proportion_difference *ret_difference);

#endif
