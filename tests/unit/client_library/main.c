/*
 * main.c: unit tests of the public client library.
 */
#include "tests/unit/client_library/library_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_result_tests();
    failed += run_address_tests();
    failed += run_config_tests();
    failed += run_options_tests();
    failed += run_details_tests();
    failed += run_call_tests();
    failed += run_channel_tests();
    failed += run_blocking_tests(); /* before the next group, which ignores SIGPIPE */
    failed += run_loop_tests();
    return failed == 0 ? 0 : 1;
}
