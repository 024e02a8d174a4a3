/*
 * main.c: runs the tests of the journal.
 */
#include "tests/unit/journal/journal_tests.h"

int main(void)
{
    return run_memtable_tests() + run_segments_tests() + run_recovery_tests();
}
