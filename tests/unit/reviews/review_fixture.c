/*
 * review_fixture.c: see review_fixture.h. There are few times, so that many are equal, and few runs, so that they have
 * several reviews, in different subcategories.
 */
#include "tests/unit/reviews/review_fixture.h"

#include "server/domain/retractions/retractions.h"
#include "server/domain/settings/settings.h"

#include <errata/v1/review.views.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TIMES 40
#define SECOND_US 1000000

static const struct event_caller admin = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false};

uint64_t reviews_draw(struct store_fixture *fixture, uint64_t count)
{
    uint64_t drawn = 0;

    random_fill(fixture->ctx.random, &drawn, sizeof(drawn));
    return drawn % count;
}

static unsigned draw(struct store_fixture *fixture, unsigned count)
{
    return (unsigned)reviews_draw(fixture, count);
}

struct store_txn *reviews_begin(struct store_fixture *fixture)
{
    struct store_txn *txn = store_fixture_begin(fixture);

    log_begin_write(txn, NULL);
    return txn;
}

uint64_t reviews_submit(struct store_fixture *fixture, struct store_txn *txn,
                        const struct review_input *input)
{
    const struct review_request request = {
        .org = store_fixture_org(1), .caller = admin, .input = input};
    uint64_t seq = 0;

    assert_int_equal(review_submit(&fixture->ctx, txn, &request, &seq), OK);
    return seq;
}

uint64_t reviews_take_back(struct store_fixture *fixture, struct store_txn *txn, uint64_t seq)
{
    struct retraction_request request = {
        .org = store_fixture_org(1), .caller = admin, .reason = SLICE("wrong run")};
    struct event event;
    uint64_t retraction_seq = 0;

    assert_int_equal(log_read(txn, request.org, seq, &event), OK);
    request.event_id = event.id;
    assert_int_equal(retraction_store(&fixture->ctx, txn, &request, &retraction_seq), OK);
    return retraction_seq;
}

void reviews_set_needed(struct store_fixture *fixture, struct store_txn *txn, uint32_t needed)
{
    const struct settings_change change = {.reviews_needed = needed};
    uint64_t seq = 0;

    assert_int_equal(
        settings_update(&fixture->ctx, txn, store_fixture_org(1), SLICE("anna"), &change, &seq),
        OK);
}

struct slice reviews_name(struct store_fixture *fixture, const char *kind, unsigned number)
{
    return arena_printf(&fixture->arena, "%s-%u", kind, number);
}

struct slice reviews_specs(struct store_fixture *fixture, const char *const *texts, size_t count)
{
    struct buffer run;

    buffer_init(&run, &fixture->arena, 0);
    for (size_t i = 0; i < count; i++) {
        review_view_add_missing_spec(&run, slice_text(texts[i]));
    }
    assert_true(buffer_ok(&run));
    return buffer_slice(&run);
}

static struct slice specs_of(struct store_fixture *fixture, const struct model_review *review)
{
    static const char *const lower[MODEL_SPECS] = {"width", "height", "ports",
                                                   "stra\xc3\x9f"
                                                   "e"};
    static const char *const upper[MODEL_SPECS] = {"WIDTH", "Height", "pORTS", "STRASSE"};
    const char *texts[MODEL_SPECS];
    size_t count = 0;

    for (unsigned i = 0; i < MODEL_SPECS; i++) {
        if ((review->specs >> i & 1) != 0) {
            texts[count++] = review->is_upper ? upper[i] : lower[i];
        }
    }
    return reviews_specs(fixture, texts, count);
}

static void draw_review(struct store_fixture *fixture, struct model_review *review)
{
    *review = (struct model_review){
        .created_at_us = STORE_FIXTURE_START_US - (int64_t)draw(fixture, TIMES) * SECOND_US,
        .run = draw(fixture, MODEL_RUNS),
        .subcategory = draw(fixture, MODEL_SUBCATEGORIES),
        .reviewer = draw(fixture, MODEL_REVIEWERS),
        .decision = (enum review_decision)(1 + draw(fixture, 3)),
        .specs = draw(fixture, 2) == 0 ? 0 : draw(fixture, 1u << MODEL_SPECS),
        .is_upper = draw(fixture, 2) == 0,
    };
    for (size_t i = 0; i < REVIEW_FLAG_COUNT; i++) {
        review->flags[i] = (enum review_answer)draw(fixture, 3);
    }
}

static void add_review(struct model *model, struct store_fixture *fixture, struct store_txn *txn)
{
    struct model_review *review = &model->reviews[model->count++];
    struct review_input input;
    struct settings settings;

    assert_true(model->count <= MODEL_REVIEWS_MAX);
    draw_review(fixture, review);
    input = (struct review_input){
        .reviewed_by = reviews_name(fixture, "user", review->reviewer),
        .run_id = reviews_name(fixture, "run", review->run),
        .subcategory = reviews_name(fixture, "subcategory", review->subcategory),
        .decision = review->decision,
        .missing_spec = specs_of(fixture, review),
        .time = {.is_given = true, .created_at_us = review->created_at_us},
    };
    memcpy(input.flags, review->flags, sizeof(input.flags));
    assert_int_equal(settings_read(txn, store_fixture_org(1), &settings), OK);
    review->needed = settings.reviews_needed;
    review->seq = model->last_seq = reviews_submit(fixture, txn, &input);
}

void model_step(struct model *model, struct store_fixture *fixture, struct store_txn *txn)
{
    struct model_review *review = NULL;

    if (model->count > 0 && draw(fixture, 4) == 0) {
        review = &model->reviews[draw(fixture, (unsigned)model->count)];
    }
    if (review != NULL && review->retracted_seq == 0) {
        review->retracted_seq = model->last_seq = reviews_take_back(fixture, txn, review->seq);
    } else if (model->count > 0 && draw(fixture, 20) == 0) {
        reviews_set_needed(fixture, txn, 1 + draw(fixture, 3));
        model->last_seq++;
    } else {
        add_review(model, fixture, txn);
    }
}

bool model_counts(const struct model_review *review, uint64_t as_of_seq)
{
    return review->seq <= as_of_seq &&
           (review->retracted_seq == 0 || review->retracted_seq > as_of_seq);
}

bool model_is_newer(const struct model_review *a, const struct model_review *b)
{
    return a->created_at_us != b->created_at_us ? a->created_at_us > b->created_at_us
                                                : a->seq > b->seq;
}

/* The newest review of a run, or of a reviewer of the run (MODEL_REVIEWERS: of any). */
static const struct model_review *newest_of(const struct model *model, unsigned run,
                                            unsigned reviewer, uint64_t as_of_seq)
{
    const struct model_review *newest = NULL;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_review *review = &model->reviews[i];

        if (review->run == run && model_counts(review, as_of_seq) &&
            (reviewer == MODEL_REVIEWERS || reviewer == review->reviewer) &&
            (newest == NULL || model_is_newer(review, newest))) {
            newest = review;
        }
    }
    return newest;
}

const struct model_review *model_newest(const struct model *model, unsigned run, uint64_t as_of_seq)
{
    return newest_of(model, run, MODEL_REVIEWERS, as_of_seq);
}

bool model_is_reviewed(const struct model *model, unsigned run, uint64_t as_of_seq)
{
    const struct model_review *newest = model_newest(model, run, as_of_seq);
    unsigned count = 0;

    for (unsigned reviewer = 0; reviewer < MODEL_REVIEWERS; reviewer++) {
        const struct model_review *answer = newest_of(model, run, reviewer, as_of_seq);

        count += answer != NULL && answer->decision == REVIEW_DECISION_REVIEWED;
    }
    return newest != NULL && newest->decision == REVIEW_DECISION_REVIEWED &&
           count >= newest->needed;
}
