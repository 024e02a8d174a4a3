/*
 * measure.h: makes the runs of a plan: one, or those of a sweep.
 */
#ifndef ERRATA_TOOLS_BENCH_MEASURE_H
#define ERRATA_TOOLS_BENCH_MEASURE_H

#include "tools/bench/report.h"

/* Fills report->runs. Returns ERR_UNAVAILABLE if the server cannot be reached, or ERR_MEMORY, with
 * a message. `err` gets the progress if it is a terminal; `stop` ends the measurement. */
MUST_CHECK enum err measure(struct ctx *ctx, struct report *report, struct sweep *sweep,
                            struct printer *err, const volatile sig_atomic_t *stop);

#endif
