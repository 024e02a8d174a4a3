/*
 * main.c: the program errata-bench: reads the command line, then measures, fills a store or compares two
 * reports, and ends with an exit code of the help page.
 */
#include "tools/bench/arguments.h"
#include "tools/bench/compare.h"
#include "tools/bench/guard.h"
#include "tools/bench/help.h"
#include "tools/bench/measure.h"
#include "tools/bench/preload/preload.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Command line, templates and reports. */
#define ARENA_BYTES_MAX ((size_t)4 << 30)

/* The exit codes of the help page. */
enum bench_exit {
    BENCH_OK = 0,
    BENCH_INVALID = 1,
    BENCH_USAGE = 2,
    BENCH_NO_SERVER = 3,
    BENCH_OUTPUT = 4,
    BENCH_INTERRUPTED = 130
};

struct bench {
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
    struct arguments arguments;
    struct printer out;
    struct printer err;
};

/* The first signal ends the measurement, which is then reported; the second one ends the
 * program. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a signal reaches nothing else */
static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    stop = 1;
    (void)signal(number, SIG_DFL);
}

/* --- errors --- */

static enum bench_exit fail(struct bench *bench, enum err code)
{
    const struct fault *fault = &bench->fault;
    struct slice text = fault->message.size > 0 ? fault->message : slice_text(err_text(code));

    print_coloured(&bench->err, COLOUR_RED, SLICE("errata-bench"));
    print_text(&bench->err, ": ");
    print_coloured(&bench->err, COLOUR_NONE, text);
    print_text(&bench->err, "\n");
    if (code == ERR_INVALID) {
        print_text(&bench->err, "Run `errata-bench --help` for the options.\n");
    }
    return code == ERR_UNAVAILABLE ? BENCH_NO_SERVER : BENCH_USAGE;
}

/* --- measuring --- */

static bool is_standard_output(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/* Writes a whole file; "-" is standard output. */
static enum bench_exit write_file(struct bench *bench, const char *path, struct slice text)
{
    bool standard = is_standard_output(path);
    FILE *file = standard ? stdout : fopen(path, "we");
    bool written = file != NULL && fwrite(text.data, 1, text.size, file) == text.size;

    if (file != NULL && !standard) {
        written = fclose(file) == 0 && written;
    }
    if (written) {
        return BENCH_OK;
    }
    print_text(&bench->err, "errata-bench: cannot write %s: %s\n", path, strerror(errno));
    return BENCH_OUTPUT;
}

static enum bench_exit write_reports(struct bench *bench, const struct report *report)
{
    const struct arguments *arguments = &bench->arguments;
    enum bench_exit result = BENCH_OK;
    struct buffer text;

    if (arguments->json != NULL) {
        buffer_init(&text, &bench->arena, 65536);
        report_write_json(report, &bench->arena, &text);
        buffer_append_byte(&text, '\n');
        result = buffer_ok(&text) ? write_file(bench, arguments->json, buffer_slice(&text))
                                  : fail(bench, ERR_MEMORY);
    }
    if (arguments->csv != NULL && result == BENCH_OK) {
        buffer_init(&text, &bench->arena, 65536);
        report_write_csv(report, &bench->arena, &text);
        result = buffer_ok(&text) ? write_file(bench, arguments->csv, buffer_slice(&text))
                                  : fail(bench, ERR_MEMORY);
    }
    if (arguments->html != NULL && result == BENCH_OK) {
        buffer_init(&text, &bench->arena, 262144);
        report_write_html(report, &bench->arena, &text);
        result = buffer_ok(&text) ? write_file(bench, arguments->html, buffer_slice(&text))
                                  : fail(bench, ERR_MEMORY);
    }
    return result;
}

/* Prints the table to standard output, or to standard error if the JSON or the CSV goes there. */
static enum bench_exit write_all(struct bench *bench, const struct report *report)
{
    const struct arguments *arguments = &bench->arguments;
    bool taken = is_standard_output(arguments->json) || is_standard_output(arguments->csv);
    enum bench_exit result = BENCH_OK;

    if (!arguments->quiet) {
        report_print(report, &bench->arena, taken ? &bench->err : &bench->out);
    }
    result = write_reports(bench, report);
    if (result != BENCH_OK) {
        return result;
    }
    if (report->stopped) {
        return BENCH_INTERRUPTED;
    }
    return report_is_valid(report) ? BENCH_OK : BENCH_INVALID;
}

static enum err pin(struct bench *bench)
{
    cpu_set_t set;

    if (bench->arguments.cpu < 0) {
        return OK;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)bench->arguments.cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0
               ? OK
               : fault_say(&bench->fault, ERR_INVALID, "--cpu %d: %s", bench->arguments.cpu,
                           strerror(errno));
}

static enum bench_exit run_measure(struct bench *bench)
{
    struct plan *plan = arena_calloc(&bench->arena, 1, sizeof(*plan));
    struct sweep *sweep = arena_calloc(&bench->arena, 1, sizeof(*sweep));
    struct report *report = arena_calloc(&bench->arena, 1, sizeof(*report));
    enum bench_exit result = BENCH_OK;
    enum err err = ERR_MEMORY;

    if (plan == NULL || sweep == NULL || report == NULL) {
        return fail(bench, err);
    }
    err = plan_make(&bench->ctx, &bench->arguments, plan);
    if (err == OK) {
        err = guard_check(&bench->ctx, &bench->arguments, plan);
    }
    if (err == OK) {
        err = pin(bench);
    }
    if (err == OK) {
        *report = (struct report){.arguments = &bench->arguments,
                                  .plan = plan,
                                  .started_us = clock_wall_us(bench->ctx.clock)};
        environment_read(&bench->arena, &report->environment);
        (void)signal(SIGINT, on_signal);
        (void)signal(SIGTERM, on_signal);
        err = measure(&bench->ctx, report, sweep, &bench->err, &stop);
    }
    result = err == OK ? write_all(bench, report) : fail(bench, err);
    report_deinit(report);
    plan_deinit(plan);
    return result;
}

/* --- comparing --- */

static enum bench_exit run_compare(struct bench *bench)
{
    const struct arguments *arguments = &bench->arguments;
    struct comparison *comparison = arena_calloc(&bench->arena, 1, sizeof(*comparison));
    enum bench_exit result = BENCH_OK;
    enum err err = ERR_MEMORY;
    struct buffer text;

    if (comparison != NULL) {
        err = compare_files(&bench->arena, arguments->compared, &bench->fault, comparison);
    }
    if (err != OK) {
        return fail(bench, err);
    }
    if (!arguments->quiet) {
        compare_print(comparison, &bench->arena,
                      is_standard_output(arguments->csv) ? &bench->err : &bench->out, &bench->err);
    }
    if (arguments->csv != NULL) {
        buffer_init(&text, &bench->arena, 16384);
        compare_write_csv(comparison, &text);
        result = buffer_ok(&text) ? write_file(bench, arguments->csv, buffer_slice(&text))
                                  : fail(bench, ERR_MEMORY);
    }
    return result == BENCH_OK && !comparison->valid ? BENCH_INVALID : result;
}

/* --- the program --- */

static enum bench_exit run_preload(struct bench *bench)
{
    const struct arguments *arguments = &bench->arguments;
    const struct preload_options options = {.folder = arguments->data,
                                            .way = arguments->preload_plain ? PRELOAD_PLAIN
                                                                            : PRELOAD_BULK,
                                            .event_count = arguments->preload_events,
                                            .extraction_count = arguments->extraction_count,
                                            .mapping_count = arguments->mapping_count,
                                            .customer_count = (uint32_t)arguments->customer_count,
                                            .family_count = (uint32_t)arguments->family_count,
                                            .org_count = (uint32_t)arguments->organization_count,
                                            .layout_count = (uint32_t)arguments->layout_count,
                                            .event_bytes = (uint32_t)arguments->event_bytes,
                                            .seed = arguments->seed,
                                            .end_us = clock_wall_us(bench->ctx.clock),
                                            .progress = arguments->quiet ? NULL : stderr};
    enum err err = preload_run(&options, &bench->fault);

    return err == OK ? BENCH_OK : fail(bench, err);
}

static enum bench_exit run(struct bench *bench, int count, char **words)
{
    enum err err = arguments_read(&bench->arena, count, words, &bench->fault, &bench->arguments);

    printer_init(&bench->out, stdout, bench->arguments.no_colour);
    printer_init(&bench->err, stderr, bench->arguments.no_colour);
    if (err != OK) {
        return fail(bench, err);
    }
    if (count <= 1) {
        help_print_usage(&bench->err);
        return BENCH_USAGE;
    }
    switch (bench->arguments.way) {
    case ARGUMENTS_MEASURE:
        return run_measure(bench);
    case ARGUMENTS_PRELOAD:
        return run_preload(bench);
    case ARGUMENTS_COMPARE:
        return run_compare(bench);
    case ARGUMENTS_HELP:
        help_print(&bench->out);
        return BENCH_OK;
    case ARGUMENTS_VERSION:
        print_text(&bench->out, "errata-bench %s\n", ERRATA_VERSION);
        return BENCH_OK;
    case ARGUMENTS_CALLS:
        help_print_calls(&bench->out);
        return BENCH_OK;
    }
    return BENCH_USAGE;
}

int main(int count, char **words)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    enum bench_exit result = BENCH_USAGE;

    if (bench == NULL) {
        return (int)result;
    }
    /* A closed pipe is an error of the write, not the end of the program. */
    (void)signal(SIGPIPE, SIG_IGN);
    arena_init(&bench->arena, ARENA_BYTES_MAX);
    fault_init(&bench->fault, &bench->arena);
    bench->ctx = (struct ctx){&bench->arena, clock_system(), random_system(), &bench->fault};
    result = run(bench, count, words);
    if (result == BENCH_OK && fflush(stdout) != 0 && errno != EPIPE) {
        result = BENCH_OUTPUT;
    }
    arena_deinit(&bench->arena);
    free(bench);
    return (int)result;
}
