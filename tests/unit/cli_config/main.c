/*
 * main.c: unit tests of the errata command's contexts and of the file that holds them.
 */
#include "tests/unit/cli_config/cli_config_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_contexts_tests();
    failed += run_settings_tests();
    failed += run_config_file_tests();
    return failed == 0 ? 0 : 1;
}
