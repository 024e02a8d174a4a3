/*
 * journal_tests.h: the groups of this program, and what they share.
 */
#ifndef ERRATA_TESTS_UNIT_JOURNAL_JOURNAL_TESTS_H
#define ERRATA_TESTS_UNIT_JOURNAL_JOURNAL_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

int run_memtable_tests(void);
int run_segments_tests(void);
int run_recovery_tests(void);

#endif
