/*
 * preload_tests.c: runs the groups of tests of tools/bench/preload; fails when any of them does.
 */
#include "tests/unit/preload/preload_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_feed_tests();
    failed += run_preload_tests();
    return failed == 0 ? 0 : 1;
}
