/*
 * verdicts_tests.c: the rules that a submission learns, with each constant of the contract; rules against a recount
 * of random submissions; statistics of a window; lists.
 */
#include "server/domain/retractions/retractions.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/list.h"
#include "server/domain/verdicts/stats.h"
#include "server/domain/verdicts/verdicts.h"
#include "tests/support/store/store_fixture.h"

#include <errata/v1/verdict_submission.views.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define TYPES 4 /* numbers of rule types: 1 to 3 */
#define PATTERNS 5
#define DAY_US (INT64_C(86400) * 1000000)

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = store_fixture_begin(fixture);

    log_begin_write(txn, NULL);
    return txn;
}

static struct verdict_input input_of(enum verdict original, enum verdict correct)
{
    return (struct verdict_input){
        .receipt_id = SLICE("receipt"),
        .original_verdict = original,
        .correct_verdict = correct,
        .has_original_score = true,
        .original_score = 0.5,
    };
}

static void add(struct verdict_indicators *list, const char *indicator)
{
    list->items[list->count++] = slice_text(indicator);
}

/* Submits; returns the seq of the submission. */
static uint64_t submit(struct store_fixture *fixture, struct store_txn *txn,
                       const struct verdict_input *input)
{
    const struct verdict_request request = {
        .org = store_fixture_org(1),
        .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
        .input = input,
    };
    struct work_result result = {.first_seq = 0};

    assert_int_equal(verdict_submit(&fixture->ctx, txn, &request, &result), OK);
    return result.first_seq + result.count - 1;
}

/* The rule of a pattern; seq 0 if there is none. */
static struct learned_rule_row rule_of(struct store_txn *txn, const char *pattern,
                                       enum learned_rule_type type)
{
    struct learned_rule_row row = {.seq = 0};
    enum err err = learned_rule_find(txn, store_fixture_org(1), slice_text(pattern), type, &row);

    assert_true(err == OK || err == ERR_NOT_FOUND);
    return row;
}

static void switch_rule(struct store_fixture *fixture, struct store_txn *txn, struct uuid id,
                        bool enabled)
{
    const struct learned_rule_switch request = {
        .org = store_fixture_org(1),
        .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
        .id = id,
        .has_enabled = true,
        .enabled = enabled,
    };
    uint64_t seq = 0;

    assert_int_equal(learned_rule_set_enabled(&fixture->ctx, txn, &request, &seq), OK);
}

/* Goal: each pair of verdicts learns exactly the rules of the table, with its constants. Method: every pair, with one
 * indicator missed and one rejected. */
static void test_each_pair_of_verdicts_learns_its_rules(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);

    for (int original = VERDICT_REAL; original <= VERDICT_SUSPICIOUS; original++) {
        for (int correct = VERDICT_REAL; correct <= VERDICT_SUSPICIOUS; correct++) {
            struct verdict_input input = input_of((enum verdict)original, (enum verdict)correct);
            bool is_negative = original == VERDICT_REAL && correct == VERDICT_FAKE;
            bool is_positive = original == VERDICT_FAKE && correct == VERDICT_REAL;
            char missed[32];
            char rejected[32];
            struct learned_rule_row rule;

            (void)snprintf(missed, sizeof(missed), "missed %d%d", original, correct);
            (void)snprintf(rejected, sizeof(rejected), "rejected %d%d", original, correct);
            add(&input.missed, missed);
            add(&input.rejected, rejected);
            (void)submit(fixture, txn, &input);
            rule = rule_of(txn, missed, LEARNED_RULE_TYPE_FALSE_NEGATIVE);
            assert_int_equal(rule.seq != 0, is_negative);
            if (is_negative) {
                assert_int_equal(rule.record.adjustment, 50000000);
                assert_int_equal(rule.record.action, LEARNED_RULE_ACTION_INCREASE_WEIGHT);
            }
            rule = rule_of(txn, rejected, LEARNED_RULE_TYPE_FALSE_POSITIVE);
            assert_int_equal(rule.seq != 0, is_positive);
            if (is_positive) {
                assert_int_equal(rule.record.adjustment, -30000000);
                assert_int_equal(rule.record.action, LEARNED_RULE_ACTION_DECREASE_WEIGHT);
            }
            rule = rule_of(txn, missed, LEARNED_RULE_TYPE_MISSED_INDICATOR);
            assert_int_equal(rule.record.adjustment, 40000000);
            assert_int_equal(rule.record.action, LEARNED_RULE_ACTION_ADD_CHECK);
            assert_int_equal(rule.record.count, 1);
            assert_int_equal(rule.record.accuracy, 500000000);
            assert_true(rule.record.auto_learned && !rule.record.life.held_back);
            assert_int_equal(rule_of(txn, rejected, LEARNED_RULE_TYPE_MISSED_INDICATOR).seq, 0);
        }
    }
    store_abort(txn);
}

/* Goal: a rule that is learned again counts once more, and neither its adjustment nor its accuracy changes; a disabled
 * one stays disabled. Method: the same submission three times, the rule disabled after the second. */
static void test_rule_learned_again_only_counts(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_input input = input_of(VERDICT_FAKE, VERDICT_FAKE);
    struct learned_rule_row first;
    struct learned_rule_row again;

    add(&input.missed, "font");
    (void)submit(fixture, txn, &input);
    first = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    clock_manual_advance(&fixture->clock, 1000000);
    (void)submit(fixture, txn, &input);
    again = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(again.seq, first.seq);
    assert_true(uuid_equal(again.record.id, first.record.id));
    assert_int_equal(again.record.count, 2);
    assert_int_equal(again.record.adjustment, first.record.adjustment);
    assert_int_equal(learned_rule_accuracy(&again.record), 500000000);
    assert_int_equal(again.record.created_at_us, first.record.created_at_us);
    assert_int_equal(again.record.updated_at_us, first.record.updated_at_us + 1000000);
    switch_rule(fixture, txn, first.record.id, false);
    (void)submit(fixture, txn, &input);
    again = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(again.record.count, 3);
    assert_true(again.record.life.held_back);
    store_abort(txn);
}

/* Goal: a confirmed indicator reinforces the rules of its pattern except FALSE_POSITIVE, by 0.02 up to 1, and creates
 * none. Method: rules of all types for one pattern, confirmed 30 times. */
static void test_reinforcement_raises_accuracy_to_one(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_input missed = input_of(VERDICT_REAL, VERDICT_FAKE);
    struct verdict_input rejected = input_of(VERDICT_FAKE, VERDICT_REAL);
    struct verdict_input confirmed = input_of(VERDICT_SUSPICIOUS, VERDICT_FAKE);

    add(&missed.missed, "font");
    add(&rejected.rejected, "font");
    add(&confirmed.confirmed, "font");
    add(&confirmed.confirmed, "unknown");
    (void)submit(fixture, txn, &missed);
    (void)submit(fixture, txn, &rejected);
    for (uint64_t i = 1; i <= 30; i++) {
        struct learned_rule_row negative;
        struct learned_rule_row positive;
        uint64_t accuracy = i < 25 ? 500000000 + i * 20000000 : 1000000000;

        (void)submit(fixture, txn, &confirmed);
        negative = rule_of(txn, "font", LEARNED_RULE_TYPE_FALSE_NEGATIVE);
        positive = rule_of(txn, "font", LEARNED_RULE_TYPE_FALSE_POSITIVE);
        assert_int_equal(negative.record.count, 1 + i);
        assert_int_equal(learned_rule_accuracy(&negative.record), accuracy);
        assert_int_equal(positive.record.count, 1);
        assert_int_equal(learned_rule_accuracy(&positive.record), 500000000);
    }
    for (int type = 1; type < TYPES; type++) {
        assert_int_equal(rule_of(txn, "unknown", (enum learned_rule_type)type).seq, 0);
    }
    store_abort(txn);
}

/* Goal: a backdated submission counts, but sets no time of a rule back. Method: one a day before. */
static void test_backdated_submission_moves_no_time_back(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_input input = input_of(VERDICT_FAKE, VERDICT_FAKE);
    struct learned_rule_row before;
    struct learned_rule_row after;

    add(&input.missed, "font");
    (void)submit(fixture, txn, &input);
    before = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    input.time = (struct event_time){true, STORE_FIXTURE_START_US - DAY_US};
    (void)submit(fixture, txn, &input);
    after = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(after.record.count, 2);
    assert_int_equal(after.record.updated_at_us, before.record.updated_at_us);
    store_abort(txn);
}

static uint32_t draw(struct store_fixture *fixture, uint32_t limit)
{
    uint32_t number = 0;

    random_fill(&fixture->random.random, &number, sizeof(number));
    return number % limit;
}

/* Expected values of one rule, by the contract's text. */
struct expected {
    uint64_t count; /* 0: there is no rule */
    uint64_t reinforcement_count;
};

static void expect_learned(struct expected *expected, size_t pattern,
                           const struct verdict_input *input, uint32_t list)
{
    struct expected *rules = &expected[pattern * TYPES];

    if (list == 0) { /* confirmed */
        for (int type = LEARNED_RULE_TYPE_FALSE_NEGATIVE; type < TYPES; type++) {
            bool wanted = type != LEARNED_RULE_TYPE_FALSE_POSITIVE && rules[type].count > 0;

            rules[type].count += wanted;
            rules[type].reinforcement_count += wanted;
        }
    } else if (list == 1) { /* rejected */
        rules[LEARNED_RULE_TYPE_FALSE_POSITIVE].count +=
            input->original_verdict == VERDICT_FAKE && input->correct_verdict == VERDICT_REAL;
    } else {
        rules[LEARNED_RULE_TYPE_FALSE_NEGATIVE].count +=
            input->original_verdict == VERDICT_REAL && input->correct_verdict == VERDICT_FAKE;
        rules[LEARNED_RULE_TYPE_MISSED_INDICATOR].count++;
    }
}

/* Goal: rules are what a recount of all submissions gives, and each event lists exactly the rules that it changed.
 * Method: 500 random submissions over few patterns, counted a second time by the contract's text. */
static void test_rules_equal_a_recount(void **state)
{
    static const char *const patterns[PATTERNS] = {"a", "b", "text:c", "d>1", "e=true"};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct expected expected[PATTERNS * TYPES] = {{0}};
    uint64_t changes = 0;
    uint64_t listed = 0;

    for (int i = 0; i < 500; i++) {
        struct verdict_input input =
            input_of((enum verdict)(1 + draw(fixture, 3)), (enum verdict)(1 + draw(fixture, 3)));
        struct verdict_indicators *lists[] = {&input.confirmed, &input.rejected, &input.missed};
        struct verdict_submission_view view;
        struct event event;

        for (size_t pattern = 0; pattern < PATTERNS; pattern++) {
            uint32_t list = draw(fixture, 4);

            if (list < 3) {
                add(lists[list], patterns[pattern]);
                expect_learned(expected, pattern, &input, list);
            }
        }
        assert_int_equal(log_read(txn, store_fixture_org(1), submit(fixture, txn, &input), &event),
                         OK);
        assert_int_equal(verdict_submission_view_read(event.facts, &view), OK);
        listed += view.rule_changes.count;
    }
    for (size_t i = 0; i < PATTERNS * TYPES; i++) {
        struct learned_rule_row row;

        if (i % TYPES == 0) {
            continue;
        }
        row = rule_of(txn, patterns[i / TYPES], (enum learned_rule_type)(i % TYPES));
        assert_int_equal(row.seq != 0, expected[i].count > 0);
        if (row.seq != 0) {
            assert_int_equal(row.record.count, expected[i].count);
            assert_int_equal(row.record.reinforcement_count, expected[i].reinforcement_count);
            changes += row.record.count;
        }
    }
    assert_int_equal(listed, changes);
    store_abort(txn);
}

static bool is_never_cancelled(const void *user)
{
    (void)user;
    return false;
}

static bool is_cancelled(const void *user)
{
    (void)user;
    return true;
}

static struct verdict_stats stats_from(struct store_fixture *fixture, struct store_txn *txn,
                                       int64_t from_us)
{
    const struct verdict_stats_query query = {
        .org = store_fixture_org(1), .from_us = from_us, .is_cancelled = is_never_cancelled};
    struct verdict_stats stats;

    assert_int_equal(verdict_stats_read(&fixture->arena, txn, &query, &stats), OK);
    return stats;
}

static uint64_t retract(struct store_fixture *fixture, struct store_txn *txn, uint64_t seq)
{
    struct retraction_request request = {
        .org = store_fixture_org(1),
        .caller = {ROLE_REVIEWER, SLICE("anna"), 1, false},
        .reason = SLICE("wrong receipt"),
    };
    struct event event;
    uint64_t retraction_seq = 0;

    assert_int_equal(log_read(txn, request.org, seq, &event), OK);
    request.event_id = event.id;
    assert_int_equal(retraction_store(&fixture->ctx, txn, &request, &retraction_seq), OK);
    return retraction_seq;
}

/* Goal: a retraction subtracts exactly what its submission added, in any order. Method: 200 random submissions over few
 * patterns are retracted in a random order; after each the counts of all rules are those of the events left. */
static void test_retraction_subtracts_what_was_added(void **state)
{
    static const char *const patterns[PATTERNS] = {"a", "b", "text:c", "d>1", "e=true"};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    uint64_t seqs[200];
    uint64_t left = 0;

    for (size_t i = 0; i < 200; i++) {
        struct verdict_input input =
            input_of((enum verdict)(1 + draw(fixture, 3)), (enum verdict)(1 + draw(fixture, 3)));
        struct verdict_indicators *lists[] = {&input.confirmed, &input.rejected, &input.missed};
        struct verdict_submission_view view;
        struct event event;

        add(lists[draw(fixture, 3)], patterns[draw(fixture, PATTERNS)]);
        seqs[i] = submit(fixture, txn, &input);
        assert_int_equal(log_read(txn, store_fixture_org(1), seqs[i], &event), OK);
        assert_int_equal(verdict_submission_view_read(event.facts, &view), OK);
        left += view.rule_changes.count;
    }
    for (size_t remaining = 200; remaining > 0; remaining--) {
        size_t which = draw(fixture, (uint32_t)remaining);
        struct verdict_submission_view view;
        uint64_t counted = 0;
        struct event event;

        (void)retract(fixture, txn, seqs[which]);
        assert_int_equal(log_read(txn, store_fixture_org(1), seqs[which], &event), OK);
        assert_int_equal(verdict_submission_view_read(event.facts, &view), OK);
        left -= view.rule_changes.count;
        seqs[which] = seqs[remaining - 1];
        for (size_t i = 0; i < PATTERNS * TYPES; i++) {
            struct learned_rule_row row = {.seq = 0};

            if (i % TYPES != 0) {
                row = rule_of(txn, patterns[i / TYPES], (enum learned_rule_type)(i % TYPES));
            }
            if (row.seq != 0) {
                counted += row.record.count;
                assert_int_equal(row.record.life.state, row.record.count == 0
                                                            ? ARTIFACT_STATE_RETIRED
                                                            : ARTIFACT_STATE_ACTIVE);
                assert_true(row.record.reinforcement_count <= row.record.count);
            }
        }
        assert_int_equal(counted, left);
        assert_int_equal(stats_from(fixture, txn, 0).total, remaining - 1);
    }
    store_abort(txn);
}

/* Goal: a rule lives while any submission is left, and keeps its id and `enabled` when it is learned again. Method:
 * learned, reinforced and disabled; both submissions retracted; reinforced and learned again. */
static void test_rule_is_retired_without_submissions(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_input missed = input_of(VERDICT_FAKE, VERDICT_FAKE);
    struct verdict_input confirmed = input_of(VERDICT_FAKE, VERDICT_FAKE);
    uint64_t learned_seq = 0;
    uint64_t reinforced_seq = 0;
    struct learned_rule_row first;
    struct learned_rule_row row;

    add(&missed.missed, "font");
    add(&confirmed.confirmed, "font");
    learned_seq = submit(fixture, txn, &missed);
    reinforced_seq = submit(fixture, txn, &confirmed);
    first = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    switch_rule(fixture, txn, first.record.id, false);
    (void)retract(fixture, txn, learned_seq);
    row = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(row.record.life.state, ARTIFACT_STATE_ACTIVE);
    assert_int_equal(row.record.count, 1);
    assert_int_equal(learned_rule_accuracy(&row.record), 520000000);
    (void)retract(fixture, txn, reinforced_seq);
    row = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(row.record.life.state, ARTIFACT_STATE_RETIRED);
    assert_int_equal(learned_rule_accuracy(&row.record), 500000000);
    (void)submit(fixture, txn, &confirmed);
    row = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(row.record.life.state, ARTIFACT_STATE_RETIRED);
    assert_int_equal(row.record.count, 0);
    (void)submit(fixture, txn, &missed);
    row = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR);
    assert_int_equal(row.record.life.state, ARTIFACT_STATE_ACTIVE);
    assert_true(row.record.life.held_back);
    assert_true(uuid_equal(row.record.id, first.record.id));
    assert_int_equal(row.record.count, 1);
    assert_int_equal(learned_rule_accuracy(&row.record), 500000000);
    store_abort(txn);
}

/* Goal: statistics count the submissions from a microsecond on, and no other. Method: the nine pairs of verdicts, one
 * day apart, and windows that begin at and after the oldest. */
static void test_stats_count_the_window(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_stats stats;

    for (int i = 0; i < 9; i++) {
        struct verdict_input input = input_of((enum verdict)(1 + i / 3), (enum verdict)(1 + i % 3));

        (void)submit(fixture, txn, &input);
        clock_manual_advance(&fixture->clock, DAY_US);
    }
    stats = stats_from(fixture, txn, STORE_FIXTURE_START_US);
    assert_int_equal(stats.total, 9);
    assert_int_equal(stats.right, 3);
    assert_int_equal(stats.false_negatives, 1);
    assert_int_equal(stats.false_positives, 1);
    assert_int_equal(stats.real, 3);
    assert_int_equal(stats.fake, 3);
    assert_int_equal(stats.suspicious, 3);
    assert_int_equal(verdict_stats_permille(&stats), 333);
    assert_int_equal(stats.missed_count, 0);
    stats = stats_from(fixture, txn, STORE_FIXTURE_START_US + 1);
    assert_int_equal(stats.total, 8);
    assert_int_equal(stats.right, 2);
    assert_int_equal(stats_from(fixture, txn, STORE_FIXTURE_START_US + 9 * DAY_US).total, 0);
    store_abort(txn);
}

/* Goal: tenths of a percent are rounded half up. Method: shares just below, at and above a half. */
static void test_accuracy_is_rounded_half_up(void **state)
{
    const struct {
        uint64_t right;
        uint64_t total;
        uint32_t permille;
    } cases[] = {{0, 1, 0},    {1, 1, 1000}, {1, 3, 333},        {2, 3, 667},
                 {1, 2000, 1}, {1, 2001, 0}, {1999, 2000, 1000}, {3, 2000, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct verdict_stats stats = {.total = cases[i].total, .right = cases[i].right};

        assert_int_equal(verdict_stats_permille(&stats), cases[i].permille);
    }
}

/* Goal: the ten most missed indicators are reported, most first, of equal ones by name. Method: 300 names, so that the
 * table grows; name n is missed 1 + n / 4 times. */
static void test_most_missed_indicators_are_ranked(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_stats stats;

    for (int round = 0; round < 75; round++) {
        for (int first = round * 4; first < 300; first += VERDICT_INDICATORS_MAX) {
            struct verdict_input input = input_of(VERDICT_FAKE, VERDICT_FAKE);
            char names[VERDICT_INDICATORS_MAX][32];

            for (int i = 0; i < VERDICT_INDICATORS_MAX && first + i < 300; i++) {
                (void)snprintf(names[i], sizeof(names[i]), "name %03d", first + i);
                add(&input.missed, names[i]);
            }
            (void)submit(fixture, txn, &input);
        }
    }
    stats = stats_from(fixture, txn, 0);
    assert_int_equal(stats.missed_count, VERDICT_STATS_TOP);
    assert_false(stats.incomplete);
    for (size_t i = 0; i < VERDICT_STATS_TOP; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "name %03d", (int)(296 - i / 4 * 4 + i % 4));
        assert_true(slice_equal(stats.missed[i].indicator, slice_text(name)));
        assert_int_equal(stats.missed[i].count, 75 - i / 4);
    }
    store_abort(txn);
}

/* Goal: a cancelled call ends. Method: more submissions than are counted between two checks. */
static void test_stats_end_if_cancelled(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    const struct verdict_input input = input_of(VERDICT_FAKE, VERDICT_FAKE);
    const struct verdict_stats_query query = {.org = store_fixture_org(1),
                                              .is_cancelled = is_cancelled};
    struct verdict_stats stats;

    for (int i = 0; i < 256; i++) {
        (void)submit(fixture, txn, &input);
    }
    assert_int_equal(verdict_stats_read(&fixture->arena, txn, &query, &stats), ERR_CANCELLED);
    store_abort(txn);
}

/* The patterns of a list, joined. */
static struct slice list_all(struct store_fixture *fixture, struct store_txn *txn,
                             struct learned_rule_list *list)
{
    struct learned_rule_row row;
    struct buffer body;
    struct buffer text;
    struct page page;
    enum err err = OK;

    buffer_init(&body, &fixture->arena, 64);
    buffer_init(&text, &fixture->arena, 64);
    page_init(&page, 100, slice_of(NULL, 0), &body);
    list->org = store_fixture_org(1);
    list->page = &page;
    err = learned_rule_list_begin(txn, list);
    while (err == OK) {
        err = learned_rule_list_next(txn, list, &row);
        if (err == OK) {
            buffer_append(&text, row.record.pattern);
            buffer_append_byte(&text, (uint8_t)('0' + row.record.rule_type));
            buffer_append_byte(&body, 0);
        }
    }
    assert_int_equal(err, ERR_NOT_FOUND);
    page_deinit(&page);
    list->page = NULL;
    return buffer_slice(&text);
}

/* Goal: each filter lists exactly its rules, in order. Method: five rules, one disabled. */
static void test_list_filters_rules(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_input input = input_of(VERDICT_REAL, VERDICT_FAKE);
    struct learned_rule_list list = {.rule_type = LEARNED_RULE_TYPE_UNSPECIFIED};
    char id[UUID_TEXT_BYTES];

    add(&input.missed, "b");
    add(&input.missed, "a");
    (void)submit(fixture, txn, &input);
    input = input_of(VERDICT_FAKE, VERDICT_REAL);
    add(&input.rejected, "a");
    (void)submit(fixture, txn, &input);
    switch_rule(fixture, txn, rule_of(txn, "b", LEARNED_RULE_TYPE_MISSED_INDICATOR).record.id,
                false);
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("b1a1b3a3a2")));
    list.rule_type = LEARNED_RULE_TYPE_MISSED_INDICATOR;
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("b3a3")));
    list.rule_type = LEARNED_RULE_TYPE_UNSPECIFIED;
    list.pattern = SLICE("a");
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("a1a2a3")));
    list.pattern = SLICE("none");
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("")));
    list.pattern = SLICE("");
    list.has_enabled = true;
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("b3")));
    list.enabled = true;
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("b1a1a3a2")));
    list.has_enabled = false;
    uuid_format(rule_of(txn, "b", LEARNED_RULE_TYPE_MISSED_INDICATOR).record.id, id);
    assert_true(id_prefix_parse_uuid(slice_of(id, sizeof(id)), &list.id_prefix));
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("b3")));
    assert_true(id_prefix_parse_uuid(slice_of(id, 4), &list.id_prefix));
    assert_true(slice_equal(list_all(fixture, txn, &list), SLICE("b1a1b3a3a2")));
    store_abort(txn);
}

/* Goal: nothing of another organisation is found. Method: a rule of one organisation, asked for in another. */
static void test_rules_belong_to_their_organisation(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct verdict_input input = input_of(VERDICT_FAKE, VERDICT_FAKE);
    struct learned_rule_switch request = {.org = store_fixture_org(2),
                                          .caller = {ROLE_ADMIN, {NULL, 0}, 1, false}};
    struct learned_rule_row row;
    uint64_t seq = 0;

    add(&input.missed, "font");
    (void)submit(fixture, txn, &input);
    assert_int_equal(learned_rule_find(txn, store_fixture_org(2), SLICE("font"),
                                       LEARNED_RULE_TYPE_MISSED_INDICATOR, &row),
                     ERR_NOT_FOUND);
    request.id = rule_of(txn, "font", LEARNED_RULE_TYPE_MISSED_INDICATOR).record.id;
    assert_int_equal(learned_rule_set_enabled(&fixture->ctx, txn, &request, &seq), ERR_NOT_FOUND);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_EVENT, store_fixture_org(2)), 0);
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_pair_of_verdicts_learns_its_rules),
        TEST(test_rule_learned_again_only_counts),
        TEST(test_reinforcement_raises_accuracy_to_one),
        TEST(test_backdated_submission_moves_no_time_back),
        TEST(test_rules_equal_a_recount),
        TEST(test_retraction_subtracts_what_was_added),
        TEST(test_rule_is_retired_without_submissions),
        TEST(test_stats_count_the_window),
        TEST(test_accuracy_is_rounded_half_up),
        TEST(test_most_missed_indicators_are_ranked),
        TEST(test_stats_end_if_cancelled),
        TEST(test_list_filters_rules),
        TEST(test_rules_belong_to_their_organisation),
    };

    return cmocka_run_group_tests_name("verdicts", tests, NULL, NULL);
}
