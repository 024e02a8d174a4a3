/*
 * review_counters.h: counts operations on reviews and the prompts that they fill, for
 * GetServerInfo. Any thread may count.
 */
#ifndef ERRATA_SERVER_PIPELINE_REVIEW_COUNTERS_H
#define ERRATA_SERVER_PIPELINE_REVIEW_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct review_counters {
    _Atomic uint64_t normalised; /* forms of SubmitReview */
    _Atomic uint64_t triggers; /* windows that were read for triggers */
    _Atomic uint64_t injected; /* placeholders with text of signals */
    _Atomic uint64_t static_fallbacks; /* placeholders with the static example */
    _Atomic uint64_t empty; /* placeholders without text */
    _Atomic uint64_t examples; /* items of reviewed runs that were shown */
    _Atomic uint64_t failures; /* parts of ResolvePlaceholders that could not be used */
};

#endif
