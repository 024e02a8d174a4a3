/*
 * base_tests.c: runs the groups of tests of store/base; fails when any of them does.
 */
#include "tests/unit/base/base_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_memory_tests();
    failed += run_text_tests();
    failed += run_base64_tests();
    failed += run_wire_tests();
    failed += run_json_check_tests();
    failed += run_json_use_tests();
    failed += run_time_tests();
    failed += run_report_tests();
    return failed == 0 ? 0 : 1;
}
