/*
 * measure.h: makes the runs of a plan: one, or those of a sweep.
 */
#ifndef ERRATA_TOOLS_BENCH_MEASURE_H
#define ERRATA_TOOLS_BENCH_MEASURE_H

#include "tools/bench/report.h"

/* Fills report->runs. ERR_UNAVAILABLE if the server cannot be reached, ERR_MEMORY; with a sentence.
 * `err` shows how far it is, where it is a terminal; `stop` ends the measure. */
MUST_CHECK enum err measure(struct ctx *ctx, struct report *report, struct sweep *sweep,
                            struct printer *err, const volatile sig_atomic_t *stop);

#endif
