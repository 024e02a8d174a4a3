/*
 * measure.c: see measure.h.
 */
#include "tools/bench/measure.h"

#include "tools/errata/terminal/progress.h"

#include <inttypes.h>
#include <stdlib.h>

/* Size of the arena for a progress line, which is freed after printing. */
#define LINE_ARENA_BYTES_MAX ((size_t)64 * 1024)

struct display {
    struct progress progress;
    struct printer *printer;
    struct arena arena;
    double rate; /* rate of this run of a sweep; 0: a single run */
};

/* Reports the newest complete interval. */
static struct slice detail(const struct display *display, struct arena *arena,
                           const struct run *run)
{
    size_t index = run->now_ns > run->measured_from_ns
                       ? (size_t)((run->now_ns - run->measured_from_ns) / run->interval_ns)
                       : 0;
    const struct run_interval *interval =
        index > 0 && index <= run->interval_count ? &run->intervals[index - 1] : NULL;
    struct slice span = {NULL, 0};
    struct slice rate =
        display->rate > 0 ? arena_printf(arena, "at %.0f/s, ", display->rate) : slice_of(NULL, 0);

    if (run->phase == RUN_WARM_UP || interval == NULL || interval->count == 0) {
        return run->phase == RUN_WARM_UP ? SLICE("warming up") : slice_of(NULL, 0);
    }
    span = judge_span(histogram_percentile(&interval->latency, 0.99), arena);
    return arena_printf(arena, "%.*sp99 %.*s", (int)rate.size,
                        rate.size > 0 ? (const char *)rate.data : "", (int)span.size,
                        (const char *)span.data);
}

static void show(void *user, const struct run *run)
{
    struct display *display = user;
    const struct run_options *options = &run->options;
    uint64_t whole_ns = options->warm_up_ns + options->duration_ns;
    uint64_t start_ns = run->measured_from_ns - options->warm_up_ns;
    struct progress_state state = {.unit = "calls", .done = run->measured_answered};

    arena_reset(&display->arena);
    state.detail = detail(display, &display->arena, run);
    if (options->duration_ns > 0 && options->rate > 0) {
        state.total = (uint64_t)(options->rate * (double)options->duration_ns / 1e9);
        state.done_steps = (run->now_ns < start_ns + whole_ns ? run->now_ns - start_ns : whole_ns);
        state.total_steps = whole_ns;
    } else if (options->call_limit > 0) {
        state.total = options->call_limit;
    }
    progress_show(&display->progress, &state);
}

/* Measures one run and adds it to the report. */
static enum err measure_one(struct ctx *ctx, struct report *report, double rate,
                            struct display *display, const volatile sig_atomic_t *stop)
{
    struct report_run *run = calloc(1, sizeof(*run));
    struct engine_options options = report->plan->engine;
    enum err err = OK;

    if (run == NULL) {
        return ERR_MEMORY;
    }
    options.run.rate = rate;
    options.stop = stop;
    if (display->printer->terminal) {
        display->rate = report->sweep != NULL ? rate : 0;
        options.on_progress = show;
        options.user = display;
    }
    err = engine_run(&options, ctx->fault, &run->result);
    if (err != OK) {
        free(run);
        return err;
    }
    report->runs[report->run_count++] = run;
    report->stopped = report->stopped || run->result.stopped;
    err = run_total(&run->result.run, &run->total);
    if (err == OK) {
        judge_run(&run->result, &run->total, report->arguments->lag_max_ns,
                  report->plan->token_count, ctx->arena, &run->judgement);
    }
    return err;
}

/* Returns the reason why even the lowest rate was not sustained, from its last valid run, if there
 * is one. */
static struct slice explain_failure(const struct sweep *sweep, struct arena *arena)
{
    struct slice limit = judge_span(sweep->p99_limit_ns, arena);
    const struct sweep_point *point = &sweep->points[0];
    struct slice p99 = {NULL, 0};

    for (size_t i = 1; i < sweep->point_count; i++) {
        point = sweep->points[i].valid ? &sweep->points[i] : point;
    }
    if (!point->valid) {
        return arena_printf(arena,
                            "the sweep failed: at its lowest rate, %.0f calls/s, no run was valid",
                            point->offered);
    }
    p99 = judge_span(point->p99_ns, arena);
    return arena_printf(arena,
                        "the sweep failed: its lowest rate, %.0f calls/s, was not sustained: %.1f "
                        "were answered, with a p99 of %.*s, and at least %.1f must be, with at "
                        "most %.*s",
                        point->offered, point->achieved, (int)p99.size, (const char *)p99.data,
                        SWEEP_ACHIEVED * point->offered, (int)limit.size, (const char *)limit.data);
}

static enum err measure_sweep(struct ctx *ctx, struct report *report, struct sweep *sweep,
                              struct display *display, const volatile sig_atomic_t *stop)
{
    double rate = 0;

    while (sweep_next(sweep, &rate)) {
        enum err err = measure_one(ctx, report, rate, display, stop);
        const struct report_run *run = NULL;

        if (err != OK) {
            return err;
        }
        if (report->stopped) {
            /* Half a run is not sufficient to determine its rate. */
            break;
        }
        run = report->runs[report->run_count - 1];
        sweep_note(sweep,
                   &(struct sweep_point){.offered = rate,
                                         .achieved = run_rate(&run->result.run),
                                         .p99_ns = histogram_percentile(&run->total.latency, 0.99),
                                         .valid = run->judgement.problems.count == 0});
    }
    report->has_knee = sweep_knee(sweep, &report->knee);
    if (!report->has_knee && !report->stopped) {
        report->failure = explain_failure(sweep, ctx->arena);
    }
    return OK;
}

enum err measure(struct ctx *ctx, struct report *report, struct sweep *sweep, struct printer *err,
                 const volatile sig_atomic_t *stop)
{
    const struct arguments *arguments = report->arguments;
    struct display display = {.printer = err};
    struct printer silent = *err;
    enum err result = OK;

    if (arguments->quiet) {
        silent.terminal = false;
        display.printer = &silent;
    }
    arena_init(&display.arena, LINE_ARENA_BYTES_MAX);
    progress_start(&display.progress, display.printer, ctx->clock);
    if (arguments->sweep) {
        sweep_init(sweep, &arguments->sweep_range, arguments->knee_p99_ns);
        report->sweep = sweep;
        result = measure_sweep(ctx, report, sweep, &display, stop);
    } else {
        result = measure_one(ctx, report, arguments->rate, &display, stop);
    }
    progress_hide(&display.progress);
    arena_deinit(&display.arena);
    return result;
}
