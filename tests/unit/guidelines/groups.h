/*
 * groups.h: the groups of tests of this program, one for each file.
 */
#ifndef ERRATA_TESTS_UNIT_GUIDELINES_GROUPS_H
#define ERRATA_TESTS_UNIT_GUIDELINES_GROUPS_H

#include <stddef.h>
#include <stdint.h>

/* Each runs its tests and returns the number of those that failed. */
int run_gate_tests(void);
int run_model_tests(uint64_t seed, size_t sequences, size_t steps);
int run_prompt_tests(void);
int run_shadow_tests(void);

#endif
