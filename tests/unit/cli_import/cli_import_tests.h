/*
 * cli_import_tests.h: the groups of tests of this folder, one per file; main.c runs them.
 */
#ifndef ERRATA_TESTS_UNIT_CLI_IMPORT_CLI_IMPORT_TESTS_H
#define ERRATA_TESTS_UNIT_CLI_IMPORT_CLI_IMPORT_TESTS_H

int run_json_stream_tests(void);
int run_fields_tests(void);
int run_outputs_tests(void);
int run_rows_tests(void);

#endif
