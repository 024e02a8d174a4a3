/*
 * parse.h: parses values of options: counts (5000, 50k, 10M), spans (10, 500ms, 2m; a bare number
 * is seconds), ranges (A..B) and the rates of a sweep (500..20000x1.5). Nothing after a value is
 * ignored.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_PARSE_H
#define ERRATA_TOOLS_BENCH_LOAD_PARSE_H

#include "store/base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum duration: a run of a week is probably a wrong unit. */
#define PARSE_SPAN_NS_MAX (UINT64_C(7) * 24 * 3600 * 1000000000)

/* Step of a sweep from one rate to the next. */
enum sweep_step {
    SWEEP_TIMES,
    SWEEP_PLUS
};

struct sweep_range {
    double from; /* lowest rate, in calls per second */
    double to;
    enum sweep_step step;
    double by; /* a factor above 1, or calls a second */
};

/* Each of these returns false for an invalid text, and then writes nothing. */
MUST_CHECK bool parse_count(const char *text, uint64_t *ret_count);
/* Parses a finite number that is not negative. */
MUST_CHECK bool parse_number(const char *text, double *ret_number);
MUST_CHECK bool parse_span(const char *text, uint64_t *ret_ns);
/* Parses `A..B` with A not above B, or a single number, which is both. */
MUST_CHECK bool parse_range(const char *text, uint64_t *ret_from, uint64_t *ret_to);
/* Parses `FROM..TO`, then `xFACTOR` or `+STEP`; without one the rate rises by half. */
MUST_CHECK bool parse_sweep(const char *text, struct sweep_range *ret_range);

#endif
