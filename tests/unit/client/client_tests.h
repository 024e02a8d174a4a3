/*
 * client_tests.h: the groups of tests of this folder, one per file; main.c runs them.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_CLIENT_TESTS_H
#define ERRATA_TESTS_UNIT_CLIENT_CLIENT_TESTS_H

int run_header_tests(void);
int run_message_tests(void);
int run_session_tests(void);
int run_unseen_tests(void);
int run_keepalive_tests(void);
int run_upload_tests(void);
int run_connection_tests(void);
int run_channel_loop_tests(void);
int run_blocking_tests(void);
int run_details_tests(void);

#endif
