/*
 * diff_test.c: the changed lines of diffs.
 */
#include "server/domain/evaluator/diff.h"
#include "tests/unit/evaluator/evaluator_suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Goal: each hunk counts the larger of its removed and added lines. Method: diffs with and without hunk headers, a removed
 * line that looks like a file's head, and texts that are not diffs. */
static void test_lines_are_counted(void **state)
{
    (void)state;
    assert_int_equal(diff_count_lines(SLICE("")), 0);
    assert_int_equal(diff_count_lines(SLICE("only words\nin two lines")), 0);
    assert_int_equal(diff_count_lines(SLICE("-a\n+b")), 1);
    assert_int_equal(diff_count_lines(SLICE("-a\n-b\n+c\n same\n+d\n")), 3);
    assert_int_equal(diff_count_lines(SLICE("--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n same\n-a\n-b\n+c\n"
                                            "@@ -9 +8,2 @@\n-d\n+e\n+f\n")),
                     4);
    assert_int_equal(diff_count_lines(SLICE("@@ -1,2 +1,1 @@\n--- comment\n-x\n+y\n")), 2);
    assert_int_equal(diff_count_lines(SLICE("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n")),
                     1);
    assert_int_equal(diff_count_lines(SLICE("@@ -99999999999999999999,7 +1 @@\n-a")), 1);
    assert_int_equal(diff_count_lines(SLICE("@@ ")), 0);
}

int run_diffs(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_counted),
    };

    return cmocka_run_group_tests_name("diffs", tests, NULL, NULL);
}
