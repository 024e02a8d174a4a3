/*
 * rows_tests.c: runs the groups of tests of keys and rows; fails when any of them does.
 */
#include "tests/unit/rows/rows_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_key_tests();
    failed += run_record_tests();
    failed += run_list_tests();
    failed += run_format_tests();
    return failed == 0 ? 0 : 1;
}
