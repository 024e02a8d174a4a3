/*
 * main.c: runs the tests of this folder.
 */
#include "tests/unit/redis/redis_tests.h"

int main(void)
{
    return run_reader_tests() + run_consumer_tests();
}
