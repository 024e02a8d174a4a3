/*
 * evaluator_tests.c: each row of the evaluator's table, its confidence and rationale; themes; and the other groups.
 */
#include "server/domain/evaluator/evaluator.h"
#include "server/domain/evaluator/theme.h"
#include "tests/unit/evaluator/evaluator_suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)64 << 20)

struct fixture {
    struct arena arena;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    arena_init(&fixture.arena, ARENA_BYTES);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    return 0;
}

static struct evaluator_input input_of(struct fixture *fixture, enum evaluator_decision decision,
                                       const char *comment, uint32_t lines)
{
    struct evaluator_input input = {.decision = decision,
                                    .has_words = comment[0] != '\0',
                                    .has_correction = lines > 0,
                                    .changed_lines = lines};

    assert_int_equal(comment_signals_read(&fixture->arena, slice_text(comment), &input.signals),
                     OK);
    return input;
}

static struct evaluator_result classify(struct fixture *fixture, struct evaluator_input input,
                                        struct evaluator_support support)
{
    struct evaluator_result result;

    assert_int_equal(evaluator_classify(&fixture->arena, &input, &support, &result), OK);
    return result;
}

static const struct evaluator_support one = {
    .members = 1, .reviewers = 1, .tasks = 1, .epics = 1, .changes = 1};

static void expect(struct fixture *fixture, struct evaluator_input input,
                   enum evaluator_class class)
{
    struct evaluator_result result = classify(fixture, input, one);

    if (result.class != class) {
        fail_msg("class %d, not %d: %.*s", (int)result.class, (int)class,
                 (int)result.rationale.size, (const char *)result.rationale.data);
    }
}

/* Goal: praise without a request is POSITIVE for any decision; approval without words too. */
static void test_praise_is_positive(void **state)
{
    struct fixture *f = *state;
    static const char *const praise[] = {"Nice work!",
                                         "LGTM",
                                         "Nothing to change here.",
                                         "I wouldn't change a thing.",
                                         "Great use of the cache, very readable.",
                                         "No complaints.",
                                         "Thanks, this is exactly right"};
    static const char *const other[] = {
        "Nice work, but please add tests.", "Good overall, though the names should be longer.",
        "Looks good except for the missing timeout.", "Please keep good names for tables."};

    for (size_t i = 0; i < sizeof(praise) / sizeof(praise[0]); i++) {
        expect(f, input_of(f, EVALUATOR_APPROVED_WITH_CHANGES, praise[i], 1), EVALUATOR_POSITIVE);
        expect(f, input_of(f, EVALUATOR_REJECTED, praise[i], 0), EVALUATOR_POSITIVE);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        assert_int_not_equal(classify(f, input_of(f, EVALUATOR_APPROVED, other[i], 0), one).class,
                             EVALUATOR_POSITIVE);
    }
    assert_int_not_equal(
        classify(f, input_of(f, EVALUATOR_APPROVED_WITH_CHANGES, "Nice work!", 2), one).class,
        EVALUATOR_POSITIVE);
    expect(f, input_of(f, EVALUATOR_APPROVED, "", 0), EVALUATOR_POSITIVE);
    assert_true(classify(f, input_of(f, EVALUATOR_APPROVED, "", 0), one).confidence == 0.5);
}

/* Goal: other decisions without words, or with fewer than three content words, are AMBIGUOUS. */
static void test_vague_comments_are_ambiguous(void **state)
{
    struct fixture *f = *state;

    expect(f, input_of(f, EVALUATOR_REJECTED, "", 0), EVALUATOR_AMBIGUOUS);
    expect(f, input_of(f, EVALUATOR_APPROVED, "", 3), EVALUATOR_AMBIGUOUS);
    expect(f, input_of(f, EVALUATOR_APPROVED, "why?", 0), EVALUATOR_AMBIGUOUS);
    expect(f, input_of(f, EVALUATOR_REJECTED, "Hmm, not sure.", 9), EVALUATOR_AMBIGUOUS);
    expect(f, input_of(f, EVALUATOR_REJECTED, "Needs work", 40), EVALUATOR_AMBIGUOUS);
}

/* Goal: a general cue makes LOW, a specific one EDGE_CASE, both LOW; without a cue the size of the change decides. */
static void test_cues_decide_between_low_and_edge_case(void **state)
{
    struct fixture *f = *state;
    struct evaluator_input input;

    expect(f, input_of(f, EVALUATOR_APPROVED, "Approved, but always add a changelog entry", 0),
           EVALUATOR_LOW);
    expect(f, input_of(f, EVALUATOR_REJECTED, "Diagrams should have a legend.", 0), EVALUATOR_LOW);
    expect(f, input_of(f, EVALUATOR_REJECTED, "Row 17 of data/towns.csv has another spelling", 0),
           EVALUATOR_EDGE_CASE);
    expect(f, input_of(f, EVALUATOR_REJECTED, "Leave the banner visible in Lisbon for now", 8),
           EVALUATOR_EDGE_CASE);
    expect(f, input_of(f, EVALUATOR_REJECTED, "Always write tests for src/pay.py", 8),
           EVALUATOR_LOW);
    expect(f, input_of(f, EVALUATOR_REJECTED, "caption overlaps the picture border", 2),
           EVALUATOR_EDGE_CASE);
    input = input_of(f, EVALUATOR_REJECTED, "caption overlaps the picture border", 3);
    expect(f, input, EVALUATOR_LOW);
    assert_true(classify(f, input, one).confidence == 0.5);
    assert_int_equal(classify(f, input, one).action, EVALUATOR_REFINE_PROMPT);
    input.names_skill = true;
    assert_int_equal(classify(f, input, one).action, EVALUATOR_UPDATE_SKILL);
}

/* Goal: the support of a cluster is exact. Method: one less than each minimum of HIGH, contradictions,
 * and one reviewer. */
static void test_high_needs_each_minimum_of_support(void **state)
{
    struct fixture *f = *state;
    struct evaluator_input input =
        input_of(f, EVALUATOR_REJECTED, "Remote calls need a timeout", 9);
    struct evaluator_support support = {
        .members = 3, .reviewers = 2, .tasks = 2, .epics = 1, .changes = 3};

    assert_int_equal(classify(f, input, support).class, EVALUATOR_HIGH);
    assert_int_equal(classify(f, input, support).action, EVALUATOR_CREATE_RULE);
    support.members = 2;
    assert_int_equal(classify(f, input, support).class, EVALUATOR_LOW);
    support.members = 3;
    support.tasks = 1;
    assert_int_equal(classify(f, input, support).class, EVALUATOR_LOW);
    support.tasks = 2;
    support.reviewers = 1;
    assert_int_equal(classify(f, input, support).class, EVALUATOR_LOW);
    support.reviewers = 2;
    support.contradicts = true;
    assert_int_equal(classify(f, input, support).class, EVALUATOR_AMBIGUOUS);
    assert_int_equal(classify(f, input, support).action, EVALUATOR_NO_ACTION);
}

/* Goal: the confidence of HIGH grows with members, reviewers and epics, falls with age, and its factors are printed. */
static void test_confidence_grows_with_support(void **state)
{
    struct fixture *f = *state;
    struct evaluator_input input =
        input_of(f, EVALUATOR_REJECTED, "Remote calls need a timeout", 9);
    struct evaluator_support support = {
        .members = 9, .reviewers = 4, .tasks = 9, .epics = 3, .changes = 9};
    struct evaluator_result result = classify(f, input, support);
    double full = result.confidence;

    assert_true(full > 0.957 && full < 0.958); /* 1 - exp(-3.15) */
    assert_non_null(memmem(result.rationale.data, result.rationale.size, "reviewers 1.000", 15));
    support.reviewers = 2;
    assert_true(classify(f, input, support).confidence < full);
    support.reviewers = 4;
    support.epics = 1;
    assert_true(classify(f, input, support).confidence < full);
    support.epics = 3;
    support.changes = 3;
    assert_true(classify(f, input, support).confidence < full);
    support.changes = 9;
    support.age_days = EVALUATOR_HALF_LIFE_DAYS;
    assert_true(classify(f, input, support).confidence < full * 0.76);
}

/* Goal: skills are named by tags and paths. */
static void test_skills_are_named_by_tags_and_paths(void **state)
{
    (void)state;
    assert_true(evaluator_names_skill(SLICE("skill")));
    assert_true(evaluator_names_skill(SLICE("skill:review")));
    assert_false(evaluator_names_skill(SLICE("skills")));
    assert_true(evaluator_has_skill_path(SLICE("+++ b/agents/skills/review.md")));
    assert_false(evaluator_has_skill_path(SLICE("skilled")));
    assert_false(evaluator_has_skill_path(SLICE("")));
}

/* Goal: concepts make rephrased comments similar, and the mean over a sum is the mean of the cosines. */
static void test_common_concepts_make_comments_similar(void **state)
{
    static const float across[2][4] = {{1, 0, 0, 0}, {0, 2, 0, 0}};
    struct fixture *f = *state;
    struct comment_signals signals[3];
    struct theme themes[3];
    int32_t sum[4 + LEXICON_CONCEPTS_MAX] = {0};
    static const char *const comments[] = {"Calls need a timeout", "Set a deadline for requests",
                                           "Sort the imports"};
    double mean = 0;

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(comment_signals_read(&f->arena, slice_text(comments[i]), &signals[i]), OK);
        assert_int_equal(theme_make(&f->arena, across[i % 2], 4, &signals[i], &themes[i]), OK);
        assert_true(theme_cosine(themes[i].numbers, themes[i].numbers, themes[i].width) > 0.999);
    }
    assert_true(theme_cosine(themes[0].numbers, themes[1].numbers, themes[0].width) > 0.4);
    assert_true(theme_cosine(themes[1].numbers, themes[2].numbers, themes[0].width) < 0.01);
    for (size_t i = 0; i < themes[0].width; i++) {
        sum[i] = themes[1].numbers[i] + themes[2].numbers[i];
    }
    mean = (theme_cosine(themes[0].numbers, themes[1].numbers, themes[0].width) +
            theme_cosine(themes[0].numbers, themes[2].numbers, themes[0].width)) /
           2;
    assert_true(theme_mean_cosine(themes[0].numbers, sum, themes[0].width, 2) - mean < 1e-9);
    assert_int_equal(theme_make(&f->arena, across[0], 4, NULL, &themes[0]), OK);
    assert_int_equal(themes[0].width, 4);
}

/* Goal: shown scores grow with the cosine, from 0 to 1; a caller's are the cosine. */
static void test_shown_scores_grow_with_the_cosine(void **state)
{
    (void)state;
    for (int kind = THEME_OF_MODEL; kind <= THEME_OF_CALLER; kind++) {
        double before = 0;

        for (int i = -10; i <= 100; i++) {
            double shown = theme_show((enum theme_kind)kind, i / 100.0);

            assert_true(shown >= before && shown <= 1);
            before = shown;
        }
        assert_true(theme_show((enum theme_kind)kind, -1) == 0);
        assert_true(theme_show((enum theme_kind)kind, 1) == 1);
    }
    assert_true(theme_show(THEME_OF_CALLER, 0.8) == 0.8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_praise_is_positive),
        cmocka_unit_test(test_vague_comments_are_ambiguous),
        cmocka_unit_test(test_cues_decide_between_low_and_edge_case),
        cmocka_unit_test(test_high_needs_each_minimum_of_support),
        cmocka_unit_test(test_confidence_grows_with_support),
        cmocka_unit_test(test_skills_are_named_by_tags_and_paths),
        cmocka_unit_test(test_common_concepts_make_comments_similar),
        cmocka_unit_test(test_shown_scores_grow_with_the_cosine),
    };

    return run_words() + run_conflicts() + run_diffs() +
           cmocka_run_group_tests_name("evaluator", tests, set_up, tear_down);
}
