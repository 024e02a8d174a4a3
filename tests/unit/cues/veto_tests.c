/*
 * veto_tests.c: the model in addition to the table: its permitted changes, and their limits.
 */
#include "server/domain/cues/veto.h"
#include "tests/unit/cues/cues_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A long question with few words of the one before: the least probable rejection. */
static struct reading make_unlikely(void)
{
    struct reading reading = {.is_question = true, .asked_for_fact = true, .content_words = 20};

    reading.message.count = 40;
    reading.query.count = 40;
    reading.difference.is_extended = true;
    return reading;
}

static struct detection make_detection(enum detect_row row, enum detect_status status)
{
    return (struct detection){.row = row,
                              .status = status,
                              .confidence = 0.9F,
                              .similarity = 0.81F,
                              .is_strong = true,
                              .class = CUE_CORRECTION,
                              .pattern = SLICE("i meant")};
}

/* Goal: an improbable rejection of rows 2 and 3, or of row 1 by a weak cue, becomes NEUTRAL, and keeps its cue. Method:
 * each. */
static void test_weak_rejections_are_vetoed(void **state)
{
    static const enum detect_row rows[] = {DETECT_EXPLICIT, DETECT_REPHRASED, DETECT_ABANDONMENT};
    const struct reading reading = make_unlikely();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct detection detection = make_detection(rows[i], DETECT_REJECTED);
        struct veto veto;

        detection.is_unsure = rows[i] == DETECT_EXPLICIT;
        assert_true(veto_is_allowed(&detection));
        veto = veto_apply(&reading, &detection);
        assert_true(veto.is_vetoed && veto.probability < VETO_PROBABILITY_MIN);
        assert_int_equal(veto.row, rows[i]);
        assert_int_equal(detection.status, DETECT_NEUTRAL);
        assert_int_equal(detection.row, DETECT_NOTHING);
        assert_true(detection.confidence == 0.5F && !detection.is_strong);
        assert_true(slice_equal(detection.pattern, SLICE("i meant")));
    }
}

/* Goal: no other result is changed, however improbable. Method: a sure rejection, acceptances, and nothing. */
static void test_other_results_are_kept(void **state)
{
    static const struct detection results[] = {
        {.row = DETECT_EXPLICIT, .status = DETECT_REJECTED, .confidence = 0.9F},
        {.row = DETECT_CONTINUATION, .status = DETECT_ACCEPTED, .confidence = 0.7F},
        {.row = DETECT_TOPIC_CHANGE, .status = DETECT_ACCEPTED, .confidence = 0.6F},
        {.row = DETECT_NOTHING, .status = DETECT_NEUTRAL, .confidence = 0.5F}};
    const struct reading reading = make_unlikely();

    (void)state;
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        struct detection detection = results[i];
        struct veto veto = veto_apply(&reading, &detection);

        assert_false(veto.is_vetoed || veto_is_allowed(&detection));
        assert_true(veto.probability > 0 && veto.probability < 1);
        assert_int_equal(detection.row, results[i].row);
        assert_int_equal(detection.status, results[i].status);
        assert_true(detection.confidence == results[i].confidence);
    }
}

/* Goal: rephrased queries and "never mind" stay rejections. Method: messages that are read and decided. */
static void test_clear_rejections_are_kept(void **state)
{
    static const struct example examples[] = {
        {"how can I reset my router", "Press the button.", "how do I reset my router", 0.95F},
        {"flights to Oslo on Friday", "There are two flights.", "Friday flights to Oslo", 0.92F},
        {"find a hotel in Lyon", "Here are three hotels.", "Never mind", 0.1F},
        {"find a hotel in Lyon", "Here are three hotels.", "forget it", 0.1F}};

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct detection detection = cues_detect(&examples[i]);

        assert_int_equal(detection.status, DETECT_REJECTED);
        assert_false(veto_apply(cues_read(&examples[i]), &detection).is_vetoed);
        assert_int_equal(detection.status, DETECT_REJECTED);
    }
}

/* Goal: the probability is the logistic function of the weighted sum, within its bounds. Method: no features, and
 * larger values of the features that lower it. */
static void test_probabilities_are_bounded(void **state)
{
    float features[FEATURE_COUNT] = {0};
    float base = veto_probability(features);

    (void)state;
    assert_true(base > 0 && base < 1);
    features[FEATURE_IS_QUESTION] = 1;
    assert_true(veto_probability(features) < base);
    features[FEATURE_IS_QUESTION] = 1000000;
    assert_true(veto_probability(features) >= 0 && veto_probability(features) < 0.001F);
    features[FEATURE_IS_QUESTION] = 0;
    features[FEATURE_OVERLAP] = 1000000;
    assert_true(veto_probability(features) <= 1 && veto_probability(features) > 0.999F);
}

int run_veto_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weak_rejections_are_vetoed),
        cmocka_unit_test(test_other_results_are_kept),
        cmocka_unit_test(test_clear_rejections_are_kept),
        cmocka_unit_test(test_probabilities_are_bounded),
    };

    return cmocka_run_group_tests(tests, cues_setup, cues_teardown);
}
