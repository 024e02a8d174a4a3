/*
 * main.c: unit tests of the readers of other tools' exports.
 */
#include "tests/unit/cli_import/cli_import_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_json_stream_tests();
    failed += run_fields_tests();
    failed += run_outputs_tests();
    failed += run_rows_tests();
    return failed == 0 ? 0 : 1;
}
