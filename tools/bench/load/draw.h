/*
 * draw.h: random values of a run, from a seed: the same seed gives the same calls. The generator is
 * fast (splitmix64); it must not be used for secrets.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_DRAW_H
#define ERRATA_TOOLS_BENCH_LOAD_DRAW_H

#include <stdint.h>

struct draw {
    uint64_t state;
};

/* Numbers from 1 to count, each k with a probability proportional to 1 / k^skew (Zipf's law), as in
 * texts and in requests to servers. Drawn without a table by rejection-inversion (Hoermann and
 * Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
 * 1996). */
struct draw_zipf {
    double skew;
    double count;
    double low; /* lower bound of the integral of the density */
    double high;
    double shortcut; /* a candidate this near is accepted without the second test */
};

static inline uint64_t draw_next(struct draw *draw)
{
    uint64_t x = draw->state += 0x9E3779B97F4A7C15u;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Returns a number from 0 to count - 1. */
static inline uint64_t draw_below(struct draw *draw, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)draw_next(draw) * count) >> 64);
}

/* Returns a number above 0 and at most 1. */
static inline double draw_share(struct draw *draw)
{
    return (double)((draw_next(draw) >> 11) + 1) * 0x1p-53;
}

/* Prepares draws of at least one number, with a skew above 0. */
void draw_zipf_init(struct draw_zipf *zipf, uint64_t count, double skew);
uint64_t draw_zipf_next(const struct draw_zipf *zipf, struct draw *draw);

#endif
