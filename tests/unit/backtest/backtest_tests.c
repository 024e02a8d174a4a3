/*
 * backtest_tests.c: a backtest in steps: its counts of random submissions against a second count, and its limits.
 */
#include "server/domain/backtest/backtest.h"
#include "server/domain/settings/settings.h"
#include "server/domain/verdicts/verdicts.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SUBMISSIONS 3000
#define REVIEWERS (BACKTEST_REVIEWERS_MAX + 20)

static uint32_t draw(struct store_fixture *fixture, uint32_t limit)
{
    uint32_t number = 0;

    random_fill(fixture->ctx.random, &number, sizeof(number));
    return number % limit;
}

static void submit(struct store_fixture *fixture, struct store_txn *txn,
                   const struct verdict_input *input)
{
    const struct verdict_request request = {
        .org = store_fixture_org(1),
        .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
        .input = input,
    };
    struct work_result result = {.first_seq = 0};

    log_begin_write(txn, NULL);
    assert_int_equal(verdict_submit(&fixture->ctx, txn, &request, &result), OK);
}

static bool never(const void *user)
{
    (void)user;
    return false;
}

static bool always(const void *user)
{
    (void)user;
    return true;
}

static struct backtest *make(struct store_fixture *fixture, const char *pattern, double adjustment)
{
    struct backtest *backtest = arena_calloc(&fixture->arena, 1, sizeof(*backtest));

    assert_non_null(backtest);
    backtest->org = store_fixture_org(1);
    backtest->thresholds =
        (struct score_thresholds){SETTINGS_SUSPICIOUS_AT_DEFAULT, SETTINGS_FAKE_AT_DEFAULT};
    backtest->submissions_max = BACKTEST_SUBMISSIONS_MAX;
    assert_int_equal(backtest_set_candidate(&fixture->ctx, LEARNED_RULE_TYPE_MISSED_INDICATOR,
                                            slice_text(pattern), &adjustment, backtest),
                     OK);
    return backtest;
}

/* Adds a hit to the counts: the verdicts of scores in percent, computed in integers. */
static void count(uint32_t percent, uint32_t added, enum verdict correct,
                  struct backtest_counts *counts)
{
    uint32_t scores[] = {percent, percent + added};
    enum verdict verdicts[2] = {VERDICT_REAL, VERDICT_REAL};

    for (int i = 0; i < 2; i++) {
        if (scores[i] >= 60) {
            verdicts[i] = VERDICT_FAKE;
        } else if (scores[i] >= 40) {
            verdicts[i] = VERDICT_SUSPICIOUS;
        }
    }
    counts->hits++;
    counts->agreements += correct == VERDICT_FAKE;
    counts->false_alarms += correct == VERDICT_REAL;
    if (verdicts[0] != verdicts[1]) {
        counts->flips_right += verdicts[1] == correct;
        counts->flips_wrong += verdicts[0] == correct;
        counts->flips_other += verdicts[0] != correct && verdicts[1] != correct;
    }
}

static void add_counts(const struct backtest_counts *from, struct backtest_counts *sum)
{
    sum->hits += from->hits;
    sum->agreements += from->agreements;
    sum->false_alarms += from->false_alarms;
    sum->flips_right += from->flips_right;
    sum->flips_wrong += from->flips_wrong;
    sum->flips_other += from->flips_other;
}

/* Goal: all submissions are counted once, over several steps and with more reviewers than are listed; later ones are
 * left out. Method: random submissions with an indicator in one of the three lists, and a count in integers. */
static void test_random_submissions_equal_a_second_count(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = store_fixture_begin(fixture);
    struct backtest_counts wanted = {.hits = 0};
    struct backtest_counts sum = {.hits = 0};
    struct backtest *backtest = make(fixture, "font", 0.15);
    struct verdict_input *input = arena_calloc(&fixture->arena, 1, sizeof(*input));
    char reviewer[16] = "";
    unsigned steps = 0;

    for (unsigned i = 0; i < SUBMISSIONS; i++) {
        uint32_t percent = draw(fixture, 101);
        uint32_t list = draw(fixture, 4);

        *input = (struct verdict_input){
            .receipt_id = SLICE("receipt"),
            .original_verdict = (enum verdict)(1 + draw(fixture, 3)),
            .correct_verdict = (enum verdict)(1 + draw(fixture, 3)),
            .has_original_score = true,
            .original_score = (double)percent / 100,
        };
        (void)snprintf(reviewer, sizeof(reviewer), "r%u", draw(fixture, REVIEWERS));
        input->actor_user_id = slice_text(reviewer);
        if (list < 3) {
            struct verdict_indicators *lists[] = {&input->confirmed, &input->rejected,
                                                  &input->missed};

            lists[list]->items[0] = SLICE("font");
            lists[list]->count = 1;
        }
        if (list < 2) {
            count(percent, 15, input->correct_verdict, &wanted);
        }
        submit(fixture, txn, input);
    }
    while (!backtest->has_ended) {
        assert_int_equal(backtest_step(&fixture->ctx, txn, backtest, never, NULL), OK);
        steps++;
        submit(fixture, txn, input);
    }
    assert_int_equal(steps, (SUBMISSIONS + BACKTEST_STEP_MAX - 1) / BACKTEST_STEP_MAX);
    assert_int_equal(backtest->submissions, SUBMISSIONS);
    assert_memory_equal(&backtest->total, &wanted, sizeof(wanted));
    assert_int_equal(backtest->reviewer_count, BACKTEST_REVIEWERS_MAX);
    assert_true(backtest->others.hits > 0);
    for (size_t i = 0; i < backtest->reviewer_count; i++) {
        add_counts(&backtest->reviewers[i].counts, &sum);
    }
    add_counts(&backtest->others, &sum);
    assert_memory_equal(&sum, &wanted, sizeof(wanted));
    store_abort(txn);
}

/* Goal: a backtest ends at its maximum and reports whether there is more; a cancelled one ends early. */
static void test_limits_end_a_backtest(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = store_fixture_begin(fixture);
    struct verdict_input *input = arena_calloc(&fixture->arena, 1, sizeof(*input));
    struct backtest *backtest = NULL;

    input->receipt_id = SLICE("receipt");
    input->original_verdict = VERDICT_REAL;
    input->correct_verdict = VERDICT_REAL;
    for (int i = 0; i < 100; i++) {
        submit(fixture, txn, input);
    }
    for (uint64_t most = 99; most <= 101; most++) {
        backtest = make(fixture, "font", 0.15);
        backtest->submissions_max = most;
        assert_int_equal(backtest_step(&fixture->ctx, txn, backtest, never, NULL), OK);
        assert_true(backtest->has_ended);
        assert_int_equal(backtest->submissions, most < 100 ? most : 100);
        assert_int_equal(backtest->is_incomplete, most < 100);
    }
    backtest = make(fixture, "font", 0.15);
    assert_int_equal(backtest_step(&fixture->ctx, txn, backtest, always, NULL), ERR_CANCELLED);
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_submissions_equal_a_second_count),
        TEST(test_limits_end_a_backtest),
    };

    return cmocka_run_group_tests_name("backtest", tests, NULL, NULL);
}
