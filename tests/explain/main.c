/*
 * main.c: explanations of exposures: fixed cases, and exposures drawn at random
 * (explain_tests [--exposures N] [--seed N]).
 */
#include "tests/explain/explain.h"

#include <stdlib.h>

#define SEED 20
#define EXPOSURES_DEFAULT 600

int main(int argc, char **argv)
{
    unsigned long seed = SEED;
    unsigned long exposures = EXPOSURES_DEFAULT;

    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    for (int i = 1; i + 1 < argc; i += 2) {
        unsigned long number = strtoul(argv[i + 1], NULL, 10);

        if (strcmp(argv[i], "--seed") == 0) {
            seed = number;
        } else {
            exposures = number;
        }
    }
    return run_case_tests() + run_random_tests(seed, (unsigned)exposures);
}
