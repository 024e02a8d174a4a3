/*
 * detect_tests.c: each row of the table, its edges, and messages that resemble those of another
 * row.
 */
#include "tests/unit/cues/cues_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* A message and the row that applies to it. */
struct expected {
    struct example example;
    enum detect_row row;
};

static void expect_row(const struct example *example, enum detect_row row)
{
    struct detection detection = cues_detect(example);

    if (detection.row != row) {
        (void)fprintf(stderr, "row %d instead of %d: %s\n", (int)detection.row, (int)row,
                      example->message);
    }
    assert_int_equal(detection.row, row);
}

static void expect_rows(const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        expect_row(&expected[i].example, expected[i].row);
    }
}

#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]))
#define LAPTOPS "laptops under 1000 dollars", "ThinkPad E14, Dell Latitude 3450."

/* Goal: each kind of explicit rejection is row 1, in any case, with curly quotes, with typing errors. */
static void test_explicit_rejections_are_detected(void **state)
{
    static const char *const messages[] = {
        "No, I meant gaming laptops not business laptops",
        "nope, the other one",
        "thats wrong",
        "That\xE2\x80\x99s wrong",
        "THAT'S WRONG!!!",
        "that's wrnog",
        "You misunderstood",
        "try again",
        "not helpful",
        "That's not what I need",
        "Not what I asked",
        "Actually the Dell is from 2012",
        "I want gaming ones, not these",
        "Nein, das ist falsch",
        "No, eso no es lo que pedi",
        "Non, ce n'est pas ce que j'ai dit",
        "that doesn't help",
        "too expensive",
        "thanks for nothing",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        const struct example example = {LAPTOPS, messages[i], 0.4F};
        struct detection detection = cues_detect(&example);

        expect_row(&example, DETECT_EXPLICIT);
        assert_int_equal(detection.status, DETECT_REJECTED);
        assert_true(fabsf(detection.confidence - 0.9F) < 1e-6F);
    }
}

/* Goal: guarded words of rejection do not select row 1. */
static void test_look_alikes_of_rejections_are_not_rejections(void **state)
{
    static const struct expected rows[] = {
        {{LAPTOPS, "No problem, thanks", 0.1F}, DETECT_CONTINUATION},
        {{LAPTOPS, "No complaints, great list", 0.1F}, DETECT_CONTINUATION},
        {{LAPTOPS, "can't go wrong with a ThinkPad, ordered it", 0.1F}, DETECT_CONTINUATION},
        {{LAPTOPS, "that's not wrong", 0.1F}, DETECT_NOTHING},
        {{LAPTOPS, "show no more than two", 0.4F}, DETECT_CONTINUATION},
        {{"who wrote \"The Wrong Man\"", "Maxwell Anderson.", "adding The Wrong Man to my list",
          0.4F},
         DETECT_CONTINUATION},
        {{LAPTOPS, "what could be wrong with the Dell?", 0.4F}, DETECT_CONTINUATION},
        {{LAPTOPS, "actually that's really helpful", 0.1F}, DETECT_CONTINUATION},
        {{"book it", "Would you like a receipt?", "No", 0.1F}, DETECT_NOTHING},
        {{"book it", "Would you like a receipt?", "No, not right now", 0.1F}, DETECT_NOTHING},
        {{"book it", "Would you like a receipt?", "No thanks, that's all", 0.1F},
         DETECT_CONTINUATION},
        {{"book it", "For 16:30, is that correct?", "No, I said 16:45", 0.1F}, DETECT_EXPLICIT},
    };

    (void)state;
    EXPECT_ROWS(rows);
}

/* Goal: "I want" and "I need" reject only with a contrast, or with a similarity above 0.5. */
static void test_wishes_reject_only_with_a_contrast(void **state)
{
    static const struct expected rows[] = {
        {{LAPTOPS, "I want gaming laptops", 0.5F}, DETECT_CONTINUATION},
        {{LAPTOPS, "I want gaming laptops", 0.51F}, DETECT_EXPLICIT},
        {{LAPTOPS, "I need something cheaper", 0.1F}, DETECT_EXPLICIT},
        {{LAPTOPS, "I want to book it", 0.6F}, DETECT_CONTINUATION},
    };

    (void)state;
    EXPECT_ROWS(rows);
}

static struct detection detect_rephrased(float similarity, bool is_callers,
                                         enum detect_intents intents)
{
    static const struct example example = {"how long do eggs boil", "", "boiling time for eggs", 0};
    const struct detect_signals signals = {true, is_callers, similarity, intents};

    return detect_feedback(cues_read(&example), &signals);
}

/* Goal: the thresholds of row 2 are exclusive; intents that differ forbid it. */
static void test_rephrased_query_is_above_its_threshold(void **state)
{
    static const float steps[] = {0.8F, 0.81F, 0.85F, 0.86F};
    static const enum detect_row known[] = {DETECT_CONTINUATION, DETECT_REPHRASED, DETECT_REPHRASED,
                                            DETECT_REPHRASED};

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct detection detection = detect_rephrased(steps[i], true, DETECT_INTENTS_SAME);

        assert_true(known[i] == DETECT_REPHRASED ? detection.row == DETECT_REPHRASED
                                                 : detection.row != DETECT_REPHRASED);
        assert_true(detection.row != DETECT_REPHRASED || detection.confidence == steps[i]);
        assert_int_equal(detection.is_strong, i == 3);
        assert_true(detect_rephrased(steps[i], true, DETECT_INTENTS_DIFFER).row !=
                    DETECT_REPHRASED);
    }
}

/* Goal: a similar query about something else is not row 2 by the server's vectors; by the caller's it is only above
 * 0.85. */
static void test_other_subject_is_not_a_rephrased_query(void **state)
{
    static const struct example other = {"weather in Oslo today", "", "weather in Bergen today",
                                         0.95F};
    const struct reading *reading = cues_read(&other);
    struct detect_signals signals = {true, false, 0.95F, DETECT_INTENTS_UNKNOWN};

    (void)state;
    assert_true(detect_similarity(reading, &signals) == DETECT_VETO_SIMILARITY);
    assert_int_equal(detect_feedback(reading, &signals).row, DETECT_CONTINUATION);
    signals.is_callers = true;
    assert_true(detect_similarity(reading, &signals) == 0.95F);
    assert_int_equal(detect_feedback(reading, &signals).row, DETECT_REPHRASED);
    signals.similarity = 0.84F;
    assert_int_equal(detect_feedback(reading, &signals).row, DETECT_CONTINUATION);
}

/* Goal: giving up is row 3, after row 2 and before praise; dropping a detail is not. */
static void test_abandonment_is_a_rejection(void **state)
{
    static const struct expected rows[] = {
        {{LAPTOPS, "never mind", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS, "Never mind, I found one, thanks", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS, "forget that", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS, "let me rephrase", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS, "let's start over", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS, "vergiss es", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS, "laisse tomber", 0.1F}, DETECT_ABANDONMENT},
        {{LAPTOPS,
          "olv\xC3\xAD"
          "dalo",
          0.1F},
         DETECT_ABANDONMENT},
        {{LAPTOPS, "never mind the price, show me more about the Dell", 0.4F}, DETECT_CONTINUATION},
        {{LAPTOPS, "forget about laptops under 1000 dollars", 0.9F}, DETECT_REPHRASED},
    };
    const struct example example = {LAPTOPS, "never mind", 0.1F};

    (void)state;
    EXPECT_ROWS(rows);
    assert_true(fabsf(cues_detect(&example).confidence - 0.85F) < 1e-6F);
}

/* Goal: row 4 covers every continuation from the answer. */
static void test_continuations_are_accepted(void **state)
{
    static const char *const messages[] = {
        "say more about the second one",
        "what about battery life?",
        "which one is lighter?",
        "compare them",
        "and the price?",
        "what if I add memory",
        "thanks!",
        "I'll go with the Dell",
        "the Latitude then",
        "perfecto, gracias",
        "vielen Dank",
        "merci",
    };
    const struct example example = {LAPTOPS, "thanks!", 0.1F};

    (void)state;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        const struct example one = {LAPTOPS, messages[i], 0.4F};

        expect_row(&one, DETECT_CONTINUATION);
    }
    assert_true(fabsf(cues_detect(&example).confidence - 0.7F) < 1e-6F);
}

/* Goal: row 5 needs a similarity below 0.3 and two content words; without a similarity it never applies. */
static void test_topic_change_needs_low_similarity(void **state)
{
    static const struct expected rows[] = {
        {{LAPTOPS, "who won the world cup", 0.29F}, DETECT_TOPIC_CHANGE},
        {{LAPTOPS, "who won the world cup", 0.3F}, DETECT_CONTINUATION},
        {{LAPTOPS, "who won the world cup", -1}, DETECT_CONTINUATION},
        {{LAPTOPS, "cup?", 0.1F}, DETECT_CONTINUATION},
        {{LAPTOPS, "hamster food prices", 0.1F}, DETECT_TOPIC_CHANGE},
    };
    const struct example example = {LAPTOPS, "hamster food prices", 0.1F};

    (void)state;
    EXPECT_ROWS(rows);
    assert_true(fabsf(cues_detect(&example).confidence - 0.6F) < 1e-6F);
    assert_int_equal(cues_detect(&example).status, DETECT_ACCEPTED);
}

/* Goal: a message without a signal is row 6. */
static void test_message_without_a_signal_is_neutral(void **state)
{
    static const char *const messages[] = {"hmm", "ok",  "I live there.", "are you sure?", "maybe",
                                           "",    "...", "give me a sec", "I heard"};
    const struct example example = {LAPTOPS, "hmm", 0.1F};

    (void)state;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        const struct example one = {LAPTOPS, messages[i], 0.1F};

        expect_row(&one, DETECT_NOTHING);
    }
    assert_true(fabsf(cues_detect(&example).confidence - 0.5F) < 1e-6F);
    assert_int_equal(cues_detect(&example).status, DETECT_NEUTRAL);
}

/* Goal: the result names the cue and the words that it matched, as they were written. */
static void test_the_cue_is_named(void **state)
{
    const struct example example = {LAPTOPS, "Sorry, You MISUNDERSTOOD me", 0.1F};
    struct detection detection = cues_detect(&example);

    (void)state;
    assert_int_equal(detection.class, CUE_DIRECT);
    assert_true(slice_equal(detection.matched, SLICE("You MISUNDERSTOOD")));
    assert_true(detection.pattern.size > 0);
}

/* Goal: phrases of an organisation are cues of their class, and only for it. */
static void test_extra_cues_apply_to_their_organisation(void **state)
{
    const struct extra_cue extras[] = {{CUE_COMPLAINT, SLICE("c'est pas terrible")}};
    struct reading_input input = {
        .message = SLICE("bof, C'est pas terrible"),
        .previous_query = SLICE("laptops"),
        .previous_response = SLICE("ThinkPad"),
    };
    const struct detect_signals signals = {.has_similarity = true, .similarity = 0.1F};
    struct reading reading;

    (void)state;
    arena_reset(&cues_arena);
    assert_int_equal(reading_of(&cues_arena, cues_lexicon, &input, &reading), OK);
    assert_true(detect_feedback(&reading, &signals).row != DETECT_EXPLICIT);
    input.extras = extras;
    input.extra_count = 1;
    assert_int_equal(reading_of(&cues_arena, cues_lexicon, &input, &reading), OK);
    assert_int_equal(detect_feedback(&reading, &signals).row, DETECT_EXPLICIT);
    assert_true(slice_equal(detect_feedback(&reading, &signals).pattern, extras[0].phrase));
}

/* Goal: features are finite, and the flags of a cue are 1 where the cue is. */
static void test_features_are_finite(void **state)
{
    const struct example example = {LAPTOPS, "No, that's wrong", 0.4F};
    const struct reading *reading = cues_read(&example);
    const struct detect_signals signals = {.has_similarity = true, .similarity = 0.4F};
    struct detection detection = detect_feedback(reading, &signals);
    float features[FEATURE_COUNT];

    (void)state;
    features_of(reading, &detection, features);
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        assert_true(isfinite(features[i]));
        assert_non_null(feature_name((enum feature)i));
    }
    assert_true(features[FEATURE_NEGATION] == 1 && features[FEATURE_DIRECT] == 1);
    assert_true(features[FEATURE_THANKS] == 0 && features[FEATURE_ROW_EXPLICIT] == 1);
    assert_true(features[FEATURE_SIMILARITY] == 0.4F);
}

int run_detect_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explicit_rejections_are_detected),
        cmocka_unit_test(test_look_alikes_of_rejections_are_not_rejections),
        cmocka_unit_test(test_wishes_reject_only_with_a_contrast),
        cmocka_unit_test(test_rephrased_query_is_above_its_threshold),
        cmocka_unit_test(test_other_subject_is_not_a_rephrased_query),
        cmocka_unit_test(test_abandonment_is_a_rejection),
        cmocka_unit_test(test_continuations_are_accepted),
        cmocka_unit_test(test_topic_change_needs_low_similarity),
        cmocka_unit_test(test_message_without_a_signal_is_neutral),
        cmocka_unit_test(test_the_cue_is_named),
        cmocka_unit_test(test_extra_cues_apply_to_their_organisation),
        cmocka_unit_test(test_features_are_finite),
    };

    return cmocka_run_group_tests(tests, cues_setup, cues_teardown);
}
