/*
 * trigger_tests.c: triggers at their thresholds and at the edges of the window, and triggers of random histories against
 * a model, now and after earlier events.
 */
#include "server/domain/reviews/triggers.h"
#include "tests/unit/reviews/groups.h"
#include "tests/unit/reviews/review_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define STEPS 400
#define AS_OF_STEPS 3

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

static struct review_window_query query_of(struct slice subcategory, uint64_t as_of_seq)
{
    return (struct review_window_query){
        .org = store_fixture_org(1),
        .subcategory = subcategory,
        .as_of_seq = as_of_seq,
        .is_cancelled = is_never_cancelled,
    };
}

static struct review_triggers triggers_of(struct store_fixture *fixture, struct store_txn *txn,
                                          const char *subcategory)
{
    struct review_window_query query = query_of(slice_text(subcategory), REVIEWS_NOW);
    struct review_triggers triggers;

    assert_int_equal(review_triggers_read(&fixture->arena, txn, &query, &triggers), OK);
    return triggers;
}

/* Submits for run `run`, in "laptops" unless another subcategory is given. */
static uint64_t submit(struct store_fixture *fixture, struct store_txn *txn, unsigned run,
                       struct review_input input)
{
    input.run_id = reviews_name(fixture, "run", run);
    input.decision = REVIEW_DECISION_REJECTED;
    if (input.subcategory.size == 0) {
        input.subcategory = SLICE("laptops");
    }
    return reviews_submit(fixture, txn, &input);
}

static struct review_input with(enum review_flag flag, enum review_answer answer)
{
    struct review_input input = {.flags = {[0] = REVIEW_ABSENT}};

    input.flags[flag] = answer;
    return input;
}

/* A signal, an answer that has it, and one that does not. */
struct signal {
    enum review_threshold threshold;
    enum review_flag flag;
    enum review_answer answer;
    enum review_answer other;
    uint32_t value; /* default threshold */
};

static const struct signal signals[] = {
    {THRESHOLD_BAD_FORMAT, REVIEW_BAD_FORMAT, REVIEW_TRUE, REVIEW_FALSE, 3},
    {THRESHOLD_WRONG_INFORMATION, REVIEW_WRONG_INFORMATION, REVIEW_TRUE, REVIEW_FALSE, 3},
    {THRESHOLD_WRONG_PHYSICAL_DIMENSIONS, REVIEW_WRONG_PHYSICAL_DIMENSIONS, REVIEW_TRUE,
     REVIEW_FALSE, 2},
    {THRESHOLD_INFORMATION_PRESENT_LOW, REVIEW_INFORMATION_PRESENT, REVIEW_FALSE, REVIEW_TRUE, 4},
};

/* Goal: each signal acts from its threshold on, and an absent answer is not the opposite. Method: 10 runs, of which as
 * many as the threshold have the signal, or one less; the others have the opposite answer, or none. */
static void test_each_signal_acts_at_its_threshold(void **state)
{
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        const struct signal *signal = &signals[i];
        struct store_txn *txn = reviews_begin(fixture);
        struct review_triggers triggers;

        for (unsigned run = 0; run < REVIEW_WINDOW_RUNS; run++) {
            enum review_answer other = run % 2 == 0 ? signal->other : REVIEW_ABSENT;

            (void)submit(fixture, txn, run,
                         with(signal->flag, run + 1 < signal->value ? signal->answer : other));
        }
        triggers = triggers_of(fixture, txn, "laptops");
        assert_int_equal(triggers.counts[signal->threshold], signal->value - 1);
        assert_false(triggers.states[signal->threshold]);
        assert_false(triggers.low_confidence);
        (void)submit(fixture, txn, 9, with(signal->flag, signal->answer));
        triggers = triggers_of(fixture, txn, "laptops");
        assert_int_equal(triggers.counts[signal->threshold], signal->value);
        for (size_t j = 0; j < THRESHOLD_COUNT; j++) {
            assert_int_equal(triggers.states[j], j == signal->threshold);
        }
        store_abort(txn);
    }
}

/* Goal: fewer runs count in proportion, and one is needed. Method: every count of every number of runs, by the rule of the
 * contract as a fraction. */
static void test_fewer_runs_count_in_proportion(void **state)
{
    (void)state;
    for (uint32_t runs = 1; runs <= REVIEW_WINDOW_RUNS; runs++) {
        for (uint32_t count = 0; count <= runs; count++) {
            for (uint32_t threshold = 1; threshold <= REVIEW_WINDOW_RUNS; threshold++) {
                bool expected = count > 0 && (double)count / runs >= threshold / 10.0 - 1e-9;

                assert_int_equal(review_trigger_is_reached(count, threshold, runs), expected);
            }
        }
    }
    assert_false(review_trigger_is_reached(0, 1, 0));
}

/* Goal: the window has the 10 runs that were reviewed last. Method: 0, 1, 9, 10, 11 runs, the first one with the
 * signal. */
static void test_window_has_ten_runs(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);

    for (unsigned runs = 0; runs <= REVIEW_WINDOW_RUNS + 1; runs++) {
        struct review_triggers triggers = triggers_of(fixture, txn, "laptops");
        uint32_t in_window = runs < REVIEW_WINDOW_RUNS ? runs : REVIEW_WINDOW_RUNS;

        assert_int_equal(triggers.run_count, in_window);
        assert_int_equal(triggers.low_confidence, runs < REVIEW_WINDOW_RUNS);
        assert_int_equal(triggers.counts[THRESHOLD_BAD_FORMAT],
                         runs > 0 && runs <= REVIEW_WINDOW_RUNS);
        assert_int_equal(triggers.states[THRESHOLD_BAD_FORMAT], runs > 0 && runs <= 3);
        (void)submit(fixture, txn, runs,
                     with(REVIEW_BAD_FORMAT, runs == 0 ? REVIEW_TRUE : REVIEW_FALSE));
    }
    store_abort(txn);
}

/* Goal: a run counts once, by all its reviews. Method: a run with a bad review and later good ones; its signals, and its
 * place in the window. */
static void test_run_counts_once_by_all_reviews(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_triggers triggers;

    (void)submit(fixture, txn, 0, with(REVIEW_BAD_FORMAT, REVIEW_TRUE));
    for (int i = 0; i < 5; i++) {
        (void)submit(fixture, txn, 0, with(REVIEW_BAD_FORMAT, REVIEW_FALSE));
    }
    triggers = triggers_of(fixture, txn, "laptops");
    assert_int_equal(triggers.run_count, 1);
    assert_int_equal(triggers.counts[THRESHOLD_BAD_FORMAT], 1);
    for (unsigned run = 1; run <= 9; run++) {
        (void)submit(fixture, txn, run, with(REVIEW_BAD_FORMAT, REVIEW_ABSENT));
    }
    (void)submit(fixture, txn, 0, with(REVIEW_BAD_FORMAT, REVIEW_ABSENT)); /* the newest again */
    (void)submit(fixture, txn, 10, with(REVIEW_BAD_FORMAT, REVIEW_ABSENT));
    assert_int_equal(triggers_of(fixture, txn, "laptops").counts[THRESHOLD_BAD_FORMAT], 1);
    store_abort(txn);
}

/* Goal: information is missing in a run if any of its reviews has that answer; an absent answer does not count. Method:
 * a run with all three answers in each order of false, one without false, one without an answer. */
static void test_false_once_is_missing_information(void **state)
{
    static const enum review_answer answers[][3] = {
        {REVIEW_FALSE, REVIEW_TRUE, REVIEW_ABSENT},    {REVIEW_TRUE, REVIEW_FALSE, REVIEW_ABSENT},
        {REVIEW_ABSENT, REVIEW_TRUE, REVIEW_FALSE},    {REVIEW_TRUE, REVIEW_ABSENT, REVIEW_TRUE},
        {REVIEW_ABSENT, REVIEW_ABSENT, REVIEW_ABSENT},
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);

    for (unsigned run = 0; run < 5; run++) {
        struct review_triggers triggers;

        for (size_t i = 0; i < 3; i++) {
            (void)submit(fixture, txn, run, with(REVIEW_INFORMATION_PRESENT, answers[run][i]));
        }
        triggers = triggers_of(fixture, txn, "laptops");
        assert_int_equal(triggers.counts[THRESHOLD_INFORMATION_PRESENT_LOW], run < 3 ? run + 1 : 3);
        assert_int_equal(triggers.run_count, run + 1);
    }
    store_abort(txn);
}

/* Goal: a run is in the subcategory of its newest review, with all its reviews. Method: a run moves to another one, and
 * back by a retraction. */
static void test_run_moves_with_its_newest_review(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input phones = with(REVIEW_BAD_FORMAT, REVIEW_ABSENT);
    uint64_t moved = 0;

    phones.subcategory = SLICE("phones");
    (void)submit(fixture, txn, 0, with(REVIEW_BAD_FORMAT, REVIEW_TRUE));
    moved = submit(fixture, txn, 0, phones);
    assert_int_equal(triggers_of(fixture, txn, "laptops").run_count, 0);
    assert_int_equal(triggers_of(fixture, txn, "phones").counts[THRESHOLD_BAD_FORMAT], 1);
    (void)reviews_take_back(fixture, txn, moved);
    assert_int_equal(triggers_of(fixture, txn, "laptops").counts[THRESHOLD_BAD_FORMAT], 1);
    assert_int_equal(triggers_of(fixture, txn, "phones").run_count, 0);
    store_abort(txn);
}

/* Goal: of equal times the later event is the newer one. Method: 11 runs at one time; the first one stored is left out. */
static void test_equal_times_are_in_the_order_of_the_log(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input input = with(REVIEW_BAD_FORMAT, REVIEW_TRUE);

    input.time = (struct event_time){.is_given = true, .created_at_us = STORE_FIXTURE_START_US - 1};
    for (unsigned run = 0; run <= REVIEW_WINDOW_RUNS; run++) {
        (void)submit(fixture, txn, run, input);
        input.flags[REVIEW_BAD_FORMAT] = REVIEW_FALSE;
    }
    assert_int_equal(triggers_of(fixture, txn, "laptops").counts[THRESHOLD_BAD_FORMAT], 0);
    input.flags[REVIEW_BAD_FORMAT] = REVIEW_TRUE; /* older than the window */
    input.time.created_at_us--;
    (void)submit(fixture, txn, 11, input);
    assert_int_equal(triggers_of(fixture, txn, "laptops").counts[THRESHOLD_BAD_FORMAT], 0);
    store_abort(txn);
}

/* Goal: fields count by run and regardless of case, and are shown as last written; those below the threshold are not.
 * Method: two runs with a common field in two spellings, and one of their own; a run that names one field twice. */
static void test_fields_count_by_run(void **state)
{
    static const char *const first[] = {"Width", "Ports"};
    static const char *const second[] = {"WIDTH", "Weight"};
    static const char *const again[] = {"weight"};
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input input = {.missing_spec = reviews_specs(fixture, first, 2)};
    struct review_triggers triggers;

    (void)submit(fixture, txn, 0, input);
    input.missing_spec = reviews_specs(fixture, second, 2);
    (void)submit(fixture, txn, 1, input);
    input.missing_spec = reviews_specs(fixture, again, 1);
    (void)submit(fixture, txn, 1, input);
    input.missing_spec = slice_of(NULL, 0);
    for (unsigned run = 2; run < REVIEW_WINDOW_RUNS; run++) {
        (void)submit(fixture, txn, run, input);
    }
    triggers = triggers_of(fixture, txn, "laptops");
    assert_true(triggers.states[THRESHOLD_MISSING_SPEC]);
    assert_int_equal(triggers.spec_count, 1);
    assert_true(slice_equal(triggers.specs[0].spelling, SLICE("WIDTH")));
    assert_int_equal(triggers.specs[0].run_count, 2);
    store_abort(txn);
}

/* Goal: thresholds of a subcategory replace its defaults from their event on. Method: they are set, then reset to the
 * defaults; triggers are read after each event. */
static void test_thresholds_act_from_their_event_on(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_thresholds_change change = {
        .org = store_fixture_org(1),
        .caller = {ROLE_ADMIN, SLICE("anna"), 1, false},
        .subcategory = SLICE("laptops"),
        .values = {[THRESHOLD_BAD_FORMAT] = 1},
    };
    uint64_t seqs[3] = {0};

    for (unsigned run = 0; run < REVIEW_WINDOW_RUNS; run++) {
        seqs[0] = submit(fixture, txn, run,
                         with(REVIEW_BAD_FORMAT, run == 0 ? REVIEW_TRUE : REVIEW_FALSE));
    }
    assert_int_equal(review_thresholds_set(&fixture->ctx, txn, &change, &seqs[1]), OK);
    assert_true(triggers_of(fixture, txn, "laptops").states[THRESHOLD_BAD_FORMAT]);
    change.values[THRESHOLD_BAD_FORMAT] = 0;
    assert_int_equal(review_thresholds_set(&fixture->ctx, txn, &change, &seqs[2]), OK);
    assert_false(triggers_of(fixture, txn, "laptops").states[THRESHOLD_BAD_FORMAT]);
    for (size_t i = 0; i < 3; i++) {
        struct review_window_query query = query_of(SLICE("laptops"), seqs[i]);
        struct review_triggers triggers;

        assert_int_equal(review_triggers_read(&fixture->arena, txn, &query, &triggers), OK);
        assert_int_equal(triggers.run_count, REVIEW_WINDOW_RUNS);
        assert_int_equal(triggers.states[THRESHOLD_BAD_FORMAT], i == 1);
    }
    store_abort(txn);
}

/* Goal: a long read ends when it is cancelled. */
static void test_read_ends_if_cancelled(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_window_query query = query_of(SLICE("laptops"), REVIEWS_NOW);
    struct review_triggers triggers;

    (void)submit(fixture, txn, 0, with(REVIEW_BAD_FORMAT, REVIEW_TRUE));
    query.is_cancelled = is_cancelled;
    assert_int_equal(review_triggers_read(&fixture->arena, txn, &query, &triggers), ERR_CANCELLED);
    store_abort(txn);
}

/* The model's window: its newest reviews, sorted. */
static size_t window_of(const struct model *model, unsigned subcategory, uint64_t as_of_seq,
                        const struct model_review *window[MODEL_RUNS])
{
    size_t count = 0;

    for (unsigned run = 0; run < MODEL_RUNS; run++) {
        const struct model_review *newest = model_newest(model, run, as_of_seq);
        size_t at = count;

        if (newest == NULL || newest->subcategory != subcategory) {
            continue;
        }
        for (; at > 0 && model_is_newer(newest, window[at - 1]); at--) {
            window[at] = window[at - 1];
        }
        window[at] = newest;
        count++;
    }
    return count < REVIEW_WINDOW_RUNS ? count : REVIEW_WINDOW_RUNS;
}

/* Returns whether a review of the run has the signal. */
static bool run_has(const struct model *model, unsigned run, uint64_t as_of_seq,
                    const struct signal *signal, unsigned spec)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct model_review *review = &model->reviews[i];
        bool has = signal != NULL ? review->flags[signal->flag] == signal->answer
                                  : (review->specs >> spec & 1) != 0;

        if (review->run == run && model_counts(review, as_of_seq) && has) {
            return true;
        }
    }
    return false;
}

static uint32_t count_runs(const struct model *model, const struct model_review *const *window,
                           size_t size, uint64_t as_of_seq, const struct signal *signal,
                           unsigned spec)
{
    uint32_t count = 0;

    for (size_t i = 0; i < size; i++) {
        count += run_has(model, window[i]->run, as_of_seq, signal, spec);
    }
    return count;
}

static void compare(struct store_fixture *fixture, struct store_txn *txn, const struct model *model,
                    unsigned subcategory, uint64_t as_of_seq)
{
    struct review_window_query query =
        query_of(reviews_name(fixture, "subcategory", subcategory), as_of_seq);
    const struct model_review *window[MODEL_RUNS];
    size_t size = window_of(model, subcategory, as_of_seq, window);
    struct review_triggers triggers;
    size_t specs = 0;

    assert_int_equal(review_triggers_read(&fixture->arena, txn, &query, &triggers), OK);
    assert_int_equal(triggers.run_count, size);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        uint32_t count = count_runs(model, window, size, as_of_seq, &signals[i], 0);

        assert_int_equal(triggers.counts[signals[i].threshold], count);
        assert_int_equal(triggers.states[signals[i].threshold],
                         count > 0 && count * 10 >= signals[i].value * size);
    }
    for (unsigned spec = 0; spec < MODEL_SPECS; spec++) {
        uint32_t count = count_runs(model, window, size, as_of_seq, NULL, spec);

        specs += count > 0 && count * 10 >= 2 * size;
    }
    assert_int_equal(triggers.spec_count, specs);
    assert_int_equal(triggers.states[THRESHOLD_MISSING_SPEC], specs > 0);
}

/* Goal: triggers equal a model after any history, now and after any earlier event. Method: random steps; after each,
 * one subcategory now and after random events. */
static void test_triggers_equal_a_model(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct model *model = test_calloc(1, sizeof(*model));

    for (int i = 0; i < STEPS; i++) {
        unsigned subcategory = (unsigned)reviews_draw(fixture, MODEL_SUBCATEGORIES);

        model_step(model, fixture, txn);
        compare(fixture, txn, model, subcategory, REVIEWS_NOW);
        for (int j = 0; j < AS_OF_STEPS; j++) {
            compare(fixture, txn, model, subcategory, reviews_draw(fixture, model->last_seq + 1));
        }
    }
    test_free(model);
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_trigger_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_signal_acts_at_its_threshold),
        TEST(test_fewer_runs_count_in_proportion),
        TEST(test_window_has_ten_runs),
        TEST(test_run_counts_once_by_all_reviews),
        TEST(test_false_once_is_missing_information),
        TEST(test_run_moves_with_its_newest_review),
        TEST(test_equal_times_are_in_the_order_of_the_log),
        TEST(test_fields_count_by_run),
        TEST(test_thresholds_act_from_their_event_on),
        TEST(test_read_ends_if_cancelled),
        TEST(test_triggers_equal_a_model),
    };

    return cmocka_run_group_tests_name("triggers", tests, NULL, NULL);
}
