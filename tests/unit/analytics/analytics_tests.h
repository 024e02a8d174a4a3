/*
 * analytics_tests.h: the groups of this folder.
 */
#ifndef ERRATA_TESTS_UNIT_ANALYTICS_ANALYTICS_TESTS_H
#define ERRATA_TESTS_UNIT_ANALYTICS_ANALYTICS_TESTS_H

int run_proportions_tests(void);
int run_learning_tests(void);
int run_layouts_tests(void);

#endif
