/*
 * base_tests.h: the groups of tests of store/base, each in its own file; base_tests.c runs them all.
 */
#ifndef ERRATA_TESTS_UNIT_BASE_TESTS_H
#define ERRATA_TESTS_UNIT_BASE_TESTS_H

/* cmocka.h requires these four headers before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Setup and teardown of a test whose state is an arena without a cap. */
int arena_set_up(void **state);
int arena_tear_down(void **state);

int run_memory_tests(void);
int run_text_tests(void);
int run_base64_tests(void);
int run_wire_tests(void);
int run_pack_tests(void);
int run_json_check_tests(void);
int run_json_use_tests(void);
int run_time_tests(void);
int run_report_tests(void);
int run_heap_tests(void);
int run_histogram_tests(void);
int run_file_tests(void);

#endif
