/*
 * main.c: unit tests of the lasting channel.
 */
#include "tests/unit/client_channel/channel_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_retry_tests();
    failed += run_connect_tests();
    failed += run_repeat_tests();
    failed += run_stream_tests();
    failed += run_end_tests();
    failed += run_scarcity_tests();
    failed += run_random_tests();
    return failed == 0 ? 0 : 1;
}
