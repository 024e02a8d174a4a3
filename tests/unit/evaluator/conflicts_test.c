/*
 * conflicts_test.c: pairs of rules that contradict each other, and pairs that only seem to.
 */
#include "server/domain/conflicts/conflicts.h"
#include "tests/unit/evaluator/evaluator_suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)256 << 20)

struct pair {
    const char *a;
    const char *b;
    enum conflict_reason reason;
};

static struct conflict compare(struct arena *arena, const char *a, const char *b)
{
    struct rule_parts left;
    struct rule_parts right;

    assert_int_equal(rule_parts_read(arena, slice_text(a), &left), OK);
    assert_int_equal(rule_parts_read(arena, slice_text(b), &right), OK);
    return rule_parts_compare(&left, &right);
}

/* Compares each pair in both orders. */
static void expect_all(const struct pair *pairs, size_t count)
{
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < count; i++) {
        enum conflict_reason there = compare(&arena, pairs[i].a, pairs[i].b).reason;
        enum conflict_reason back = compare(&arena, pairs[i].b, pairs[i].a).reason;

        if (there != pairs[i].reason || back != pairs[i].reason) {
            fail_msg("\"%s\" and \"%s\": %d and %d, not %d", pairs[i].a, pairs[i].b, (int)there,
                     (int)back, (int)pairs[i].reason);
        }
        arena_reset(&arena);
    }
    arena_deinit(&arena);
}

#define EXPECT_ALL(pairs) expect_all(pairs, sizeof(pairs) / sizeof((pairs)[0]))

/* Goal: a rule and its negation contradict each other, two negations cancel. Method: each kind of negation. */
static void test_negations_contradict(void **state)
{
    static const struct pair pairs[] = {
        {"Log request bodies.", "Never log request bodies.", CONFLICT_NEGATION},
        {"Mention the vendor in summaries.", "Avoid mentioning the vendor.", CONFLICT_NEGATION},
        {"Retries are forbidden.", "Use retries for uploads.", CONFLICT_NEGATION},
        {"Enable compression for uploads.", "Disable compression for uploads.", CONFLICT_NEGATION},
        {"Reply with a table without a caption.", "Give tables a caption.", CONFLICT_NEGATION},
        {"Disable tracing.", "Tracing must not be enabled.", CONFLICT_NONE},
        {"Never merge without a review.", "A review is needed for each merge.", CONFLICT_NONE},
        {"Avoid long answers.", "Keep answers short.", CONFLICT_NONE},
    };

    (void)state;
    EXPECT_ALL(pairs);
}

/* Goal: rules about different objects, or for different conditions, do not conflict. */
static void test_rules_about_other_objects_do_not_conflict(void **state)
{
    static const struct pair pairs[] = {
        {"Do not cache the login endpoint.", "Cache list endpoints.", CONFLICT_NONE},
        {"Use mocks in unit tests.", "Do not use mocks in load tests.", CONFLICT_NONE},
        {"Store dates in UTC.", "Show dates to users in local time.", CONFLICT_NONE},
        {"Greet the user.", "Never store passwords.", CONFLICT_NONE},
        {"Answer in French when the customer writes French.",
         "Answer in German when the customer writes German.", CONFLICT_NONE},
        {"", "Never store passwords.", CONFLICT_NONE},
        {"", "", CONFLICT_NONE},
    };

    (void)state;
    EXPECT_ALL(pairs);
}

/* Goal: opposites, and opposite orders in time, conflict. */
static void test_opposites_conflict(void **state)
{
    static const struct pair pairs[] = {
        {"Sort names in ascending order.", "Sort names in descending order.", CONFLICT_NEGATION},
        {"Titles are in upper case.", "Titles must be in lower case.", CONFLICT_NEGATION},
        {"Write tests after the implementation.", "Write tests before the implementation.",
         CONFLICT_NEGATION},
        {"Prefer classes over closures.", "Prefer closures over classes.", CONFLICT_NEGATION},
    };

    (void)state;
    EXPECT_ALL(pairs);
}

/* Goal: numbers conflict only if they cannot both hold, of the same unit and object. */
static void test_bounds_conflict_only_if_both_cannot_hold(void **state)
{
    static const struct pair pairs[] = {
        {"Use at most 3 retries.", "Use at least 5 retries.", CONFLICT_BOUNDS},
        {"Set the timeout to 30 s.", "Set the timeout to 5 seconds.", CONFLICT_BOUNDS},
        {"Set the timeout to 60 seconds.", "Set the timeout to 1 minute.", CONFLICT_NONE},
        {"Coverage must be at least 90%.", "Coverage may not exceed 80%.", CONFLICT_BOUNDS},
        {"Summaries have at least 30 words.", "Summaries have at most 100 words.", CONFLICT_NONE},
        {"Use at most 3 retries.", "Use at most 5 examples.", CONFLICT_NONE},
        {"Do not retry more than 3 times.", "Retry at most three times.", CONFLICT_NONE},
        {"Never use more than 3 retries.", "Use exactly five retries.", CONFLICT_BOUNDS},
        {"Functions have fewer than 30 lines.", "Functions have at least 30 lines.",
         CONFLICT_BOUNDS},
    };

    (void)state;
    EXPECT_ALL(pairs);
}

/* Goal: two choices of one group exclude each other, unless a rule rejects one. */
static void test_choices_of_a_group_exclude_each_other(void **state)
{
    static const struct pair pairs[] = {
        {"Indent with tabs.", "Indent with spaces.", CONFLICT_CHOICE},
        {"Use YAML for settings.", "Settings are written in TOML.", CONFLICT_CHOICE},
        {"Indent with tabs.", "Indent with tabs, not spaces.", CONFLICT_NONE},
        {"Indent with tabs.", "Do not indent with tabs.", CONFLICT_NEGATION},
    };

    (void)state;
    EXPECT_ALL(pairs);
}

/* Goal: duplicates are distinguished from contradictions, with the share of common words. */
static void test_duplicates_are_not_contradictions(void **state)
{
    struct conflict conflict;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    conflict =
        compare(&arena, "Always validate request bodies.", "Request bodies must be validated.");
    assert_true(conflict.is_duplicate);
    assert_true(conflict.overlap == 1);
    conflict = compare(&arena, "Validate request bodies.", "Validate request headers.");
    assert_false(conflict.is_duplicate);
    assert_true(conflict.overlap > 0.49 && conflict.overlap < 0.51);
    conflict = compare(&arena, "Log request bodies.", "Never log request bodies.");
    assert_false(conflict.is_duplicate);
    arena_deinit(&arena);
}

/* Goal: comments oppose each other only if they ask for the opposite; a description of a defect does not oppose the request
 * to mend it. */
static void test_comments_oppose_only_opposite_requests(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool oppose;
    } pairs[] = {
        {"Tabs please, not spaces.", "Spaces only. No tabs.", true},
        {"Use tabs for indentation.", "Indent with spaces, never tabs.", true},
        {"Input is used without any validation.", "All endpoints must validate their input.",
         false},
        {"No tests were added.", "Add tests for the new path.", false},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct rule_parts a;
        struct rule_parts b;

        assert_int_equal(rule_parts_read(&arena, slice_text(pairs[i].a), &a), OK);
        assert_int_equal(rule_parts_read(&arena, slice_text(pairs[i].b), &b), OK);
        assert_int_equal(rule_parts_oppose(&a, &b), pairs[i].oppose);
        assert_int_equal(rule_parts_oppose(&b, &a), pairs[i].oppose);
    }
    arena_deinit(&arena);
}

int run_conflicts(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_negations_contradict),
        cmocka_unit_test(test_rules_about_other_objects_do_not_conflict),
        cmocka_unit_test(test_opposites_conflict),
        cmocka_unit_test(test_bounds_conflict_only_if_both_cannot_hold),
        cmocka_unit_test(test_choices_of_a_group_exclude_each_other),
        cmocka_unit_test(test_duplicates_are_not_contradictions),
        cmocka_unit_test(test_comments_oppose_only_opposite_requests),
    };

    return cmocka_run_group_tests_name("conflicts", tests, NULL, NULL);
}
