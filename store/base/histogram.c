/*
 * histogram.c: see histogram.h.
 */
#include "store/base/histogram.h"

const struct histogram_bounds histogram_durations_us = {
    .count = 16,
    .values = {25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000,
               1000000, 5000000, 30000000},
};

const struct histogram_bounds histogram_sizes = {
    .count = 9,
    .values = {1, 2, 4, 8, 16, 32, 64, 128, 256},
};
