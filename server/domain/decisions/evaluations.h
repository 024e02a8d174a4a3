/*
 * evaluations.h: classes of a decision that others than the server assign: evaluators of the
 * caller, and people, whose overrides take precedence. Overrides measure every evaluator, including
 * the server.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_EVALUATIONS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_EVALUATIONS_H

#include "server/domain/decisions/decisions.h"
#include "server/domain/decisions/records.h"

/* Maximum evaluators of one decision besides the server. */
#define EVALUATORS_OF_DECISION_MAX 16
/* Maximum evaluators of an organisation that a report lists. */
#define EVALUATORS_REPORTED_MAX 100
/* Prefix of the ids of the server's own evaluators. */
#define EVALUATOR_OWN_PREFIX "errata"

struct evaluation_request {
    struct org_id org;
    struct event_caller caller;
    uint64_t decision_seq;
    struct uuid feedback_id;
    enum decision_class classification;
    double confidence;
    enum proposed_action proposed_action;
    struct slice evaluator_id;
    struct slice rationale; /* the comment, or the reason of an override */
};

/* Appends and applies the class of an evaluator. ERR_PRECONDITION if the decision has too many evaluators. */
MUST_CHECK enum err evaluation_submit(struct ctx *ctx, struct store_txn *txn,
                                      const struct evaluation_request *request, uint64_t *ret_seq);
/* Appends and applies a person's class. */
MUST_CHECK enum err evaluation_override(struct ctx *ctx, struct store_txn *txn,
                                        const struct evaluation_request *request,
                                        uint64_t *ret_seq);

/* Reads the evaluation that an event submitted, or by which it overrode others. ERR_CORRUPT for other events. */
MUST_CHECK enum err evaluation_of_event(const struct event *event,
                                        struct evaluation_view *ret_view);
/* Reads the evaluation in effect, for the decision that the event recorded. */
MUST_CHECK enum err evaluation_in_effect(struct arena *arena, struct store_txn *txn,
                                         struct org_id org, uint64_t decision_seq,
                                         struct evaluation_view *ret_view);

struct evaluation_list {
    struct evaluation_view items[EVALUATORS_OF_DECISION_MAX + 2];
    size_t count;
};

/* Lists all evaluations of a decision: by the server, by evaluators, by a person. */
MUST_CHECK enum err evaluations_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                                     uint64_t decision_seq, struct evaluation_list *ret_list);

struct evaluator_list {
    struct evaluator_record items[EVALUATORS_REPORTED_MAX];
    size_t count;
};

MUST_CHECK enum err evaluators_read(struct store_txn *txn, struct org_id org,
                                    struct evaluator_list *ret_list);

#endif
