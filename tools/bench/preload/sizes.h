/*
 * sizes.h: computes the lengths of a correction's texts for an example of the requested length, and
 * the space of a load: both from the rows of one written event of each stream.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_SIZES_H
#define ERRATA_TOOLS_BENCH_PRELOAD_SIZES_H

#include "tools/bench/preload/script.h"

/* Memory limit for the tables of one organisation while its events are captured. */
#define SIZES_STAGE_BYTES_MAX ((uint64_t)3 << 30)

struct sizes {
    size_t example_bytes; /* size of an event in an answer */
    uint64_t disk_bytes; /* size of the whole store */
    uint64_t stage_bytes; /* size of the tables of the largest organisation */
};

/* Sets the script's text lengths and reports the size of its events. The script is fresh, and is to
 * be made again afterwards: its randomness and its organisations are used up. */
MUST_CHECK enum err sizes_measure(struct script *script, struct sizes *ret_sizes);
/* Returns ERR_INVALID if an organisation's tables would take too much memory. */
MUST_CHECK enum err sizes_check_stage(const struct sizes *sizes, struct fault *fault);
/* Returns ERR_DISK_FULL if the store would take more than `free_bytes`. */
MUST_CHECK enum err sizes_check_disk(const struct sizes *sizes, const char *folder,
                                     uint64_t free_bytes, struct fault *fault);

#endif
