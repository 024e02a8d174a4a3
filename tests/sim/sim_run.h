/*
 * sim_run.h: one run of the whole fixture from one seed: setup, a time in which everything goes wrong
 * that the seed has drawn, a time in which nothing does, and the last questions.
 */
#ifndef ERRATA_TESTS_SIM_SIM_RUN_H
#define ERRATA_TESTS_SIM_SIM_RUN_H

#include "tests/sim/sim.h"

/* Runs a seed with this many calls; returns false after a defect, which `sim->message` describes. */
MUST_CHECK bool sim_run(struct sim *sim, uint64_t seed, unsigned steps);

#endif
