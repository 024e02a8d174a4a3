/*
 * decisions_internal.h: declarations shared by the files of this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_DECISIONS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_DECISIONS_INTERNAL_H

#include "server/domain/decisions/evaluations.h"

/* Sets the members of an evaluation from a result. */
void decision_put_result(const struct evaluator_result *result, struct evaluation_view *view);
/* Returns the action that follows from a class, without regard to skills. */
enum proposed_action decision_action_of_class(enum decision_class class);
/* Reads the evaluation of the event whose number is in a row. ERR_NOT_FOUND if there is no row. */
MUST_CHECK enum err decision_read_evaluation(struct store_txn *txn, struct org_id org,
                                             enum store_table table, const struct key *key,
                                             struct evaluation_view *ret_view);
/* Puts the cluster on the list of the batch, if the class is GENERALIZABLE_HIGH. */
MUST_CHECK enum err decision_mark_high(struct store_txn *txn, const struct event *event,
                                       uint64_t cluster_seq, enum decision_class class);

/* Numbers of the events by which evaluators classified a decision. */
struct decision_seqs {
    uint64_t items[EVALUATORS_OF_DECISION_MAX];
    size_t count;
};

MUST_CHECK enum err decision_evaluation_seqs(struct store_txn *txn, struct org_id org,
                                             uint64_t decision_seq, struct decision_seqs *ret_seqs);

/* The classes before and after a change, of one evaluator and decision; UNSPECIFIED: there is none. */
struct evaluator_change {
    enum decision_class class_before;
    enum decision_class class_after;
    enum decision_class persons_before;
    enum decision_class persons_after;
};

MUST_CHECK enum err evaluator_count(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    struct slice evaluator_id,
                                    const struct evaluator_change *change);

/* A change of how a decision counts for all of its evaluators. */
struct evaluators_change {
    uint64_t decision_seq;
    enum decision_class classification; /* that the server's evaluator chose */
    enum decision_class persons; /* that a person chose now; UNSPECIFIED if it is retracted */
    bool is_retracted; /* the decision counts no longer */
};

/* Counts a decision that a person classified, or that was retracted, for the server's evaluator and those of the caller. The
 * row of a person's class is still that before the change. */
MUST_CHECK enum err evaluators_recount(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                       const struct evaluators_change *change);
MUST_CHECK enum err evaluation_apply_submitted(struct ctx *ctx, struct store_txn *txn,
                                               const struct event *event);
MUST_CHECK enum err evaluation_apply_overridden(struct ctx *ctx, struct store_txn *txn,
                                                const struct event *event);

#endif
