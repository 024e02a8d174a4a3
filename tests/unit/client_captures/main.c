/*
 * main.c: the background queue of captures: its rules with a simulated sender and clock, at random
 * (client_captures_tests --seed N [ROUNDS]), on a loop with a simulated channel, and with its own
 * thread over a real connection.
 */
#include "tests/unit/client_captures/captures_tests.h"

#include <stdlib.h>
#include <string.h>

#define SEED 20
#define ROUNDS 25

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--seed") == 0) {
        unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;

        return run_random_tests(strtoul(argv[2], NULL, 10), (unsigned)rounds);
    }
    return run_queue_tests() + run_close_tests() + run_random_tests(SEED, ROUNDS) +
           run_loop_tests() + run_thread_tests();
}
