/*
 * bench_load_tests.h: the groups of tests of the load engine, each in a file, and their shared functions.
 */
#ifndef ERRATA_TESTS_UNIT_BENCH_LOAD_TESTS_H
#define ERRATA_TESTS_UNIT_BENCH_LOAD_TESTS_H

/* cmocka.h requires these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/base/buffer.h"
#include "store/base/ctx.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Arena, clock and fault of one test. */
struct fixture {
    struct arena arena;
    struct clock_manual clock;
    struct fault fault;
    struct ctx ctx;
};

int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* Checks that the fault's message begins with `start`, and clears the fault. */
void fixture_expect_fault(struct fixture *fixture, const char *start);

int run_parse_tests(void);
int run_histogram_tests(void);
int run_draw_tests(void);
int run_template_tests(void);
int run_descriptors_tests(void);
int run_files_tests(void);
int run_hpack_tests(void);
int run_connection_tests(void);
int run_run_tests(void);
int run_sweep_tests(void);
int run_judge_tests(void);
int run_process_tests(void);

#endif
