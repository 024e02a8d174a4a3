/*
 * draw.h: what a run draws at random, from a seed: the same seed, the same calls. Fast and good
 * enough for load (splitmix64); no secret comes from it.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_DRAW_H
#define ERRATA_TOOLS_BENCH_LOAD_DRAW_H

#include <stdint.h>

struct draw {
    uint64_t state;
};

/* Numbers 1 to count, each k as often as 1 / k^skew says: what Zipf saw in texts, and others in what
 * is asked of servers. Drawn without a table by rejection-inversion (Hoermann and Derflinger,
 * "Rejection-inversion to generate variates from monotone discrete distributions", 1996). */
struct draw_zipf {
    double skew;
    double count;
    double low; /* lower bound of the integral of the density */
    double high;
    double shortcut; /* a candidate this near needs no second look */
};

static inline uint64_t draw_next(struct draw *draw)
{
    uint64_t x = draw->state += 0x9E3779B97F4A7C15u;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* 0 to count - 1. */
static inline uint64_t draw_below(struct draw *draw, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)draw_next(draw) * count) >> 64);
}

/* Above 0, at most 1. */
static inline double draw_share(struct draw *draw)
{
    return (double)((draw_next(draw) >> 11) + 1) * 0x1p-53;
}

/* Prepares draws of at least one number, with a skew above 0. */
void draw_zipf_init(struct draw_zipf *zipf, uint64_t count, double skew);
uint64_t draw_zipf_next(const struct draw_zipf *zipf, struct draw *draw);

#endif
