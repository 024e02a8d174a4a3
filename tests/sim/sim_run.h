/*
 * sim_run.h: one run of the whole fixture from one seed: setup, a time in which everything goes wrong
 * that the seed has drawn, a time in which nothing does, and the last questions.
 */
#ifndef ERRATA_TESTS_SIM_SIM_RUN_H
#define ERRATA_TESTS_SIM_SIM_RUN_H

#include "tests/sim/sim.h"

/* Runs a seed with so many calls; false: something was wrong, and `sim->message` states what. */
MUST_CHECK bool sim_run(struct sim *sim, uint64_t seed, unsigned steps);

#endif
