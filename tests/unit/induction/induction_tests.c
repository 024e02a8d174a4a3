/*
 * induction_tests.c: the lift of a pattern, against values that were computed from the formula in Python; the table of
 * candidates at its limits; the patterns of a submission.
 */
#include "server/domain/induction/candidates.h"
#include "server/domain/induction/induction.h"
#include "server/domain/induction/lift.h"
#include "server/domain/induction/place_set.h"
#include "server/domain/induction/terms.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES (64u << 20)
#define LISTED_MAX 64

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-9 * (1 + fabs(expected)));
}

static void check_lift(struct lift_group hits, struct lift_group others, struct lift expected)
{
    struct lift lift;

    assert_true(lift_of(&hits, &others, &lift));
    assert_near(lift.ratio, expected.ratio);
    assert_near(lift.low, expected.low);
    assert_near(lift.high, expected.high);
}

static void test_lift_has_katz_interval(void **state)
{
    (void)state;
    check_lift((struct lift_group){15, 20}, (struct lift_group){10, 100},
               (struct lift){7.5, 3.9542124895, 14.2253356767});
    check_lift((struct lift_group){5, 5}, (struct lift_group){0, 40},
               (struct lift){75.1666666667, 4.73181867619, 1194.04993395});
    check_lift((struct lift_group){1, 10}, (struct lift_group){30, 300},
               (struct lift){1, 0.151053557881, 6.6201684623});
}

static void test_lift_needs_cases_in_both_groups(void **state)
{
    const struct lift_group none = {0, 0};
    const struct lift_group some = {1, 4};
    const struct lift_group zero = {0, 4};
    struct lift lift;

    (void)state;
    assert_false(lift_of(&none, &some, &lift));
    assert_false(lift_of(&some, &none, &lift));
    assert_true(lift_of(&zero, &some, &lift));
    assert_near(lift.high, 0);
}

static void test_pattern_counts_once_for_a_submission(void **state)
{
    const bool targets[TARGET_COUNT] = {true, false};
    const bool none[TARGET_COUNT] = {false, false};
    struct candidates candidates;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(candidates_init(&candidates, &arena, 7), OK);
    assert_int_equal(candidates_add(&candidates, SLICE("a")), OK);
    assert_int_equal(candidates_add(&candidates, SLICE("a")), OK);
    assert_int_equal(candidates_add(&candidates, SLICE("")), OK);
    assert_int_equal(candidates.count, 1);
    candidates_count(&candidates, SLICE("a"), 0, targets);
    candidates_count(&candidates, SLICE("a"), 0, targets);
    candidates_count(&candidates, SLICE("b"), 0, targets);
    candidates_count(&candidates, SLICE("a"), 1, none);
    assert_int_equal(candidates.items[0].hits, 2);
    assert_int_equal(candidates.items[0].targets[TARGET_FALSE_NEGATIVE], 1);
    assert_int_equal(candidates.items[0].targets[TARGET_FALSE_POSITIVE], 0);
    arena_deinit(&arena);
}

static void test_table_leaves_out_what_it_has_no_room_for(void **state)
{
    struct candidates candidates;
    struct arena arena;
    uint8_t longest[CANDIDATE_BYTES_MAX + 1];

    (void)state;
    memset(longest, 'x', sizeof(longest));
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(candidates_init(&candidates, &arena, 7), OK);
    assert_int_equal(candidates_add(&candidates, slice_of(longest, sizeof(longest))), OK);
    assert_int_equal(candidates.count, 0);
    for (uint32_t i = 0; i <= CANDIDATES_MAX; i++) {
        assert_false(candidates.is_full);
        assert_int_equal(candidates_add(&candidates, slice_of(&i, sizeof(i))), OK);
    }
    assert_true(candidates.is_full);
    assert_int_equal(candidates.count, CANDIDATES_MAX);
    arena_deinit(&arena);
}

struct listed {
    struct arena *arena;
    struct slice items[LISTED_MAX];
    size_t count;
};

static enum err list_term(void *user, struct slice pattern)
{
    struct listed *listed = user;

    assert_true(listed->count < LISTED_MAX);
    assert_true(arena_copy(listed->arena, pattern, &listed->items[listed->count]));
    listed->count++;
    return OK;
}

static bool has(const struct listed *listed, const char *pattern)
{
    for (size_t i = 0; i < listed->count; i++) {
        if (slice_equal(listed->items[i], slice_text(pattern))) {
            return true;
        }
    }
    return false;
}

static void test_submission_has_its_patterns(void **state)
{
    static const char *const expected[] = {"vip",
                                           "shop=Nord",
                                           "shop",
                                           "total",
                                           "total>3",
                                           "total<9",
                                           "text:free entry",
                                           "text:entry",
                                           "text:a free entry",
                                           "text:\320\277\320\260\321\200",
                                           "text:one",
                                           "text:two"};
    struct numeric_features features = {.room = 10};
    struct verdict_submission_view view = {
        .original_features_json =
            SLICE("{\"total\":5,\"vip\":true,\"shop\":\"Nord\",\"off\":false,\"a>b\":7}"),
        .text = SLICE("A FREE entry! \320\277\320\260\321\200 one\177two")};
    struct listed listed = {.count = 0};
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (int i = 1; i <= 9; i++) {
        const struct verdict_submission_view other = {
            .original_features_json = arena_printf(&arena, "{\"total\":%d}", i)};

        assert_int_equal(numeric_features_add(&features, &arena, &arena, &other), OK);
    }
    numeric_features_compute(&features);
    listed.arena = &arena;
    assert_int_equal(terms_visit(&features, &arena, &view, list_term, &listed), OK);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (!has(&listed, expected[i])) {
            fail_msg("no pattern %s", expected[i]);
        }
    }
    assert_false(has(&listed, "off"));
    assert_false(has(&listed, "text:a"));
    assert_false(has(&listed, "total>5"));
    assert_false(has(&listed, "a>b>7"));
    arena_deinit(&arena);
}

/* Each place is counted once, on both sides of the words' edges. */
static void test_set_keeps_each_place(void **state)
{
    const size_t places = 200;
    struct place_set set;
    struct place_set explained;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(place_set_init(&set, &arena, places), OK);
    assert_int_equal(place_set_init(&explained, &arena, places), OK);
    for (size_t i = 0; i < places; i++) {
        assert_int_equal(place_set_count_new(&set, &explained, i), i);
        place_set_add(&set, i);
        place_set_add(&set, i);
    }
    for (size_t i = 0; i < places; i += 2) {
        place_set_add(&explained, i);
        assert_int_equal(place_set_count_new(&set, &explained, places), places - i / 2 - 1);
    }
    place_set_add_all(&explained, &set);
    assert_int_equal(place_set_count_new(&set, &explained, places), 0);
    arena_deinit(&arena);
}

/* A hundred new places are a quarter of 400 targets, and less of 401. */
static void test_new_places_below_a_quarter_count_as_none(void **state)
{
    const size_t places = 100;
    struct place_set set;
    struct place_set explained;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(place_set_init(&set, &arena, places), OK);
    assert_int_equal(place_set_init(&explained, &arena, places), OK);
    for (size_t i = 0; i < places; i++) {
        place_set_add(&set, i);
    }
    assert_int_equal(place_set_count_new(&set, &explained, 400), places);
    assert_int_equal(place_set_count_new(&set, &explained, 401), 0);
    arena_deinit(&arena);
}

/* A set of 63, 64, 65 or 128 places has room for the last one, and no more words than it needs. */
static void test_set_has_a_word_for_each_64_places(void **state)
{
    static const struct {
        size_t places;
        size_t words;
    } sizes[] = {{0, 0}, {1, 1}, {63, 1}, {64, 1}, {65, 2}, {128, 2}, {129, 3}};
    struct place_set set;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(place_set_init(&set, &arena, sizes[i].places), OK);
        assert_int_equal(set.word_count, sizes[i].words);
    }
    arena_deinit(&arena);
}

static void test_rule_needs_a_quarter_of_new_targets(void **state)
{
    const size_t places = 100;
    struct place_set set;
    struct place_set explained;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(place_set_init(&set, &arena, places), OK);
    assert_int_equal(place_set_init(&explained, &arena, places), OK);
    for (size_t i = 0; i < places; i++) {
        place_set_add(&set, i);
    }
    for (size_t i = 0; i < 75; i++) {
        place_set_add(&explained, i);
    }
    assert_int_equal(place_set_count_new(&set, &explained, places), 25);
    place_set_add(&explained, 75);
    assert_int_equal(place_set_count_new(&set, &explained, places), 0);
    arena_deinit(&arena);
}

static void test_patterns_have_documented_limits(void **state)
{
    (void)state;
    assert_int_equal(CANDIDATES_MAX, 200000);
    assert_int_equal(CANDIDATE_BYTES_MAX, 256);
    assert_int_equal(INDUCTION_SUBMISSIONS_MAX, 20000);
    assert_int_equal(INDUCTION_PREDICATES_MAX, 5000);
    assert_int_equal(INDUCTION_RULES_MAX, 20);
    assert_int_equal(INDUCTION_NEW_SHARE_PERCENT, 25);
    assert_int_equal(INDUCTION_HITS_MIN, 5);
    assert_float_equal(INDUCTION_LIFT_MIN, 2, 0);
    assert_int_equal(INDUCTION_TIME_US, 30000000);
    assert_int_equal(NUMERIC_FEATURES_MAX, 200);
    assert_int_equal(DECILES, 9);
    assert_int_equal(TERM_VALUE_BYTES_MAX, 64);
    assert_int_equal(PHRASE_WORDS_MAX, 3);
    assert_int_equal(PHRASE_BYTES_MAX, 96);
    assert_int_equal(PHRASE_WORD_BYTES_MIN, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_have_documented_limits),
        cmocka_unit_test(test_lift_has_katz_interval),
        cmocka_unit_test(test_lift_needs_cases_in_both_groups),
        cmocka_unit_test(test_pattern_counts_once_for_a_submission),
        cmocka_unit_test(test_table_leaves_out_what_it_has_no_room_for),
        cmocka_unit_test(test_submission_has_its_patterns),
        cmocka_unit_test(test_set_keeps_each_place),
        cmocka_unit_test(test_new_places_below_a_quarter_count_as_none),
        cmocka_unit_test(test_set_has_a_word_for_each_64_places),
        cmocka_unit_test(test_rule_needs_a_quarter_of_new_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
