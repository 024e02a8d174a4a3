/*
 * channel_tests.h: the groups of tests of this folder, one per file; main.c runs them.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CHANNEL_CHANNEL_TESTS_H
#define ERRATA_TESTS_UNIT_CLIENT_CHANNEL_CHANNEL_TESTS_H

int run_retry_tests(void);
int run_connect_tests(void);
int run_repeat_tests(void);
int run_stream_tests(void);
int run_end_tests(void);
int run_scarcity_tests(void);
int run_random_tests(void);

#endif
