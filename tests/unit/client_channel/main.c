/*
 * main.c: unit tests of the lasting channel.
 */
#include "tests/unit/client_channel/channel_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_connect_tests();
    return failed == 0 ? 0 : 1;
}
