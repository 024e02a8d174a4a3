/*
 * captures_tests.h: the groups of tests of the background queue, one per file.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CAPTURES_CAPTURES_TESTS_H
#define ERRATA_TESTS_UNIT_CLIENT_CAPTURES_CAPTURES_TESTS_H

/* Each runs a group and returns how many failed. */
int run_queue_tests(void);
int run_close_tests(void);
int run_random_tests(unsigned long seed, unsigned rounds);
int run_loop_tests(void);
int run_thread_tests(void);

#endif
