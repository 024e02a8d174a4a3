/*
 * main.c: runs the tests of reviews.
 */
#include "tests/unit/reviews/groups.h"

int main(void)
{
    int failed = run_review_tests();

    failed += run_spec_tests();
    failed += run_trigger_tests();
    failed += run_resolve_tests();
    failed += run_fragment_set_tests();
    failed += run_redaction_rate_tests();
    return failed;
}
