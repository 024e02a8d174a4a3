/*
 * redis_tests.h: the groups of this folder's tests.
 */
#ifndef ERRATA_TESTS_UNIT_REDIS_REDIS_TESTS_H
#define ERRATA_TESTS_UNIT_REDIS_REDIS_TESTS_H

int run_reader_tests(void);
int run_consumer_tests(void);

#endif
