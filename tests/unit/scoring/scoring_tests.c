/*
 * scoring_tests.c: scores with each constant and gate of the contract; scores of random rules and receipts against a
 * second implementation; rule sets that follow the log against loaded sets.
 */
#include "tests/unit/scoring/scoring_tests.h"
#include "server/domain/retractions/retractions.h"
#include "server/domain/scoring/rule_cache.h"
#include "server/domain/scoring/scoring.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/verdicts.h"
#include "tests/support/store/store_fixture.h"
#include "tests/unit/scoring/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Times 50 receipts each: 100,000 scores. */
#define ROUNDS 1000
#define RECEIPTS 50
#define UNIT 1000000000

struct store_txn *scoring_begin(struct store_fixture *fixture)
{
    struct store_txn *txn = store_fixture_begin(fixture);

    log_begin_write(txn, NULL);
    return txn;
}

static struct slice pattern_at(size_t index)
{
    return slice_text(reference_patterns[index]);
}

/* Writes the row of a learned rule. */
static void write_rule(struct store_fixture *fixture, struct store_txn *txn, uint64_t seq,
                       const char *pattern, int64_t adjustment)
{
    struct learned_rule_row row = {
        .seq = seq,
        .record = {.id = {{(uint8_t)(seq >> 8), (uint8_t)seq}},
                   .rule_type = LEARNED_RULE_TYPE_MISSED_INDICATOR,
                   .pattern = slice_text(pattern),
                   .action = LEARNED_RULE_ACTION_ADD_CHECK,
                   .adjustment = adjustment,
                   .count = 3,
                   .reinforcement_count = 2,
                   .accuracy = UNIT / 2,
                   .life = artifact_life_begin(ARTIFACT_STATE_ACTIVE, seq)},
    };

    assert_int_equal(learned_rule_write(&fixture->arena, txn, store_fixture_org(1), NULL, &row),
                     OK);
}

static struct rule_set *load(struct store_txn *txn)
{
    struct rule_set *set = NULL;
    struct log_head head;

    assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
    assert_int_equal(rule_set_load(txn, store_fixture_org(1), head.last_seq, 77, &set), OK);
    return set;
}

static struct scoring_result score(struct store_fixture *fixture, const struct rule_set *set,
                                   const struct scoring_request *request)
{
    struct scoring_result result;

    assert_int_equal(scoring_apply(&fixture->arena, set, request, &result), OK);
    return result;
}

/* Asserts that two scores are the same double. */
static void assert_score(double score, double expected)
{
    assert_memory_equal(&score, &expected, sizeof(score));
}

/* The weight of a rule with this pattern, which all receipts here have as an indicator. */
static struct score_weight weigh(int64_t adjustment, const char *pattern,
                                 const struct score_context *context)
{
    return score_weigh(adjustment, score_gates_of(slice_text(pattern)), context);
}

/* Goal: each gate acts exactly on its side of its condition, and reduced weights are exact. Method: values at both sides
 * of each. */
static void test_gates_act_at_their_thresholds(void **state)
{
    struct score_context sure = {.missing_fields_enabled = true, .profile_confidence = 0.55};
    struct score_context unsure = {.missing_fields_enabled = true,
                                   .profile_confidence = 0.5499999999999999};
    struct score_context no_missing = {.profile_confidence = 1};
    struct score_context pos = {.missing_fields_enabled = true,
                                .profile_confidence = 1,
                                .profile_subtype = SLICE("POS_RECEIPT")};

    (void)state;
    assert_int_equal(weigh(50000000, "font", &sure).weight, 50000000);
    assert_int_equal(weigh(50000000, "font", &unsure).weight, 32500000);
    assert_int_equal(weigh(-30000000, "font", &unsure).weight, -19500000);
    assert_int_equal(weigh(40000000, "font", &unsure).weight, 26000000);
    assert_int_equal(weigh(76923077, "font", &unsure).weight, 50000000);
    assert_int_equal(weigh(76923075, "font", &unsure).weight, 49999999);
    assert_int_equal(weigh(UNIT, "font", &unsure).weight, 50000000);
    assert_int_equal(weigh(-UNIT, "font", &unsure).weight, -50000000);
    assert_int_equal(weigh(UNIT, "font", &sure).weight, UNIT);
    assert_int_equal(weigh(50, "a missing_elements b", &no_missing).suppressed_by,
                     SCORE_GATE_MISSING_ELEMENTS);
    assert_int_equal(weigh(50, "a missing_elements b", &no_missing).weight, 0);
    assert_int_equal(weigh(50, "missing_element", &no_missing).weight, 50);
    assert_int_equal(weigh(50, "Missing_elements", &no_missing).weight, 50);
    assert_int_equal(weigh(50, "missing_elements", &pos).weight, 50);
    assert_int_equal(weigh(50, "odd_spacing", &pos).suppressed_by, SCORE_GATE_POS_LAYOUT);
    assert_int_equal(weigh(50, "layout2", &pos).suppressed_by, SCORE_GATE_POS_LAYOUT);
    assert_int_equal(weigh(50, "spacin", &pos).weight, 50);
    assert_int_equal(weigh(50, "Layout", &pos).weight, 50);
    assert_int_equal(weigh(50, "layout", &sure).weight, 50);
    pos.profile_subtype = SLICE("POS");
    assert_int_equal(weigh(50, "layout", &pos).weight, 0);
    pos.profile_subtype = SLICE("PO");
    assert_int_equal(weigh(50, "layout", &pos).weight, 50);
    pos.profile_subtype = SLICE("pos");
    assert_int_equal(weigh(50, "layout", &pos).weight, 50);
    pos.profile_subtype = SLICE("A_POS");
    assert_int_equal(weigh(50, "layout", &pos).weight, 50);
}

/* Goal: SUM counts all weights, MAX the largest of each pattern in each direction; the clamp ends at 0 and 1. Method:
 * one list with both directions; values next to the limits. */
static void test_weights_are_stacked(void **state)
{
    struct score_addend addends[] = {{1, 50}, {1, 40}, {1, -30}, {2, -20}, {2, -30}, {3, 0}};

    (void)state;
    assert_int_equal(score_sum(addends, 6), 10);
    assert_int_equal(score_sum_of_largest(addends, 6), 50 - 30 - 30);
    assert_int_equal(score_sum_of_largest(addends, 0), 0);
    assert_score(score_clamp(-0.0000001), 0);
    assert_score(score_clamp(1.0000001), 1);
    assert_score(score_clamp(0.9999999), 0.9999999);
    assert_score(score_clamp(0.0000001), 0.0000001);
}

struct condition {
    const char *pattern;
    bool holds;
};

/* Goal: each pattern matches exactly the values that the contract names. Method: one receipt, and a rule for each
 * pattern. */
static void test_patterns_match(void **state)
{
    static const struct condition conditions[] = {
        {"font", true},
        {"Font", false},
        {"font ", false},
        {"yes", true},
        {"no", false},
        {"full", true},
        {"empty", false},
        {"zero", false},
        {"minus", true},
        {"none", false},
        {"list", false},
        {"minus=-1.5", true},
        {"minus=-15e-1", true},
        {"minus=-1.50 ", false},
        {"minus<-1.4", true},
        {"minus<-1.5", false},
        {"minus>-1.5", false},
        {"minus>-1.6", true},
        {"yes=true", true},
        {"yes=True", false},
        {"no=false", true},
        {"no=true", false},
        {"yes=1", false},
        {"full=a=b", true},
        {"full=a", false},
        {"full>a", false},
        {"empty=", true},
        {"none=", false},
        {"none=null", false},
        {"list=[]", false},
        {"minus>=-2", false},
        {"unknown=1", false},
        {"text:STRASSE 5", true},
        {"text:straße 5", true},
        {"text:rasse", true},
        {"text:strase", false},
        {"text:", false},
        {"text: ", true},
        {"odd\"key", true},
        {"yes>0", false},
        {"zero=0", true},
        {"zero=-0.0", true},
        {"minus=", false},
        {"=5", true},
        {"total", true},
        {"text:straße\n5", false},
    };
    static const struct slice indicators[] = {SLICE("font"), SLICE("font"), SLICE("total")};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct scoring_request request = {
        .receipt = {.indicators = indicators,
                    .indicator_count = 3,
                    .features = SLICE(
                        " {\"yes\":true,\"no\":false,\"full\":\"a=b\",\"empty\":\"\",\"zero\":0.0,"
                        "\"minus\":-1.5,\"none\":null,\"list\":[1],\"odd\\\"key\":true,\"\":5} "),
                    .text = SLICE("An der Straße 5")},
        .score = 0.5,
        .context = {.profile_confidence = 1},
    };
    size_t count = sizeof(conditions) / sizeof(conditions[0]);
    struct scoring_result result;
    struct rule_set *set = NULL;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        write_rule(fixture, txn, i + 1, conditions[i].pattern, 1000);
    }
    set = load(txn);
    result = score(fixture, set, &request);
    for (size_t i = 0; i < count; i++) {
        bool holds = at < result.event_count && result.events[at].rule->seq == i + 1;

        if (holds != conditions[i].holds) {
            fail_msg("%s: %d", conditions[i].pattern, holds);
        }
        at += holds;
    }
    assert_int_equal(at, result.event_count);
    rule_set_free(set);
    store_abort(txn);
}

/* Compares a score with the second implementation. */
static void check_score(struct store_fixture *fixture, struct store_txn *txn,
                        const struct rule_set *set, const struct reference_receipt *receipt)
{
    const struct scoring_request request = {
        .receipt = receipt->receipt,
        .score = receipt->score,
        .context = receipt->context,
        .stacking = receipt->stacks_max ? SCORE_STACKING_MAX : SCORE_STACKING_SUM,
        .thresholds = {UNIT / 10 * 4, UNIT / 10 * 6},
    };
    struct reference_score expected = reference_score(txn, store_fixture_org(1), receipt);
    struct scoring_result result = score(fixture, set, &request);

    assert_int_equal(result.event_count, expected.count);
    for (size_t i = 0; i < expected.count; i++) {
        const struct scoring_event *event = &result.events[i];

        assert_int_equal(event->rule->seq, expected.events[i].seq);
        assert_int_equal(event->weight.weight, expected.events[i].weight);
        assert_int_equal(event->weight.suppressed_by != SCORE_GATE_UNSPECIFIED,
                         expected.events[i].is_suppressed);
        assert_int_equal(event->rule->count, expected.events[i].count);
        assert_int_equal(event->rule->accuracy, expected.events[i].accuracy);
    }
    assert_int_equal(result.shadow_count, expected.shadow_count);
    for (size_t i = 0; i < expected.shadow_count; i++) {
        assert_int_equal(result.shadows[i].rule->seq, expected.shadow_seqs[i]);
    }
    assert_int_equal(result.verdicts.base, reference_verdict(receipt->score));
    assert_int_equal(result.verdicts.live, reference_verdict(expected.unclamped));
    assert_int_equal(result.verdicts.shadow, reference_verdict(expected.unclamped_with_shadows));
    assert_score(result.unclamped, expected.unclamped);
    assert_true(result.clamped >= 0 && result.clamped <= 1);
    assert_score(result.clamped, expected.unclamped < 0   ? 0
                                 : expected.unclamped > 1 ? 1
                                                          : expected.unclamped);
}

static void add_some(struct random_seeded *random, struct verdict_indicators *list, uint32_t taken)
{
    for (size_t i = 0; i < REFERENCE_PATTERNS; i++) {
        if (i % 3 == taken && reference_pick(random, 6) == 0) {
            list->items[list->count] = pattern_at(i);
            list->count++;
        }
    }
}

/* Submits a random verdict; returns its number. */
static uint64_t submit_random(struct store_fixture *fixture, struct store_txn *txn,
                              struct random_seeded *random)
{
    static struct verdict_input input;
    const struct verdict_request request = {.org = store_fixture_org(1),
                                            .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
                                            .input = &input};
    struct work_result result = {.first_seq = 0};
    uint32_t taken = reference_pick(random, 3);

    input = (struct verdict_input){
        .receipt_id = SLICE("receipt"),
        .original_verdict = (enum verdict)(1 + reference_pick(random, 3)),
        .correct_verdict = (enum verdict)(1 + reference_pick(random, 3)),
        .has_original_score = true,
    };
    add_some(random, &input.missed, taken);
    add_some(random, &input.rejected, (taken + 1) % 3);
    add_some(random, &input.confirmed, (taken + 2) % 3);
    assert_int_equal(verdict_submit(&fixture->ctx, txn, &request, &result), OK);
    return result.first_seq + result.count - 1;
}

static void switch_random(struct store_fixture *fixture, struct store_txn *txn,
                          struct random_seeded *random)
{
    struct learned_rule_switch request = {.org = store_fixture_org(1),
                                          .caller = {ROLE_ADMIN, {NULL, 0}, 1, false}};
    struct learned_rule_row row;
    uint64_t seq = 0;
    enum err err =
        learned_rule_find(txn, request.org, pattern_at(reference_pick(random, REFERENCE_PATTERNS)),
                          (enum learned_rule_type)(1 + reference_pick(random, 3)), &row);

    if (err == OK) {
        request.id = row.record.id;
        assert_int_equal(learned_rule_set_enabled(&fixture->ctx, txn, &request, &seq), OK);
    }
}

void scoring_retract(struct store_fixture *fixture, struct store_txn *txn, uint64_t seq)
{
    struct retraction_request request = {
        .org = store_fixture_org(1),
        .caller = {ROLE_ADMIN, {NULL, 0}, 1, false},
        .reason = SLICE("wrong"),
    };
    struct event event;
    uint64_t retraction_seq = 0;

    assert_int_equal(log_read(txn, request.org, seq, &event), OK);
    request.event_id = event.id;
    assert_int_equal(retraction_store(&fixture->ctx, txn, &request, &retraction_seq), OK);
}

/* Sets a random rule to a random state that people may set. */
static void decide_random(struct store_fixture *fixture, struct store_txn *txn,
                          struct random_seeded *random)
{
    static const enum artifact_state states[] = {ARTIFACT_STATE_SHADOW, ARTIFACT_STATE_ACTIVE,
                                                 ARTIFACT_STATE_SHADOW, ARTIFACT_STATE_RETIRED};
    const struct event_time now = {.is_given = false};
    struct event_draft draft = {.org = store_fixture_org(1),
                                .kind = EVENT_ARTIFACT_STATE_SET,
                                .annotator = ANNOTATOR_HUMAN,
                                .subjects = {{SUBJECT_LEARNED_RULE, SLICE("rule")}},
                                .subject_count = 1};
    struct artifact_state_set_view view = {.artifact_kind = ARTIFACT_KIND_LEARNED_RULE,
                                           .state = states[reference_pick(random, 4)],
                                           .version = 1};
    struct learned_rule_row row;
    uint64_t seq = 0;
    enum err err =
        learned_rule_find(txn, draft.org, pattern_at(reference_pick(random, REFERENCE_PATTERNS)),
                          (enum learned_rule_type)(1 + reference_pick(random, 3)), &row);

    if (err != OK) {
        return;
    }
    view.artifact_id = row.record.id;
    view.artifact_seq = row.seq;
    view.previous_state = (enum artifact_state)row.record.life.state;
    assert_true(view_encode(&artifact_state_set_view_type, &view, &fixture->arena, &draft.facts));
    assert_int_equal(event_draft_stamp(&fixture->ctx, txn, &now, &draft), OK);
    assert_int_equal(event_draft_append(&fixture->ctx, txn, &draft, verdicts_apply, &seq), OK);
}

/* Appends one more event of any kind that changes rules. */
void scoring_change_random(struct store_fixture *fixture, struct store_txn *txn,
                           struct random_seeded *random, uint64_t *last_submission)
{
    uint32_t kind = reference_pick(random, 12);

    if (kind >= 10) {
        decide_random(fixture, txn, random);
    } else if (kind < 3 && *last_submission != 0) {
        scoring_retract(fixture, txn, *last_submission);
        *last_submission = 0;
    } else if (kind < 6) {
        switch_random(fixture, txn, random);
    } else {
        *last_submission = submit_random(fixture, txn, random);
    }
}

/* Goal: scores of rule sets that follow the log equal the second implementation, which reads the rows; with all gates,
 * disabled, retired and retracted rules, SUM and MAX. Method: 2,000 random changes, 50 receipts after each; a set that
 * cannot follow is loaded again, and others now and then, so that a disabled rule is missing until it is enabled
 * again. */
static void test_scores_equal_a_second_implementation(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct rule_set *set = load(txn);
    struct random_seeded random;
    struct log_head head;
    uint64_t last_submission = 0;
    int loads = 0;

    random_seeded_init(&random, 3);
    for (int round = 0; round < ROUNDS; round++) {
        scoring_change_random(fixture, txn, &random, &last_submission);
        assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
        assert_int_equal(rule_set_follow(set, txn, head.last_seq), OK);
        loads += set->is_stale;
        if (set->is_stale || reference_pick(&random, 20) == 0) {
            rule_set_free(set);
            set = load(txn);
        }
        for (int i = 0; i < RECEIPTS; i++) {
            struct reference_receipt receipt = reference_receipt(&random);

            arena_reset(&fixture->arena);
            check_score(fixture, txn, set, &receipt);
        }
    }
    assert_true(loads > 0);
    rule_set_free(set);
    store_abort(txn);
}

/* A score, to be repeated later. */
struct remembered {
    uint64_t last_seq;
    struct random_seeded random; /* makes the receipt again */
    struct reference_score score;
};

/* Goal: a set that is loaded as of an earlier event scores as one that was loaded then. Method: 400 random changes, a
 * score after each by the second implementation; at the end, all of them again from the past. */
static void test_scores_of_the_past_are_repeated(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct remembered *remembered = calloc(400, sizeof(*remembered));
    struct random_seeded random;
    struct log_head head;
    uint64_t last_submission = 0;
    size_t shadow_count = 0;

    assert_non_null(remembered);
    random_seeded_init(&random, 5);
    for (int i = 0; i < 400; i++) {
        struct reference_receipt receipt;

        scoring_change_random(fixture, txn, &random, &last_submission);
        assert_int_equal(log_read_head(txn, store_fixture_org(1), &head), OK);
        remembered[i].last_seq = head.last_seq;
        remembered[i].random = random;
        receipt = reference_receipt(&random);
        remembered[i].score = reference_score(txn, store_fixture_org(1), &receipt);
        arena_reset(&fixture->arena);
    }
    for (int i = 0; i < 400; i++) {
        const struct reference_score *expected = &remembered[i].score;
        struct reference_receipt receipt = reference_receipt(&remembered[i].random);
        const struct scoring_request request = {
            .receipt = receipt.receipt,
            .score = receipt.score,
            .context = receipt.context,
            .stacking = receipt.stacks_max ? SCORE_STACKING_MAX : SCORE_STACKING_SUM,
            .thresholds = {UNIT / 10 * 4, UNIT / 10 * 6},
        };
        struct rule_set *set = NULL;
        struct scoring_result result;

        assert_int_equal(
            rule_set_load_past(txn, store_fixture_org(1), remembered[i].last_seq, 9, &set), OK);
        result = score(fixture, set, &request);
        assert_int_equal(result.event_count, expected->count);
        assert_int_equal(result.shadow_count, expected->shadow_count);
        for (size_t event = 0; event < result.event_count; event++) {
            assert_int_equal(result.events[event].rule->seq, expected->events[event].seq);
            assert_int_equal(result.events[event].weight.weight, expected->events[event].weight);
        }
        assert_score(result.unclamped, expected->unclamped);
        shadow_count += result.shadow_count;
        rule_set_free(set);
        arena_reset(&fixture->arena);
    }
    assert_true(shadow_count > 0);
    free(remembered);
    store_abort(txn);
}

/* Goal: a verdict begins at its threshold, which a sum reaches in spite of rounding. Method: scores next to both, and one
 * whose double is below. */
static void test_verdicts_begin_at_their_thresholds(void **state)
{
    const struct score_thresholds usual = {UNIT / 10 * 4, UNIT / 10 * 6};
    const struct score_thresholds ends = {0, UNIT};

    (void)state;
    assert_int_equal(score_verdict(0.399999999, &usual), VERDICT_REAL);
    assert_int_equal(score_verdict(0.35 + 0.05, &usual), VERDICT_SUSPICIOUS);
    assert_int_equal(score_verdict(0.4, &usual), VERDICT_SUSPICIOUS);
    assert_int_equal(score_verdict(0.599999999, &usual), VERDICT_SUSPICIOUS);
    assert_int_equal(score_verdict(0.6, &usual), VERDICT_FAKE);
    assert_int_equal(score_verdict(1, &usual), VERDICT_FAKE);
    assert_int_equal(score_verdict(0, &usual), VERDICT_REAL);
    assert_int_equal(score_verdict(0, &ends), VERDICT_SUSPICIOUS);
    assert_int_equal(score_verdict(0.999999999, &ends), VERDICT_SUSPICIOUS);
    assert_int_equal(score_verdict(1, &ends), VERDICT_FAKE);
}

/* Goal: scores with adjustments that no learner makes equal the second implementation. Method: 500 random
 * sets of rows, 20 receipts each. */
static void test_any_adjustment_equals_a_second_implementation(void **state)
{
    struct store_fixture *fixture = *state;
    struct random_seeded random;

    random_seeded_init(&random, 4);
    for (int round = 0; round < 500; round++) {
        struct store_txn *txn = scoring_begin(fixture);
        struct rule_set *set = NULL;

        for (size_t i = 0; i < REFERENCE_PATTERNS; i++) {
            int64_t adjustment = (int64_t)reference_pick(&random, 2 * UNIT + 1) - UNIT;

            write_rule(fixture, txn, i + 1, reference_patterns[i], adjustment);
        }
        set = load(txn);
        for (int i = 0; i < 20; i++) {
            struct reference_receipt receipt = reference_receipt(&random);

            check_score(fixture, txn, set, &receipt);
        }
        rule_set_free(set);
        store_abort(txn);
        arena_reset(&fixture->arena);
    }
}

/* Learns one rule; returns the last event of the log. */
static uint64_t learn(struct store_fixture *fixture, struct store_txn *txn, const char *pattern)
{
    static struct verdict_input input;
    const struct verdict_request request = {.org = store_fixture_org(1),
                                            .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
                                            .input = &input};
    struct work_result result = {.first_seq = 0};

    input = (struct verdict_input){
        .receipt_id = SLICE("receipt"),
        .original_verdict = VERDICT_FAKE,
        .correct_verdict = VERDICT_FAKE,
        .has_original_score = true,
        .missed = {.items = {slice_text(pattern)}, .count = 1},
    };
    assert_int_equal(verdict_submit(&fixture->ctx, txn, &request, &result), OK);
    return result.first_seq + result.count - 1;
}

/* Goal: a set follows as many new phrases, new rules and events as it has room for, and no more. Method: one at a time,
 * up to each limit. */
static void test_set_is_stale_beyond_its_limits(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct rule_set *set = load(txn);
    char pattern[32];

    for (int i = 0; i <= RULE_SET_NEW_PHRASES_MAX; i++) {
        (void)snprintf(pattern, sizeof(pattern), "text:phrase %d", i);
        assert_int_equal(rule_set_follow(set, txn, learn(fixture, txn, pattern)), OK);
        assert_int_equal(set->is_stale, i == RULE_SET_NEW_PHRASES_MAX);
    }
    rule_set_free(set);
    set = load(txn);
    for (int i = 0; i <= RULE_SET_SPARE_RULES; i++) {
        (void)snprintf(pattern, sizeof(pattern), "indicator %d", i);
        assert_int_equal(rule_set_follow(set, txn, learn(fixture, txn, pattern)), OK);
        assert_int_equal(set->is_stale, i == RULE_SET_SPARE_RULES);
    }
    set->is_stale = false;
    assert_int_equal(rule_set_follow(set, txn, set->applied_seq - 1), OK);
    assert_true(set->is_stale);
    rule_set_free(set);
    store_abort(txn);
}

/* Goal: a set that lags by RULE_SET_LAG_MAX events follows; one that lags by one more does not. Method: submissions
 * without rules.
 */
static void test_set_follows_a_bounded_lag(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct rule_set *set = load(txn);
    struct rule_set *late = load(txn);
    uint64_t last_seq = 0;

    while (last_seq < RULE_SET_LAG_MAX) {
        last_seq = learn(fixture, txn, "font");
    }
    assert_int_equal(rule_set_follow(set, txn, last_seq), OK);
    assert_false(set->is_stale);
    assert_int_equal(set->rules[0].count, RULE_SET_LAG_MAX - 1);
    assert_int_equal(rule_set_follow(late, txn, learn(fixture, txn, "font")), OK);
    assert_true(late->is_stale);
    rule_set_free(set);
    rule_set_free(late);
    store_abort(txn);
}

/* Goal: 20,000 enabled rules are loaded, one more is refused; a disabled one does not count. Method: rows. */
static void test_rules_of_a_set_are_limited(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct rule_set *set = NULL;
    struct learned_rule_row row;

    for (uint64_t seq = 1; seq <= RULE_SET_RULES_MAX + 1; seq++) {
        write_rule(fixture, txn, seq, "font", 1);
    }
    assert_int_equal(rule_set_load(txn, store_fixture_org(1), 0, 1, &set), ERR_TOO_LARGE);
    assert_int_equal(learned_rule_read(txn, store_fixture_org(1), 7, &row), OK);
    row.record.life.held_back = true;
    assert_int_equal(learned_rule_write(&fixture->arena, txn, store_fixture_org(1), NULL, &row),
                     OK);
    set = load(txn);
    assert_int_equal(set->rule_count, RULE_SET_RULES_MAX);
    rule_set_free(set);
    store_abort(txn);
}

/* Returns a set of an organisation as of an event. */
static struct rule_set *load_as_of(struct store_txn *txn, uint8_t org, uint64_t seq)
{
    struct rule_set *set = NULL;

    assert_int_equal(rule_set_load(txn, store_fixture_org(org), seq, 1, &set), OK);
    return set;
}

static struct rule_set *find(struct rule_cache *cache, struct store_txn *txn, uint8_t org,
                             uint64_t last_seq)
{
    struct rule_set *set = NULL;

    assert_int_equal(rule_cache_find(cache, txn, store_fixture_org(org), last_seq, &set), OK);
    return set;
}

/* Goal: the cache returns only a set of the organisation that it can bring up to date, and the newest one that was
 * offered. Method: organisations that share a slot, sets of several events. */
static void test_cache_returns_current_sets(void **state)
{
    static struct rule_cache cache;
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct rule_set *set = NULL;
    uint64_t last_seq = learn(fixture, txn, "font");

    assert_null(find(&cache, txn, 1, last_seq));
    rule_cache_offer(&cache, load_as_of(txn, 1, last_seq));
    set = find(&cache, txn, 1, last_seq);
    assert_non_null(set);
    last_seq = learn(fixture, txn, "other");
    assert_ptr_equal(find(&cache, txn, 1, last_seq), set);
    assert_int_equal(set->rule_count, 2);
    rule_cache_offer(&cache, load_as_of(txn, 1, last_seq - 1));
    assert_ptr_equal(find(&cache, txn, 1, last_seq), set);
    assert_null(find(&cache, txn, 1 + RULE_CACHE_SLOTS, 0));
    rule_cache_offer(&cache, load_as_of(txn, 1 + RULE_CACHE_SLOTS, 0));
    assert_ptr_equal(find(&cache, txn, 1, last_seq), set);
    rule_cache_offer(&cache, load_as_of(txn, 1 + RULE_CACHE_SLOTS, 0));
    assert_non_null(find(&cache, txn, 1 + RULE_CACHE_SLOTS, 0));
    assert_null(find(&cache, txn, 1, last_seq));
    rule_cache_offer(&cache, load_as_of(txn, 1, last_seq));
    rule_cache_offer(&cache, load_as_of(txn, 1, last_seq));
    rule_cache_deinit(&cache);
    store_abort(txn);
}

/* Goal: sets above the cache's memory are freed, least recently used first. Method: sets that claim the memory of the
 * largest. */
static void test_cache_frees_the_oldest_set(void **state)
{
    static struct rule_cache cache;
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);

    for (uint8_t org = 1; org <= 5; org++) {
        struct rule_set *set = load_as_of(txn, org, 0);

        set->arena.used_bytes = RULE_SET_BYTES_MAX;
        rule_cache_offer(&cache, set);
        assert_non_null(find(&cache, txn, org, 0));
        if (org > 1) {
            assert_non_null(find(&cache, txn, 1, 0));
        }
    }
    assert_non_null(find(&cache, txn, 1, 0));
    assert_null(find(&cache, txn, 2, 0));
    assert_non_null(find(&cache, txn, 3, 0));
    assert_non_null(find(&cache, txn, 5, 0));
    rule_cache_deinit(&cache);
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gates_act_at_their_thresholds),
        cmocka_unit_test(test_verdicts_begin_at_their_thresholds),
        cmocka_unit_test(test_weights_are_stacked),
        TEST(test_patterns_match),
        TEST(test_scores_of_the_past_are_repeated),
        TEST(test_scores_equal_a_second_implementation),
        TEST(test_any_adjustment_equals_a_second_implementation),
        TEST(test_set_is_stale_beyond_its_limits),
        TEST(test_set_follows_a_bounded_lag),
        TEST(test_rules_of_a_set_are_limited),
        TEST(test_cache_returns_current_sets),
        TEST(test_cache_frees_the_oldest_set),
    };

    return run_measures_tests() + cmocka_run_group_tests_name("scoring", tests, NULL, NULL);
}
