/*
 * review_fixture.h: random histories of reviews, stored and in a model: the model is a plain list, from which tests
 * compute by brute force the result that the store should return now or after an earlier event.
 */
#ifndef ERRATA_TESTS_UNIT_REVIEWS_REVIEW_FIXTURE_H
#define ERRATA_TESTS_UNIT_REVIEWS_REVIEW_FIXTURE_H

#include "server/domain/reviews/reviews.h"
#include "tests/support/store/store_fixture.h"

#define MODEL_REVIEWS_MAX 600
#define MODEL_RUNS 16
#define MODEL_SUBCATEGORIES 3
#define MODEL_REVIEWERS 3
#define MODEL_SPECS 4

/* A stored review. */
struct model_review {
    uint64_t seq;
    int64_t created_at_us;
    unsigned run;
    unsigned subcategory;
    unsigned reviewer;
    unsigned needed;
    enum review_decision decision;
    enum review_answer flags[REVIEW_FLAG_COUNT];
    unsigned specs; /* one bit for each answer */
    bool is_upper; /* its specs are written in capitals */
    uint64_t retracted_seq; /* 0: it was not retracted */
};

struct model {
    struct model_review reviews[MODEL_REVIEWS_MAX];
    size_t count;
    uint64_t last_seq;
};

/* Begins a write transaction. */
struct store_txn *reviews_begin(struct store_fixture *fixture);
/* Submits for organisation 1; returns the seq of the review. */
uint64_t reviews_submit(struct store_fixture *fixture, struct store_txn *txn,
                        const struct review_input *input);
/* Retracts the event; returns the seq of the retraction. */
uint64_t reviews_take_back(struct store_fixture *fixture, struct store_txn *txn, uint64_t seq);
/* Sets how many reviewers are needed. */
void reviews_set_needed(struct store_fixture *fixture, struct store_txn *txn, uint32_t needed);
/* A random number below `count`. */
uint64_t reviews_draw(struct store_fixture *fixture, uint64_t count);
struct slice reviews_name(struct store_fixture *fixture, const char *kind, unsigned number);
/* The field missing_spec of the texts. */
struct slice reviews_specs(struct store_fixture *fixture, const char *const *texts, size_t count);

/* Stores a random review, or retracts one, and changes the model in the same way. */
void model_step(struct model *model, struct store_fixture *fixture, struct store_txn *txn);
/* Returns whether the review counts after the event. */
bool model_counts(const struct model_review *review, uint64_t as_of_seq);
/* Returns whether `a` is newer than `b`. */
bool model_is_newer(const struct model_review *a, const struct model_review *b);
/* The newest review of a run that counts; NULL: there is none. */
const struct model_review *model_newest(const struct model *model, unsigned run,
                                        uint64_t as_of_seq);
/* Returns whether the run counts as reviewed. */
bool model_is_reviewed(const struct model *model, unsigned run, uint64_t as_of_seq);

#endif
