/*
 * main.c: the tests of server/domain/analytics.
 */
#include "tests/unit/analytics/analytics_tests.h"

int main(void)
{
    int failed = run_proportions_tests();

    failed += run_learning_tests();
    failed += run_layouts_tests();
    return failed;
}
