/*
 * main.c: the program errata-bench: reads the command line, measures or fills a store, ends with its
 * exit code.
 */
#include "tools/bench/arguments.h"
#include "tools/bench/help.h"

#include <signal.h>
#include <stdio.h>

/* Command line, templates and reports. */
#define ARENA_BYTES_MAX ((size_t)1 << 30)

/* The exit codes of the help page. */
enum bench_exit {
    BENCH_OK = 0,
    BENCH_INVALID = 1,
    BENCH_USAGE = 2,
    BENCH_NO_SERVER = 3,
    BENCH_OUTPUT = 4,
    BENCH_INTERRUPTED = 130
};

static enum bench_exit fail(struct printer *err, const struct fault *fault, enum err code)
{
    struct slice text = fault->message.size > 0 ? fault->message : slice_text(err_text(code));

    print_coloured(err, COLOUR_RED, SLICE("errata-bench"));
    print_text(err, ": ");
    print_coloured(err, COLOUR_NONE, text);
    print_text(err, "\n`errata-bench --help` says more.\n");
    return BENCH_USAGE;
}

static enum bench_exit run(struct arena *arena, int count, char **words)
{
    struct arguments arguments;
    struct printer out;
    struct printer error;
    struct fault fault;
    enum err err = OK;

    fault_init(&fault, arena);
    err = arguments_read(arena, count, words, &fault, &arguments);
    printer_init(&out, stdout, err == OK && arguments.no_colour);
    printer_init(&error, stderr, err == OK && arguments.no_colour);
    if (err != OK) {
        return fail(&error, &fault, err);
    }
    switch (arguments.way) {
    case ARGUMENTS_HELP:
        help_print(&out);
        return BENCH_OK;
    case ARGUMENTS_VERSION:
        print_text(&out, "errata-bench %s\n", ERRATA_VERSION);
        return BENCH_OK;
    case ARGUMENTS_CALLS:
        help_print_calls(&out);
        return BENCH_OK;
    case ARGUMENTS_MEASURE:
    case ARGUMENTS_PRELOAD:
        break;
    }
    return fail(&error, &fault, ERR_UNIMPLEMENTED);
}

int main(int count, char **words)
{
    struct arena arena;
    enum bench_exit result = BENCH_OK;

    /* A closed pipe is an error of the write, not the end of the program. */
    (void)signal(SIGPIPE, SIG_IGN);
    arena_init(&arena, ARENA_BYTES_MAX);
    result = run(&arena, count, words);
    arena_deinit(&arena);
    return (int)result;
}
