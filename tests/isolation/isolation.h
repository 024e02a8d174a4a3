/*
 * isolation.h: the groups of tests about the walls between organisations.
 */
#ifndef ERRATA_TESTS_ISOLATION_ISOLATION_H
#define ERRATA_TESTS_ISOLATION_ISOLATION_H

int run_differential_tests(void);
int run_walk_tests(void);

#endif
