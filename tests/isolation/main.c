/*
 * main.c: the walls between organisations, in process, over every method of the contract.
 */
#include "tests/isolation/isolation.h"

#include "store/base/logger.h"

int main(void)
{
    int failed = 0;

    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    failed += run_differential_tests();
    failed += run_walk_tests();
    return failed;
}
