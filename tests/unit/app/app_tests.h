/*
 * app_tests.h: the groups of this program.
 */
#ifndef ERRATA_TESTS_UNIT_APP_APP_TESTS_H
#define ERRATA_TESTS_UNIT_APP_APP_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Each returns the number of failed tests. */
int run_address_file_tests(void);
int run_damage_tests(void);
int run_supervisor_tests(void);

#endif
