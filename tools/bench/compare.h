/*
 * compare.h: compares two reports that --json wrote, figure by figure.
 *
 * Of a report, the run at the knee is compared, or the first run if there is no knee. Figures are matched
 * by name, calls of the mix by the name of the call. A comparison of runs that are invalid, or that had
 * other settings or another machine, is printed with a warning for each reason.
 */
#ifndef ERRATA_TOOLS_BENCH_COMPARE_H
#define ERRATA_TOOLS_BENCH_COMPARE_H

#include "store/base/buffer.h"
#include "store/base/fault.h"
#include "store/base/json.h"
#include "tools/errata/terminal/print.h"

/* The figures of a report, and those of each call of its mix. */
#define COMPARE_ROWS_MAX 128
/* The settings, the environment, the problems of both reports. */
#define COMPARE_WARNINGS_MAX 64

/* A figure of both reports, as written there; empty if a report does not have it. */
struct compare_row {
    struct slice figure; /* name of the figure, such as "examples: p99, us" */
    struct slice values[2];
    struct slice
        ratio; /* ratio of the second to the first, with three decimals; empty if unknown */
};

/* All texts are in the arena. */
struct comparison {
    struct slice names[2]; /* title or file name of each report */
    struct compare_row rows[COMPARE_ROWS_MAX];
    size_t row_count;
    struct slice warnings[COMPARE_WARNINGS_MAX];
    size_t warning_count;
    bool valid; /* both reports are valid */
};

/* Compares the reports in two files. Returns ERR_INVALID with a message for a file that cannot be read
 * or is not a report of this program; ERR_MEMORY. */
MUST_CHECK enum err compare_files(struct arena *arena, const char *const paths[2],
                                  struct fault *fault, struct comparison *ret_comparison);
/* Prints a table to `out`, and the warnings to `err`. */
void compare_print(const struct comparison *comparison, struct arena *arena, struct printer *out,
                   struct printer *err);
/* Appends a record with the titles figure, a, b, ratio, then one for each row. */
void compare_write_csv(const struct comparison *comparison, struct buffer *csv);

#endif
