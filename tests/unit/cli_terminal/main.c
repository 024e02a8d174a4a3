/*
 * main.c: unit tests of the command line and the terminal output of the errata command.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_options_tests();
    failed += run_print_tests();
    failed += run_table_tests();
    failed += run_files_tests();
    failed += run_progress_tests();
    failed += run_csv_tests();
    failed += run_plot_tests();
    return failed == 0 ? 0 : 1;
}
