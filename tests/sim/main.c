/*
 * main.c: the simulator's program. See tests/sim/README.md.
 */
#include "store/base/logger.h"
#include "tests/sim/sim_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#define STEPS_DEFAULT 60
#define FAILURES_SHOWN_MAX 20
/* Number of seeds after which every kind of event must have occurred. */
#define SEEDS_MANY 500

struct arguments {
    uint64_t first;
    uint64_t count;
    unsigned steps;
    bool trace;
    bool twice;
    bool figures;
};

static const char usage[] = "usage: sim_tests [--seed N [--trace]] [--seeds FIRST COUNT] [--steps "
                            "N] [--twice] [--figures]\n"
                            "\n"
                            "  --seed N             runs one seed\n"
                            "  --trace              says what happens\n"
                            "  --seeds FIRST COUNT  runs many; default 1 200\n"
                            "  --steps N            calls of a run; default 60\n"
                            "  --twice              each seed twice: the traces must be the same\n"
                            "  --figures            how often everything happened\n";

static bool read_number(const char *text, uint64_t *ret_number)
{
    char *end = NULL;

    if (text == NULL) {
        return false;
    }
    errno = 0;
    *ret_number = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static bool read_arguments(char **at, struct arguments *arguments)
{
    uint64_t steps = 0;

    for (; *at != NULL; at++) {
        if (strcmp(*at, "--seed") == 0 && read_number(at[1], &arguments->first)) {
            arguments->count = 1;
            at += 1;
        } else if (strcmp(*at, "--seeds") == 0 && read_number(at[1], &arguments->first) &&
                   read_number(at[2], &arguments->count)) {
            at += 2;
        } else if (strcmp(*at, "--steps") == 0 && read_number(at[1], &steps)) {
            arguments->steps = (unsigned)steps;
            at += 1;
        } else if (strcmp(*at, "--trace") == 0) {
            arguments->trace = true;
        } else if (strcmp(*at, "--twice") == 0) {
            arguments->twice = true;
        } else if (strcmp(*at, "--figures") == 0) {
            arguments->figures = true;
        } else {
            return false;
        }
    }
    return true;
}

static const char *const names[SIM_COUNTS] = {
    [SIM_CALLS] = "calls",
    [SIM_ANSWERS] = "calls that ended with OK",
    [SIM_WRITES] = "writes acknowledged",
    [SIM_REPEATS] = "writes sent again under their key",
    [SIM_UNKNOWN] = "ends without a result",
    [SIM_CRASHES] = "crashes",
    [SIM_STOPS] = "stops",
    [SIM_BROKEN] = "stores that broke",
    [SIM_KEPT] = "commits in flight kept",
    [SIM_LOST] = "commits in flight lost",
    [SIM_RESETS] = "connections broken",
    [SIM_SILENCES] = "connections silent",
    [SIM_COMMIT_ERRORS] = "commits failed",
    [SIM_POINTS] = "fault points",
    [SIM_JUMPS] = "jumps of the wall clock",
    [SIM_WATCHED] = "events watched",
};

static void print_figures(const uint64_t totals[SIM_COUNTS], uint64_t seeds)
{
    for (int i = 0; i < SIM_COUNTS; i++) {
        (void)printf("%12" PRIu64 "  %s\n", totals[i], names[i]);
    }
    (void)printf("%12" PRIu64 "  seeds\n", seeds);
}

/* A simulator that no longer produces a situation cannot find defects in it; many seeds produce all of them. */
static bool has_everything(const uint64_t totals[SIM_COUNTS])
{
#ifdef ERRATA_FAULTS
    const bool has_points = true;
#else
    const bool has_points = false;
#endif
    bool all = true;

    for (int i = 0; i < SIM_COUNTS; i++) {
        if (totals[i] == 0 && (i != SIM_POINTS || has_points)) {
            (void)printf("it never happened: %s\n", names[i]);
            all = false;
        }
    }
    return all;
}

/* Printed when the program dies: the seed. */
struct last_words {
    char text[64];
    size_t size;
};

static struct last_words *last_words(void)
{
    static struct last_words words;

    return &words;
}

static void note_seed(uint64_t seed)
{
    struct last_words *words = last_words();

    words->size = (size_t)snprintf(words->text, sizeof(words->text),
                                   "seed %" PRIu64 ": the program died\n", seed);
}

static void say_seed(void)
{
    const struct last_words *words = last_words();

    if (write(STDERR_FILENO, words->text, words->size) < 0) {
        _exit(1);
    }
}

static void on_abort(int number)
{
    (void)number;
    say_seed();
}

/* An assertion or a sanitizer ends the program: which seed it was must be known. */
static void watch_death(void)
{
    (void)signal(SIGABRT, on_abort);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_death_callback(say_seed);
#endif
}

/* The seed again: the same trace. */
static bool is_same_twice(struct sim *sim, uint64_t seed, unsigned steps)
{
    struct sha256_digest first = sim->trace;

    return sim_run(sim, seed, steps) && memcmp(&first, &sim->trace, sizeof(first)) == 0;
}

int main(int count, char **values)
{
    struct arguments arguments = {.first = 1, .count = 200, .steps = STEPS_DEFAULT};
    uint64_t totals[SIM_COUNTS] = {0};
    uint64_t failed = 0;

    (void)count;
    if (!read_arguments(values + 1, &arguments)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    watch_death();
    for (uint64_t seed = arguments.first; seed < arguments.first + arguments.count; seed++) {
        struct sim sim = {.traced = arguments.trace, .hashed = arguments.twice};
        bool good = false;

        note_seed(seed);
        good = sim_run(&sim, seed, arguments.steps);

        if (good && arguments.twice && !is_same_twice(&sim, seed, arguments.steps)) {
            (void)snprintf(sim.message, sizeof(sim.message), "the same seed ran another way");
            good = false;
        }
        for (int i = 0; i < SIM_COUNTS; i++) {
            totals[i] += sim.counts[i];
        }
        failed += !good;
        if (!good && failed <= FAILURES_SHOWN_MAX) {
            (void)printf("seed %" PRIu64 ": %s\n", seed, sim.message);
        }
    }
    if (arguments.figures) {
        print_figures(totals, arguments.count);
    }
    if (failed == 0 && arguments.count >= SEEDS_MANY && !has_everything(totals)) {
        failed = 1;
    }
    (void)printf("%" PRIu64 " passed, %" PRIu64 " failed\n", arguments.count - failed, failed);
    if (failed > 0) {
        (void)fflush(stdout);
        _exit(1); /* memory left by an early end is not a leak of the server */
    }
    return 0;
}
