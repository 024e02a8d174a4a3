/*
 * cli_config_tests.h: the groups of tests of this folder, one per file; main.c runs them.
 */
#ifndef ERRATA_TESTS_UNIT_CLI_CONFIG_CLI_CONFIG_TESTS_H
#define ERRATA_TESTS_UNIT_CLI_CONFIG_CLI_CONFIG_TESTS_H

int run_contexts_tests(void);
int run_settings_tests(void);
int run_config_file_tests(void);

#endif
