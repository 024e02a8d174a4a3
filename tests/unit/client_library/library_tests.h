/*
 * library_tests.h: the groups of these tests.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_LIBRARY_LIBRARY_TESTS_H
#define ERRATA_TESTS_UNIT_CLIENT_LIBRARY_LIBRARY_TESTS_H

/* Each returns the number of failed tests. */
int run_result_tests(void);
int run_address_tests(void);
int run_config_tests(void);
int run_options_tests(void);
int run_details_tests(void);
int run_call_tests(void);
int run_channel_tests(void);
int run_loop_tests(void);
int run_blocking_tests(void);

#endif
