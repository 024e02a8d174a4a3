/*
 * card.h: a report of a subcategory's reviews on the agent that extracts its items: how often runs
 * have each signal, how often they are accepted at once, and whether signals recur. Walks over all
 * runs of the subcategory, so it must run on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_CARD_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_CARD_H

#include "server/domain/reviews/triggers.h"
#include "server/domain/reviews/window.h"

#include <errata/v1/agent_card.views.h>
#include <errata/v1/review.fields.h>

/* Maximum runs of a card, and periods of REVIEW_WINDOW_RUNS runs. */
#define CARD_RUNS_MAX 10000
#define CARD_PERIODS_MAX 50

/* A run as described by its reviews. */
struct card_run {
    int64_t newest_at_us; /* time of its newest review */
    uint8_t signals; /* bit of each enum review_signal */
    uint8_t decision; /* enum review_decision of its newest review */
    bool is_first_pass; /* the decision of its oldest review is REVIEWED */
};

struct review_card {
    struct slice subcategory;
    const struct card_run *runs; /* newest first */
    size_t run_count;
    uint32_t review_count;
    bool is_incomplete;
};

/* Reads the runs of a subcategory; query->runs_max and as_of_seq are not used. ERR_CANCELLED. */
MUST_CHECK enum err review_card_read(struct arena *arena, struct store_txn *txn,
                                     const struct review_window_query *query,
                                     struct review_card *ret_card);
/* Builds the message, in the arena. */
MUST_CHECK enum err review_card_view(struct arena *arena, const struct review_card *card,
                                     const struct review_triggers *triggers,
                                     struct agent_card_view *ret_view);

#endif
