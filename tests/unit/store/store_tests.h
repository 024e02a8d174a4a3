/*
 * store_tests.h: the groups of tests of store/. Each returns the number of failed tests.
 */
#ifndef ERRATA_TESTS_UNIT_STORE_STORE_TESTS_H
#define ERRATA_TESTS_UNIT_STORE_STORE_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int run_id_prefix_tests(void);
int run_page_tests(void);
int run_scan_tests(void);
int run_log_tests(void);
int run_idempotency_tests(void);
int run_queue_tests(void);
int run_writer_tests(void);
int run_writer_cost_tests(void);
int run_writer_slow_tests(void);
int run_writer_failure_tests(void);
int run_lmdb_tests(void);
int run_damage_tests(void);
int run_folder_tests(void);
int run_backup_tests(void);
int run_hold_tests(void);

#endif
