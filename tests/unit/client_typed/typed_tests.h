/*
 * typed_tests.h: the groups of these tests.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_TYPED_TYPED_TESTS_H
#define ERRATA_TESTS_UNIT_CLIENT_TYPED_TYPED_TESTS_H

/* Each returns the number of failed tests. */
int run_stubs_tests(void);
int run_wait_tests(void);

#endif
