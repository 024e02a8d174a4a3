/*
 * review_tests.c: the history of a run, and when a run counts as reviewed: rules with one example each, and random
 * histories with retractions against a model.
 */
#include "server/domain/reviews/run_report.h"
#include "server/domain/reviews/runs.h"
#include "tests/unit/reviews/groups.h"
#include "tests/unit/reviews/review_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEPS 400

static struct review_input input_of(const char *run, const char *reviewer,
                                    enum review_decision decision)
{
    return (struct review_input){
        .run_id = slice_text(run),
        .reviewed_by = slice_text(reviewer),
        .subcategory = SLICE("laptops"),
        .decision = decision,
    };
}

static uint64_t submit(struct store_fixture *fixture, struct store_txn *txn, const char *reviewer,
                       enum review_decision decision)
{
    struct review_input input = input_of("run", reviewer, decision);

    return reviews_submit(fixture, txn, &input);
}

/* The row of a run; newest_seq 0 without reviews. */
static struct review_run_record row_of(struct store_txn *txn, struct slice run_id)
{
    struct review_run_hash run = review_run_hash_of(run_id);
    struct review_run_record record = {.newest_seq = 0};
    enum err err = review_run_read(txn, store_fixture_org(1), &run, &record);

    assert_true(err == OK || err == ERR_NOT_FOUND);
    return record;
}

static bool is_reviewed(struct store_txn *txn)
{
    return row_of(txn, SLICE("run")).is_reviewed;
}

/* Goal: a run counts as reviewed after enough different reviewers, by the newest answer of each, and while its newest
 * review is REVIEWED. Method: two are needed; one answer after the other. */
static void test_run_needs_different_reviewers(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input other = input_of("other", "anna", REVIEW_DECISION_REVIEWED);
    uint64_t last = 0;

    (void)reviews_submit(fixture, txn, &other);
    reviews_set_needed(fixture, txn, 2);
    (void)submit(fixture, txn, "anna", REVIEW_DECISION_REVIEWED);
    assert_false(is_reviewed(txn));
    (void)submit(fixture, txn, "anna", REVIEW_DECISION_REVIEWED);
    assert_false(is_reviewed(txn)); /* the same reviewer */
    (void)submit(fixture, txn, "ben", REVIEW_DECISION_REVIEWED);
    assert_true(is_reviewed(txn));
    (void)submit(fixture, txn, "cleo", REVIEW_DECISION_CHANGES_REQUESTED);
    assert_false(is_reviewed(txn)); /* the newest review is another */
    (void)submit(fixture, txn, "cleo", REVIEW_DECISION_REVIEWED);
    assert_true(is_reviewed(txn));
    (void)submit(fixture, txn, "ben", REVIEW_DECISION_REJECTED);
    last = submit(fixture, txn, "cleo", REVIEW_DECISION_REVIEWED);
    assert_true(is_reviewed(txn)); /* anna and cleo */
    (void)submit(fixture, txn, "anna", REVIEW_DECISION_REJECTED);
    (void)submit(fixture, txn, "cleo", REVIEW_DECISION_REVIEWED);
    assert_false(is_reviewed(txn)); /* only cleo */
    assert_true(row_of(txn, SLICE("run")).newest_seq > last);
    store_abort(txn);
}

/* Goal: a run keeps the number of reviewers that was set when its newest review was stored. Method: the setting changes
 * between reviews. */
static void test_run_keeps_the_number_of_its_newest_review(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);

    (void)submit(fixture, txn, "anna", REVIEW_DECISION_REVIEWED);
    assert_true(is_reviewed(txn));
    reviews_set_needed(fixture, txn, 2);
    assert_true(is_reviewed(txn));
    (void)submit(fixture, txn, "anna", REVIEW_DECISION_REVIEWED);
    assert_false(is_reviewed(txn));
    store_abort(txn);
}

/* Goal: a retracted review leaves its run; the newest one that remains is the run's. Method: two reviews in different
 * subcategories, retracted from the newer one on. */
static void test_newest_remaining_review_is_the_runs(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input input = input_of("run", "anna", REVIEW_DECISION_REVIEWED);
    struct review_run_record row;
    uint64_t first = reviews_submit(fixture, txn, &input);
    uint64_t second = 0;

    input.subcategory = SLICE("phones");
    input.decision = REVIEW_DECISION_REJECTED;
    second = reviews_submit(fixture, txn, &input);
    row = row_of(txn, SLICE("run"));
    assert_int_equal(row.newest_seq, second);
    assert_true(slice_equal(row.subcategory, SLICE("phones")));
    (void)reviews_take_back(fixture, txn, second);
    row = row_of(txn, SLICE("run"));
    assert_int_equal(row.newest_seq, first);
    assert_true(slice_equal(row.subcategory, SLICE("laptops")) && row.is_reviewed);
    (void)reviews_take_back(fixture, txn, first);
    row = row_of(txn, SLICE("run"));
    assert_int_equal(row.newest_seq, 0);
    assert_int_equal(row.review_count, 2);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_REVIEW_NEWEST, store_fixture_org(1)), 0);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_REVIEW, store_fixture_org(1)), 2);
    store_abort(txn);
}

/* Goal: a run has a limited number of reviews. Method: one more than the limit. */
static void test_run_has_a_limit(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input input = input_of("run", "anna", REVIEW_DECISION_REVIEWED);
    const struct review_request request = {.org = store_fixture_org(1),
                                           .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
                                           .input = &input};
    uint64_t seq = 0;

    for (int i = 0; i < REVIEWS_OF_RUN_MAX; i++) {
        (void)reviews_submit(fixture, txn, &input);
    }
    assert_int_equal(review_submit(&fixture->ctx, txn, &request, &seq), ERR_PRECONDITION);
    input.run_id = SLICE("another");
    assert_int_equal(review_submit(&fixture->ctx, txn, &request, &seq), OK);
    store_abort(txn);
}

/* Goal: a person can review only in the own name. Method: an OPERATOR's token names another user, its own, and no
 * user. */
static void test_reviewer_is_the_tokens_user(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input input = input_of("run", "ben", REVIEW_DECISION_REVIEWED);
    const struct review_request request = {.org = store_fixture_org(1),
                                           .caller = {ROLE_OPERATOR, SLICE("anna"), 1, false},
                                           .input = &input};
    struct run_report report;
    uint64_t seq = 0;

    assert_int_equal(review_submit(&fixture->ctx, txn, &request, &seq), ERR_DENIED);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_EVENT, store_fixture_org(1)), 0);
    input.reviewed_by = SLICE("anna");
    assert_int_equal(review_submit(&fixture->ctx, txn, &request, &seq), OK);
    input.reviewed_by = slice_of(NULL, 0);
    assert_int_equal(review_submit(&fixture->ctx, txn, &request, &seq), OK);
    assert_int_equal(
        run_report_read(&fixture->arena, txn, store_fixture_org(1), SLICE("run"), &report), OK);
    assert_int_equal(report.answer_count, 1);
    assert_int_equal(report.review_count, 2);
    store_abort(txn);
}

/* Compares the row and the report of a run with the model, now; and its state after `as_of_seq`. */
static void compare_run(struct store_fixture *fixture, struct store_txn *txn,
                        const struct model *model, unsigned run, uint64_t as_of_seq)
{
    struct slice run_id = reviews_name(fixture, "run", run);
    struct review_run_hash hash = review_run_hash_of(run_id);
    struct review_run_record row = row_of(txn, run_id);
    const struct model_review *newest = model_newest(model, run, REVIEWS_NOW);
    struct review_run_state review_state;
    struct run_report report;
    enum err err = run_report_read(&fixture->arena, txn, store_fixture_org(1), run_id, &report);

    assert_int_equal(row.newest_seq, newest != NULL ? newest->seq : 0);
    assert_int_equal(row.is_reviewed, model_is_reviewed(model, run, REVIEWS_NOW));
    assert_int_equal(err, newest != NULL ? OK : ERR_NOT_FOUND);
    if (newest != NULL) {
        assert_int_equal(report.is_reviewed, row.is_reviewed);
        assert_int_equal(report.answers[0].entry.seq, newest->seq);
        assert_true(slice_equal(row.subcategory,
                                reviews_name(fixture, "subcategory", newest->subcategory)));
    }
    newest = model_newest(model, run, as_of_seq);
    err = review_run_read_state(&fixture->arena, txn, store_fixture_org(1), &hash, as_of_seq,
                                &review_state);
    assert_int_equal(err, newest != NULL ? OK : ERR_NOT_FOUND);
    if (newest != NULL) {
        assert_int_equal(review_state.newest.seq, newest->seq);
        assert_int_equal(review_state.is_reviewed, model_is_reviewed(model, run, as_of_seq));
    }
}

/* Goal: runs equal a model after any history of reviews, retractions and settings, now and earlier. Method: random
 * steps; after each, a random run as of a random event. */
static void test_runs_equal_a_model(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct model *model = test_calloc(1, sizeof(*model));
    unsigned remaining = 0;

    for (int i = 0; i < STEPS; i++) {
        model_step(model, fixture, txn);
        compare_run(fixture, txn, model, (unsigned)reviews_draw(fixture, MODEL_RUNS),
                    reviews_draw(fixture, model->last_seq + 1));
    }
    for (unsigned run = 0; run < MODEL_RUNS; run++) {
        remaining += model_newest(model, run, REVIEWS_NOW) != NULL;
    }
    assert_int_equal(store_fixture_count_rows(txn, TABLE_REVIEW_NEWEST, store_fixture_org(1)),
                     remaining);
    test_free(model);
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_review_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_run_needs_different_reviewers),
        TEST(test_run_keeps_the_number_of_its_newest_review),
        TEST(test_newest_remaining_review_is_the_runs),
        TEST(test_run_has_a_limit),
        TEST(test_reviewer_is_the_tokens_user),
        TEST(test_runs_equal_a_model),
    };

    return cmocka_run_group_tests_name("reviews", tests, NULL, NULL);
}
