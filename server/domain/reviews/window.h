/*
 * window.h: the most recently reviewed runs of a subcategory, and how many of them have each signal. A run counts in the
 * subcategory of its newest review, by the time of that review; all its reviews count for signals.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_WINDOW_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_WINDOW_H

#include "server/domain/reviews/history.h"
#include "server/domain/reviews/spec_set.h"

#include <errata/v1/review_prompts.fields.h>

/* Maximum reviews that are listed for a signal, more than people read. */
#define REVIEW_EVIDENCE_MAX 20

/* The reviews of a window that give a signal, by run, newest first. */
struct review_evidence_list {
    uint64_t seqs[REVIEW_EVIDENCE_MAX];
    uint32_t count;
    bool is_cut; /* there are more reviews */
};

struct review_evidence {
    struct review_evidence_list lists[REVIEW_SIGNAL_NOTES]; /* indexed by enum review_signal */
};

struct review_window_query {
    struct org_id org;
    struct slice subcategory;
    uint64_t as_of_seq; /* REVIEWS_NOW: now */
    uint32_t runs_max;
    struct review_evidence *evidence; /* NULL, or zeros to be filled */
    /* called between runs to end a long read */
    bool (*is_cancelled)(const void *user);
    const void *user;
};

struct review_window {
    uint32_t run_count;
    uint32_t
        true_counts[REVIEW_FLAG_COUNT]; /* number of runs with a review in which the flag is true */
    uint32_t
        information_missing_count; /* number of reviews in which information_present is false */
    struct review_evidence *evidence; /* evidence of the query */
    struct spec_set specs; /* spellings are borrowed from the transaction */
};

/* Reads a window. ERR_CANCELLED. */
MUST_CHECK enum err review_window_read(struct arena *arena, struct store_txn *txn,
                                       const struct review_window_query *query,
                                       struct review_window *ret_window);
/* Returns the number of reviews that reading the present window walks over. */
MUST_CHECK enum err review_window_cost(struct store_txn *txn,
                                       const struct review_window_query *query,
                                       uint64_t *ret_review_count);

#endif
