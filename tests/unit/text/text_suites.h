/*
 * text_suites.h: the parts of text_tests; each gives how many of its tests failed.
 */
#ifndef ERRATA_TESTS_UNIT_TEXT_TEXT_SUITES_H
#define ERRATA_TESTS_UNIT_TEXT_TEXT_SUITES_H

int run_field_tests(void);
int run_injection_tests(void);

#endif
