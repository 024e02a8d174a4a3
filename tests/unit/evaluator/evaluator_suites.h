/*
 * evaluator_suites.h: the groups of tests of this program, one for each file.
 */
#ifndef ERRATA_TESTS_UNIT_EVALUATOR_EVALUATOR_SUITES_H
#define ERRATA_TESTS_UNIT_EVALUATOR_EVALUATOR_SUITES_H

/* Each runs its tests and returns the number of those that failed. */
int run_words(void);
int run_conflicts(void);
int run_diffs(void);

#endif
