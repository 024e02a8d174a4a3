/*
 * report.h: the result of a measurement, and its forms: a table for people, JSON for programs and CSV
 * for spreadsheets (README.md describes both), and an HTML page without references.
 */
#ifndef ERRATA_TOOLS_BENCH_REPORT_H
#define ERRATA_TOOLS_BENCH_REPORT_H

#include "store/base/buffer.h"
#include "tools/bench/environment.h"
#include "tools/bench/load/judge.h"
#include "tools/bench/load/sweep.h"
#include "tools/bench/plan.h"
#include "tools/errata/terminal/print.h"

struct report_run {
    struct engine_result result;
    struct run_tally total;
    struct judgement judgement;
};

/* Texts are in the arena that the report was made in. */
struct report {
    const struct arguments *arguments; /* borrowed, like the plan */
    const struct plan *plan;
    int64_t started_us; /* UTC */
    struct environment environment;
    struct report_run *runs[SWEEP_RUNS_MAX]; /* owned */
    size_t run_count;
    const struct sweep *sweep; /* NULL: there was one run */
    bool has_knee;
    struct slice
        failure; /* the reason why the sweep has no knee; empty: it has one, or was stopped */
    size_t knee; /* index of the run at the knee */
    bool stopped; /* interrupted by the user */
};

/* Returns the representative run: that of the knee, or the only one. NULL if there is none. */
const struct report_run *report_main_run(const struct report *report);
/* Returns whether the only run is valid, or the sweep found its knee. */
bool report_is_valid(const struct report *report);
void report_deinit(struct report *report);

void report_print(const struct report *report, struct arena *arena, struct printer *out);
/* Appends the JSON text. */
void report_write_json(const struct report *report, struct arena *arena, struct buffer *json);
/* Appends the CSV records. */
void report_write_csv(const struct report *report, struct arena *arena, struct buffer *csv);
/* Appends the page. */
void report_write_html(const struct report *report, struct arena *arena, struct buffer *html);

#endif
