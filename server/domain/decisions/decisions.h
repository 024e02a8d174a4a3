/*
 * decisions.h: people's decisions on agents' output. A write appends one event, with the class, the cluster and the theme
 * that were decided; everything else is read from the log.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_DECISIONS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_DECISIONS_H

#include "server/domain/decisions/clusters.h"
#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/exposures/exposures.h"
#include "store/page.h"

#include <errata/v1/decision.views.h>

/* Bytes of each stored number of a theme. */
#define DECISION_THEME_NUMBER_BYTES 2
/* Maximum members of a cluster that an evaluation names. */
#define EVALUATION_SIMILAR_MAX 20
#define EVALUATOR_ID "errata-1"

/* References that a decision cites; max_items of the request. */
#define DECISION_REFERENCES_MAX 20

/* The values of a request, and what was prepared from them. Slices are borrowed for the duration of the call. */
struct decision_input {
    struct decision_view view; /* as the caller sent it; server-set members are zero */
    struct event_time time;
    struct evaluator_input evaluator;
    struct slice space;
    enum theme_kind kind;
    struct theme theme; /* without numbers if the decision is not evidence */
    const struct exposure_key *key;
    const struct slice *exposure_refs; /* at most DECISION_REFERENCES_MAX */
    size_t exposure_ref_count;
};

struct decision_request {
    struct org_id org;
    struct event_caller caller;
    const struct decision_input *input;
};

/* Returns the words of a decision: its comment, and the summary of the correction. */
struct slice decision_words(struct arena *arena, struct slice comment, struct slice summary);
/* Sets `input->evaluator` from the words and the correction of a decision. */
MUST_CHECK enum err decision_read_signals(struct arena *arena, struct decision_input *input);
/* A recorded decision. */
struct decision_stored {
    uint64_t seq;
    bool is_repeat; /* the decision was recorded before */
};

/* Decides, appends and applies, after the events of exposures that it is first to cite. A repeat returns the first event.
 * ERR_EXISTS for a decision_id with other content. */
MUST_CHECK enum err decision_record(struct ctx *ctx, struct store_txn *txn,
                                    const struct decision_request *request,
                                    struct decision_stored *ret_stored);

/* Reads the decision of an event. ERR_NOT_FOUND if the event is not a decision. */
MUST_CHECK enum err decision_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                  struct event *ret_event, struct decision_view *ret_view);
/* Finds the event of a decision by the caller's id. */
MUST_CHECK enum err decision_find(struct store_txn *txn, struct org_id org,
                                  struct slice decision_id, uint64_t *ret_seq);
/* Finds a decision by the text of the server's id. ERR_NOT_FOUND for another text, or the id of another event. */
MUST_CHECK enum err decision_find_id(struct store_txn *txn, struct org_id org, struct slice id,
                                     uint64_t *ret_seq);
/* The private part of a decision: the space and the theme. */
struct decision_theme {
    enum theme_kind kind;
    struct slice space;
    struct slice numbers; /* DECISION_THEME_NUMBER_BYTES each; empty: it has no theme */
};

/* Writes kind, space and theme of an input, as decision_theme_read reads them, in the arena; empty without a theme. */
MUST_CHECK enum err decision_theme_write(struct arena *arena, const struct decision_input *input,
                                         struct slice *ret_theme);
MUST_CHECK enum err decision_theme_read(const struct decision_view *view,
                                        struct decision_theme *ret_theme);
int16_t decision_theme_number(struct slice theme, size_t index);

/* The evaluation of a decision when it was recorded (from its event), and now. `similar` has at most
 * EVALUATION_SIMILAR_MAX members. */
MUST_CHECK enum err decision_evaluation(struct arena *arena, struct store_txn *txn,
                                        struct org_id org, uint64_t seq,
                                        struct evaluation_view *ret_view);
MUST_CHECK enum err decision_evaluate(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                      uint64_t seq, struct evaluation_view *ret_view);

/* A page of decisions, newest first. */
struct decision_list {
    struct org_id org;
    struct slice agent; /* empty: all agents */
    struct page *page;
};

MUST_CHECK enum err decision_list_begin(struct store_txn *txn, struct decision_list *list);
MUST_CHECK enum err decision_list_next(struct store_txn *txn, struct decision_list *list,
                                       uint64_t *ret_seq, struct decision_view *ret_view);

#endif
