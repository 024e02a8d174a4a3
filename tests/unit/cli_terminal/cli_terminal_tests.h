/*
 * cli_terminal_tests.h: the groups of tests of this folder, one per file; main.c runs them.
 */
#ifndef ERRATA_TESTS_UNIT_CLI_TERMINAL_CLI_TERMINAL_TESTS_H
#define ERRATA_TESTS_UNIT_CLI_TERMINAL_CLI_TERMINAL_TESTS_H

int run_options_tests(void);
int run_print_tests(void);
int run_table_tests(void);
int run_files_tests(void);
int run_progress_tests(void);
int run_csv_tests(void);
int run_plot_tests(void);

#endif
