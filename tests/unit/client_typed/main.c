/*
 * main.c: unit tests of the generated client stubs.
 */
#include "tests/unit/client_typed/typed_tests.h"

int main(void)
{
    int failed = 0;

    failed += run_stubs_tests();
    failed += run_wait_tests();
    return failed == 0 ? 0 : 1;
}
