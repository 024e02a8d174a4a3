/*
 * tests.h: the groups of tests of quotas_tests.
 */
#ifndef ERRATA_TESTS_UNIT_QUOTAS_TESTS_H
#define ERRATA_TESTS_UNIT_QUOTAS_TESTS_H

int run_quota_book_tests(void);

#endif
