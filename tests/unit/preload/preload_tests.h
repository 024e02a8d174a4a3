/*
 * preload_tests.h: the groups of tests of tools/bench/preload. Each returns the number of tests that
 * failed.
 */
#ifndef ERRATA_TESTS_UNIT_PRELOAD_PRELOAD_TESTS_H
#define ERRATA_TESTS_UNIT_PRELOAD_PRELOAD_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int run_feed_tests(void);
int run_preload_tests(void);

#endif
