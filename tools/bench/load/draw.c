/*
 * draw.c: see draw.h. The density 1 / x^skew has an integral that can be inverted; a point of it
 * drawn at random and rounded to the next number has nearly the right distribution, and a rejection
 * now and then makes it exact.
 */
#include "tools/bench/load/draw.h"

#include <math.h>

/* log1p(x) / x and expm1(x) / x, which near 0 would lose their digits. */
static double log_ratio(double x)
{
    return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2 + x * x / 3;
}

static double exp_ratio(double x)
{
    return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2 + x * x / 6;
}

static double density(const struct draw_zipf *zipf, double x)
{
    return exp(-zipf->skew * log(x));
}

/* (x^(1 - skew) - 1) / (1 - skew), which is log(x) where the skew is 1. */
static double integral(const struct draw_zipf *zipf, double x)
{
    return exp_ratio((1 - zipf->skew) * log(x)) * log(x);
}

static double inverse(const struct draw_zipf *zipf, double y)
{
    double t = fmax(y * (1 - zipf->skew), -1);

    return exp(log_ratio(t) * y);
}

void draw_zipf_init(struct draw_zipf *zipf, uint64_t count, double skew)
{
    *zipf = (struct draw_zipf){.skew = skew, .count = (double)count};
    zipf->low = integral(zipf, 1.5) - 1;
    zipf->high = integral(zipf, (double)count + 0.5);
    zipf->shortcut = 2 - inverse(zipf, integral(zipf, 2.5) - density(zipf, 2));
}

uint64_t draw_zipf_next(const struct draw_zipf *zipf, struct draw *draw)
{
    for (;;) {
        double y = zipf->high + draw_share(draw) * (zipf->low - zipf->high);
        double x = inverse(zipf, y);
        double k = fmin(fmax(floor(x + 0.5), 1), zipf->count);

        if (k - x <= zipf->shortcut || y >= integral(zipf, k + 0.5) - density(zipf, k)) {
            return (uint64_t)k;
        }
    }
}
