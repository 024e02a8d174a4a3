/*
 * main.c: runs the groups. `--seed N --sequences N --steps N` draws other, and more, sequences of the model.
 */
#include "store/base/attributes.h"
#include "tests/unit/guidelines/groups.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20261126
/* Few, since sanitizers make a sequence take a second; a thousand take a minute without them. */
#define SEQUENCES 6
#define STEPS 80

int main(int argc, char **argv)
{
    uint64_t seed = SEED;
    size_t sequences = SEQUENCES;
    size_t steps = STEPS;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--sequences") == 0) {
            sequences = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--steps") == 0) {
            steps = strtoull(argv[i + 1], NULL, 10);
        }
    }
    return run_gate_tests() + run_prompt_tests() + run_shadow_tests() +
           run_model_tests(seed, sequences, steps);
}
