/*
 * environment.h: the machine of a report.
 */
#ifndef ERRATA_TOOLS_BENCH_ENVIRONMENT_H
#define ERRATA_TOOLS_BENCH_ENVIRONMENT_H

#include "store/base/arena.h"

/* Texts are in the arena; unknown values are empty or 0. */
struct environment {
    struct slice cpu; /* model of the CPU */
    long cores;
    uint64_t memory_bytes;
    struct slice kernel;
    struct slice system; /* the distribution */
};

void environment_read(struct arena *arena, struct environment *ret_environment);

#endif
