/*
 * proportions.c: the score statistic of a ratio, and the interval of ratios that the test does not
 * reject.
 *
 * Under the hypothesis that the treated proportion is `ratio` times the control's, the most likely
 * proportions solve a quadratic equation. With x successes, y failures and n trials of the control
 * (0) and the treated (1), N = n0 + n1, X = x0 + x1 and d = (ratio - 1) (n1 + x0), its discriminant
 * is D = (d + y1 - y0)^2 + 4 ratio y0 y1, and the control's share is 2 X / (ratio (n1 + x0) + n0 +
 * x1 + sqrt D). In this form, and with each share's complement computed separately, no large terms
 * cancel, even with a hundred failures among 10^12 trials.
 */
#include "server/domain/analytics/proportions.h"

#include <math.h>

/* Maximum number of bisections: enough to get from a factor of 2^130 to adjacent doubles. */
#define BISECTIONS_MAX 400
#define DOUBLINGS_MAX 200
/* The normal quantile of PROPORTIONS_SIGNIFICANT, both sides. */
#define QUANTILE 1.959963984540054

__extension__ typedef unsigned __int128 wide;

/* The counts of both arms as doubles. */
struct sample {
    double x0;
    double y0;
    double n0;
    double x1;
    double y1;
    double n1;
};

static struct sample sample_of(const struct proportion *treated, const struct proportion *control)
{
    return (struct sample){
        .x0 = (double)control->success_count,
        .y0 = (double)(control->trial_count - control->success_count),
        .n0 = (double)control->trial_count,
        .x1 = (double)treated->success_count,
        .y1 = (double)(treated->trial_count - treated->success_count),
        .n1 = (double)treated->trial_count,
    };
}

/* a + sqrt(D), where D - a^2 is `rest`: for a negative `a` the two would cancel. */
static double add_root(double a, double root, double rest)
{
    if (a >= 0) {
        return a + root;
    }
    return rest > 0 ? rest / (root - a) : 0;
}

/* Returns the distance of the observed proportions from the ratio. Near 1, both proportions are
 * computed from their failures. */
static double miss_of(const struct sample *s, double ratio)
{
    if (2 * s->x1 > s->n1 && 2 * s->x0 > s->n0) {
        return (1 - ratio) - s->y1 / s->n1 + ratio * (s->y0 / s->n0);
    }
    return s->x1 / s->n1 - ratio * (s->x0 / s->n0);
}

/* The score statistic; falls as the ratio grows. */
static double score_of(const struct sample *s, double ratio)
{
    double step = ratio - 1;
    double d = step * (s->n1 + s->x0);
    double e = d + (s->y1 - s->y0);
    double root = sqrt(e * e + 4 * ratio * s->y0 * s->y1);
    double x = s->x0 + s->x1;
    double scale = ratio * (s->n1 + s->x0) + (s->n0 + s->x1) + root;
    double p0 = 2 * x / scale;
    double q0 = add_root(d + s->y0 + s->y1, root, -4 * s->y0 * step * x) / scale;
    double q1 = add_root(2 * ratio * s->y1 - e, root, 4 * ratio * s->y1 * step * x) / scale;
    double variance = ratio * p0 * (q1 / s->n1 + ratio * q0 / s->n0);
    double miss = miss_of(s, ratio);

    if (miss == 0) {
        return 0;
    }
    return variance > 0 ? miss / sqrt(variance) : copysign(INFINITY, miss);
}

static double p_value_of(const struct sample *s, double ratio)
{
    return erfc(fabs(score_of(s, ratio)) / sqrt(2.0));
}

static bool is_accepted(const struct sample *s, double ratio)
{
    return !(p_value_of(s, ratio) < PROPORTIONS_SIGNIFICANT);
}

/* Finds by bisection the last accepted ratio between `inside`, which is accepted, and `outside`,
 * which is not. */
static double find_end(const struct sample *s, double inside, double outside)
{
    for (int i = 0; i < BISECTIONS_MAX; i++) {
        double low = fmin(inside, outside);
        double high = fmax(inside, outside);
        double middle = low > 0 && high > 4 * low ? sqrt(low) * sqrt(high) : low + (high - low) / 2;

        if (middle <= low || middle >= high) {
            break;
        }
        if (is_accepted(s, middle)) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    return inside;
}

/* If 1 is between the estimate and an end, it is evaluated first, so that test and interval agree
 * exactly. */
static double find_low(const struct sample *s, double estimate)
{
    if (estimate <= 0 || is_accepted(s, 0)) {
        return 0;
    }
    if (estimate > 1) {
        return is_accepted(s, 1) ? find_end(s, 1, 0) : find_end(s, estimate, 1);
    }
    return find_end(s, estimate, 0);
}

static double find_high(const struct sample *s, double estimate)
{
    double inside = estimate;
    double outside = 1;

    if (estimate < 1 && !is_accepted(s, 1)) {
        return find_end(s, estimate, 1);
    }
    inside = fmax(estimate, 1);
    outside = 2 * inside;
    for (int i = 0; i < DOUBLINGS_MAX && is_accepted(s, outside); i++) {
        inside = outside;
        outside *= 2;
    }
    return find_end(s, inside, outside);
}

bool proportions_test(const struct proportion *treated, const struct proportion *control,
                      double *ret_p_value)
{
    struct sample s = sample_of(treated, control);

    if (treated->trial_count == 0 || control->trial_count == 0) {
        return false;
    }
    *ret_p_value = p_value_of(&s, 1);
    return true;
}

bool proportions_improvement(const struct proportion *treated, const struct proportion *control,
                             struct proportion_improvement *ret_improvement)
{
    struct sample s = sample_of(treated, control);
    wide above = (wide)treated->success_count * control->trial_count;
    wide below = (wide)control->success_count * treated->trial_count;
    double estimate = 0;

    if (treated->trial_count == 0 || below == 0) {
        return false;
    }
    estimate = (double)above / (double)below;
    ret_improvement->relative = above >= below ? (double)(above - below) / (double)below
                                               : -((double)(below - above) / (double)below);
    ret_improvement->low = find_low(&s, estimate) - 1;
    ret_improvement->high = find_high(&s, estimate) - 1;
    /* Exact, since no count reaches 2^57. */
    ret_improvement->target_reached = 100 * above >= (100 + PROPORTIONS_TARGET_PERCENT) * below;
    return true;
}

/* Computes the ends of Wilson's score interval of one proportion. */
static void find_score_interval(const struct proportion *proportion, double *ret_low,
                                double *ret_high)
{
    double n = (double)proportion->trial_count;
    double p = (double)proportion->success_count / n;
    double square = QUANTILE * QUANTILE;
    double middle = 2 * n * p + square;
    double half = QUANTILE * sqrt(square + 4 * n * p * (1 - p));

    *ret_low = fmax(0, (middle - half) / (2 * (n + square)));
    *ret_high = fmin(1, (middle + half) / (2 * (n + square)));
}

bool proportion_interval_of(const struct proportion *proportion,
                            struct proportion_interval *ret_interval)
{
    if (proportion->trial_count == 0) {
        return false;
    }
    ret_interval->estimate = (double)proportion->success_count / (double)proportion->trial_count;
    find_score_interval(proportion, &ret_interval->low, &ret_interval->high);
    return true;
}

bool proportions_subtract(const struct proportion *first, const struct proportion *second,
                          struct proportion_difference *ret_difference)
{
    double p1 = 0;
    double p2 = 0;
    double low1 = 0;
    double high1 = 0;
    double low2 = 0;
    double high2 = 0;

    if (first->trial_count == 0 || second->trial_count == 0) {
        return false;
    }
    p1 = (double)first->success_count / (double)first->trial_count;
    p2 = (double)second->success_count / (double)second->trial_count;
    find_score_interval(first, &low1, &high1);
    find_score_interval(second, &low2, &high2);
    ret_difference->estimate = p1 - p2;
    ret_difference->low = fmax(-1, p1 - p2 - hypot(p1 - low1, high2 - p2));
    ret_difference->high = fmin(1, p1 - p2 + hypot(high1 - p1, p2 - low2));
    return true;
}
