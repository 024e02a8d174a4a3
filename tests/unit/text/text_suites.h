/*
 * text_suites.h: the groups of text_tests; each returns the number of its failed tests.
 */
#ifndef ERRATA_TESTS_UNIT_TEXT_TEXT_SUITES_H
#define ERRATA_TESTS_UNIT_TEXT_TEXT_SUITES_H

int run_field_tests(void);
int run_injection_tests(void);

#endif
