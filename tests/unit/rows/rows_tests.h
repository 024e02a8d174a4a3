/*
 * rows_tests.h: the groups of tests of keys and rows. Each returns the number of failed tests.
 */
#ifndef ERRATA_TESTS_UNIT_ROWS_ROWS_TESTS_H
#define ERRATA_TESTS_UNIT_ROWS_ROWS_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int run_key_tests(void);
int run_record_tests(void);
int run_list_tests(void);
int run_format_tests(void);

#endif
