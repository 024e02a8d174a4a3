/*
 * measures_tests.c: the measures of rules from verdicts that cite scores, against a recount; the proposal of a
 * retirement; counts of verdicts by ranges of the log.
 */
#include "server/domain/retractions/retractions.h"
#include "server/domain/scoring/scoring.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/measured_verdicts.h"
#include "server/domain/verdicts/measures.h"
#include "server/domain/verdicts/verdicts.h"
#include "store/scan.h"
#include "tests/unit/scoring/reference.h"
#include "tests/unit/scoring/scoring_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errata/v1/event.views.h>
#include <event_apply.h>

#define ROUNDS 1500
#define SCORES 24
#define RULES_MAX (3 * REFERENCE_PATTERNS)
#define CITED_MAX 3
#define UNIT 1000000000

/* A rule that a score evaluated. */
struct evaluated {
    uint64_t seq;
    bool fired;
    bool raises;
    bool shadow;
};

/* A score that verdicts may cite. */
struct scored {
    uint8_t reference[EXPOSURE_REFERENCE_CHARACTERS_MAX];
    size_t reference_bytes;
    struct exposed_verdicts verdicts;
    struct evaluated rules[RULES_MAX];
    size_t rule_count;
};

/* A score that a verdict measured. */
struct measured {
    uint64_t event_seq; /* seq of the submission; 0: it was retracted */
    unsigned receipt;
    enum verdict verdict;
    size_t score; /* number of all scores */
};

struct bench {
    struct store_fixture *fixture;
    struct store_txn *txn;
    struct random_seeded random;
    struct exposure_key key;
    struct scored scores[ROUNDS];
    size_t score_count;
    struct measured measured[ROUNDS * CITED_MAX];
    size_t measured_count;
    struct scored_outcome {
        size_t score;
        unsigned receipt;
        uint64_t event_seq;
    } outcomes[ROUNDS * CITED_MAX];
    size_t outcome_count;
};

static uint32_t pick(struct bench *bench, uint32_t below)
{
    return reference_pick(&bench->random, below);
}

/* Lists all rules that are live or in SHADOW, from their rows. */
static void list_rules(struct bench *bench, struct scored *scored)
{
    const struct scan_range range = {.table = TABLE_LEARNED_RULE,
                                     .prefix = key_org(store_fixture_org(1)),
                                     .rows_max = UINT32_MAX};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct scan scan;

    assert_int_equal(scan_init(&scan, bench->txn, &range), OK);
    while (scan_next(&scan, &key, &value) == OK) {
        struct learned_rule_record record;
        struct evaluated *rule = &scored->rules[scored->rule_count];

        assert_int_equal(record_decode_learned_rule(value, &record), OK);
        if (record.life.held_back || (record.life.state != ARTIFACT_STATE_ACTIVE &&
                                      record.life.state != ARTIFACT_STATE_SUNSET_PROPOSED &&
                                      record.life.state != ARTIFACT_STATE_SHADOW)) {
            continue;
        }
        *rule = (struct evaluated){.raises = record.adjustment > 0,
                                   .shadow = record.life.state == ARTIFACT_STATE_SHADOW};
        assert_int_equal(key_read_learned_rule(key, &rule->seq), OK);
        scored->rule_count++;
    }
    scan_deinit(&scan);
}

static void mark_fired(struct scored *scored, const struct scoring_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < scored->rule_count; j++) {
            if (scored->rules[j].seq == events[i].rule->seq) {
                scored->rules[j].fired = events[i].weight.suppressed_by == SCORE_GATE_UNSPECIFIED;
            }
        }
    }
}

/* Scores a random receipt, and keeps its reference. */
static void score_random(struct bench *bench)
{
    struct arena *arena = &bench->fixture->arena;
    struct scored *scored = &bench->scores[bench->score_count];
    struct reference_receipt receipt = reference_receipt(&bench->random);
    const struct scoring_request request = {
        .receipt = receipt.receipt,
        .score = receipt.score,
        .context = receipt.context,
        .stacking = SCORE_STACKING_SUM,
        .thresholds = {UNIT / 10 * 4, UNIT / 10 * 6},
    };
    struct scoring_result result;
    struct exposure exposure;
    struct slice events = {NULL, 0};
    struct slice reference = {NULL, 0};
    struct rule_set *set = NULL;
    struct log_head head;

    assert_int_equal(log_read_head(bench->txn, store_fixture_org(1), &head), OK);
    assert_int_equal(rule_set_load(bench->txn, store_fixture_org(1), head.last_seq, 7, &set), OK);
    assert_int_equal(scoring_apply(arena, set, &request, &result), OK);
    assert_int_equal(scoring_encode_events(arena, &result, false, &events), OK);
    assert_int_equal(scoring_expose(arena, &result, events, &exposure), OK);
    exposure.as_of_seq = head.last_seq;
    exposure.served_at_us = (int64_t)bench->score_count;
    assert_int_equal(
        exposure_reference(arena, &bench->key, store_fixture_org(1), &exposure, &reference), OK);
    *scored = (struct scored){.reference_bytes = reference.size, .verdicts = result.verdicts};
    memcpy(scored->reference, reference.data, reference.size);
    list_rules(bench, scored);
    mark_fired(scored, result.events, result.event_count);
    mark_fired(scored, result.shadows, result.shadow_count);
    bench->score_count++;
    rule_set_free(set);
}

static bool is_measured_already(const struct bench *bench, size_t score, unsigned receipt)
{
    for (size_t i = 0; i < bench->outcome_count; i++) {
        if (bench->outcomes[i].event_seq != 0 && bench->outcomes[i].score == score &&
            bench->outcomes[i].receipt == receipt) {
            return true;
        }
    }
    return false;
}

static void note_measured(struct bench *bench, const struct measured *measured)
{
    if (is_measured_already(bench, measured->score, measured->receipt)) {
        return;
    }
    bench->measured[bench->measured_count] = *measured;
    bench->measured_count++;
    bench->outcomes[bench->outcome_count] =
        (struct scored_outcome){measured->score, measured->receipt, measured->event_seq};
    bench->outcome_count++;
}

/* Submits a verdict that cites some of the newest scores, sometimes one of them twice. */
static void cite_random(struct bench *bench)
{
    static const char *const receipts[] = {"a", "b"};
    struct slice references[CITED_MAX];
    size_t scores[CITED_MAX];
    struct verdict_input *input = arena_calloc(&bench->fixture->arena, 1, sizeof(*input));
    const struct verdict_request request = {.org = store_fixture_org(1),
                                            .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
                                            .input = input,
                                            .key = &bench->key};
    struct work_result result = {.first_seq = 0};
    struct measured measured = {.receipt = pick(bench, 2),
                                .verdict = (enum verdict)(1 + pick(bench, 3))};
    size_t count = 1 + pick(bench, CITED_MAX);

    assert_non_null(input);
    for (size_t i = 0; i < count; i++) {
        size_t back = 1 + pick(bench, SCORES);

        scores[i] = bench->score_count > back ? bench->score_count - back : 0;
        references[i] =
            slice_of(bench->scores[scores[i]].reference, bench->scores[scores[i]].reference_bytes);
    }
    *input = (struct verdict_input){
        .receipt_id = slice_text(receipts[measured.receipt]),
        .original_verdict = VERDICT_REAL,
        .correct_verdict = measured.verdict,
        .has_original_score = true,
        .exposure_refs = references,
        .exposure_ref_count = count,
    };
    assert_int_equal(verdict_submit(&bench->fixture->ctx, bench->txn, &request, &result), OK);
    measured.event_seq = result.first_seq + result.count - 1;
    for (size_t i = 0; i < count; i++) {
        measured.score = scores[i];
        note_measured(bench, &measured);
    }
}

/* Retracts one of the verdicts that changed measures. */
static void retract_random(struct bench *bench)
{
    uint64_t seq = 0;

    if (bench->measured_count > 0) {
        seq = bench->measured[pick(bench, (uint32_t)bench->measured_count)].event_seq;
    }
    if (seq == 0) {
        return;
    }
    scoring_retract(bench->fixture, bench->txn, seq);
    for (size_t i = 0; i < bench->measured_count; i++) {
        bench->measured[i].event_seq =
            bench->measured[i].event_seq == seq ? 0 : bench->measured[i].event_seq;
    }
    for (size_t i = 0; i < bench->outcome_count; i++) {
        bench->outcomes[i].event_seq =
            bench->outcomes[i].event_seq == seq ? 0 : bench->outcomes[i].event_seq;
    }
}

/* Adds one rule of one measured score to the recount. */
static void recount_rule(const struct evaluated *rule, enum verdict verdict,
                         struct rule_measure *measure)
{
    bool agrees = verdict == (rule->raises ? VERDICT_FAKE : VERDICT_REAL);

    measure->agreed += rule->fired && agrees;
    measure->missed += !rule->fired && agrees;
    measure->undecided += rule->fired && verdict == VERDICT_SUSPICIOUS;
    measure->disagreed += rule->fired && !agrees && verdict != VERDICT_SUSPICIOUS;
}

static struct rule_measure recount(const struct bench *bench, uint64_t rule_seq)
{
    struct rule_measure measure = {.version = 1};

    for (size_t i = 0; i < bench->measured_count; i++) {
        const struct measured *measured = &bench->measured[i];
        const struct scored *scored = &bench->scores[measured->score];

        for (size_t j = 0; measured->event_seq != 0 && j < scored->rule_count; j++) {
            if (scored->rules[j].seq == rule_seq) {
                recount_rule(&scored->rules[j], measured->verdict, &measure);
            }
        }
    }
    return measure;
}

/* Compares one side of the set with a recount; `from` and `to` are offsets of the verdicts. */
static void check_side(const struct bench *bench, const struct rule_set_side *side, bool shadow)
{
    struct rule_set_side expected = {.covered = 0};

    for (size_t i = 0; i < bench->measured_count; i++) {
        const struct measured *measured = &bench->measured[i];
        const struct scored *scored = &bench->scores[measured->score];
        enum verdict from = shadow ? scored->verdicts.live : scored->verdicts.base;
        enum verdict to = shadow ? scored->verdicts.shadow : scored->verdicts.live;
        unsigned fired[2] = {0, 0};

        if (measured->event_seq == 0) {
            continue;
        }
        for (size_t j = 0; j < scored->rule_count; j++) {
            fired[scored->rules[j].raises] +=
                scored->rules[j].fired && scored->rules[j].shadow == shadow;
        }
        expected.covered += fired[0] + fired[1] > 0;
        expected.overlapping += fired[0] + fired[1] > 1;
        expected.conflicting += fired[0] > 0 && fired[1] > 0;
        if (measured->verdict == VERDICT_SUSPICIOUS) {
            expected.undecided += fired[0] + fired[1];
        } else {
            expected.agreed += fired[measured->verdict == VERDICT_FAKE];
            expected.disagreed += fired[measured->verdict == VERDICT_REAL];
            expected.found += fired[measured->verdict == VERDICT_FAKE] > 0;
        }
        expected.flips_right += from != to && to == measured->verdict;
        expected.flips_wrong += from != to && from == measured->verdict;
        expected.flips_undecided +=
            from != to && from != measured->verdict && to != measured->verdict;
    }
    assert_memory_equal(side, &expected, sizeof(expected));
}

static void check_set(const struct bench *bench)
{
    struct rule_set_measure_record record;
    uint64_t scores = 0;
    uint64_t directed = 0;

    assert_int_equal(rule_set_measure_read(bench->txn, store_fixture_org(1), &record), OK);
    for (size_t i = 0; i < bench->measured_count; i++) {
        scores += bench->measured[i].event_seq != 0;
        directed +=
            bench->measured[i].event_seq != 0 && bench->measured[i].verdict != VERDICT_SUSPICIOUS;
    }
    assert_int_equal(record.scores, scores);
    assert_int_equal(record.directed, directed);
    check_side(bench, &record.live, false);
    check_side(bench, &record.shadow, true);
}

/* Compares every rule. Returns how many are proposed for retirement. */
static size_t check_rules(struct bench *bench)
{
    const struct scan_range range = {.table = TABLE_LEARNED_RULE,
                                     .prefix = key_org(store_fixture_org(1)),
                                     .rows_max = UINT32_MAX};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    size_t sunset_count = 0;
    struct scan scan;

    assert_int_equal(scan_init(&scan, bench->txn, &range), OK);
    while (scan_next(&scan, &key, &value) == OK) {
        struct rule_measures measures;
        struct rule_measure expected;
        struct learned_rule_row row;

        assert_int_equal(key_read_learned_rule(key, &row.seq), OK);
        assert_int_equal(record_decode_learned_rule(value, &row.record), OK);
        assert_int_equal(rule_measures_read(bench->txn, store_fixture_org(1), &row, &measures), OK);
        expected = recount(bench, row.seq);
        assert_int_equal(measures.count, 1);
        assert_int_equal(measures.items[0].version, 1);
        assert_int_equal(measures.items[0].agreed, expected.agreed);
        assert_int_equal(measures.items[0].disagreed, expected.disagreed);
        assert_int_equal(measures.items[0].undecided, expected.undecided);
        assert_int_equal(measures.items[0].missed, expected.missed);
        if (row.record.life.state == ARTIFACT_STATE_SUNSET_PROPOSED) {
            assert_true(expected.agreed + expected.disagreed >= MEASURE_SUNSET_FIRINGS);
            sunset_count++;
        }
    }
    scan_deinit(&scan);
    return sunset_count;
}

/* Goal: measures equal a recount from the rules that each score evaluated, with rules that are disabled, enabled, in
 * SHADOW, retired and learned again, references that are cited again, and retracted verdicts. Method: 1,500 random
 * steps, a comparison of all rules after every 50. */
static void test_measures_equal_a_recount(void **state)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {3};
    struct bench *bench = calloc(1, sizeof(*bench));
    uint64_t last_submission = 0;
    size_t sunset_count = 0;

    assert_non_null(bench);
    bench->fixture = *state;
    bench->txn = scoring_begin(bench->fixture);
    exposure_key_init(&bench->key, bytes);
    random_seeded_init(&bench->random, 11);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t kind = pick(bench, 8);

        if (kind == 0) {
            scoring_change_random(bench->fixture, bench->txn, &bench->random, &last_submission);
        } else if (kind < 4 || bench->score_count == 0) {
            score_random(bench);
        } else if (kind == 4) {
            retract_random(bench);
        } else {
            cite_random(bench);
        }
        if (round % 50 == 49) {
            sunset_count += check_rules(bench);
            check_set(bench);
        }
        arena_reset(&bench->fixture->arena);
    }
    assert_true(sunset_count > 0);
    store_abort(bench->txn);
    free(bench);
}

/* Goal: counts of ranges are those of a list, also around the ends of levels, and rows of subtracted verdicts are
 * removed. Method: random numbers of all sizes, counted up to each and next to it. */
static void test_verdicts_are_counted_by_range(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = scoring_begin(fixture);
    struct org_id org = store_fixture_org(1);
    const struct scan_range range = {
        .table = TABLE_MEASURED_VERDICT, .prefix = key_org(org), .rows_max = 1};
    struct random_seeded random;
    struct scan scan;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seqs[200];
    uint64_t count = 0;

    random_seeded_init(&random, 12);
    for (size_t i = 0; i < 200; i++) {
        seqs[i] = i % 4 == 0 ? UINT64_C(1) << (i / 4 % 34)
                             : reference_pick(&random, 1u << (1 + reference_pick(&random, 31)));
        assert_int_equal(measured_verdicts_add(txn, org, VERDICT_FAKE, seqs[i]), OK);
    }
    for (size_t i = 0; i < 200; i++) {
        for (uint64_t end = seqs[i] > 0 ? seqs[i] - 1 : 0; end <= seqs[i] + 1; end++) {
            uint64_t expected = 0;

            for (size_t j = 0; j < 200; j++) {
                expected += seqs[j] < end;
            }
            assert_int_equal(measured_verdicts_before(txn, org, VERDICT_FAKE, end, &count), OK);
            assert_int_equal(count, expected);
        }
    }
    assert_int_equal(measured_verdicts_before(txn, org, VERDICT_REAL, UINT64_MAX, &count), OK);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(measured_verdicts_subtract(txn, org, VERDICT_FAKE, seqs[i]), OK);
    }
    assert_int_equal(measured_verdicts_subtract(txn, org, VERDICT_FAKE, 1), ERR_CORRUPT);
    assert_int_equal(scan_init(&scan, txn, &range), OK);
    assert_int_equal(scan_next(&scan, &key, &value), ERR_NOT_FOUND);
    scan_deinit(&scan);
    store_abort(txn);
}

int run_measures_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_measures_equal_a_recount, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_verdicts_are_counted_by_range, store_fixture_set_up,
                                        store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}
