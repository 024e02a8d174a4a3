/*
 * set_weights.h: gives rules the weights that measured verdicts suggest, by a decision of a person. All rules are decided
 * before the first event; a rule that has its weight already leaves no event.
 */
#ifndef ERRATA_SERVER_DOMAIN_WEIGHTS_SET_WEIGHTS_H
#define ERRATA_SERVER_DOMAIN_WEIGHTS_SET_WEIGHTS_H

#include "server/domain/events/actor.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/work.h"

/* Maximum rules of one decision, as in the contract. */
#define SET_WEIGHTS_MAX 100

struct chosen_weight {
    struct uuid rule_id;
    bool has_weight; /* fails unless the suggestion still has this weight */
    double weight;
};

struct set_weights_request {
    struct org_id org;
    struct event_caller caller;
    const struct chosen_weight *chosen;
    size_t count;
    struct slice reason;
};

/* Appends and applies the events; `ret_result` is empty if every rule already has its weight.
 * ERR_NOT_FOUND, ERR_PRECONDITION and ERR_INVALID with a fault that names the rule. */
MUST_CHECK enum err set_weights_write(struct ctx *ctx, struct store_txn *txn,
                                      const struct set_weights_request *request,
                                      struct work_result *ret_result);
/* Appends the response from the events. `chosen_count`: the rules of the request. */
MUST_CHECK enum err set_weights_answer(struct store_txn *txn, size_t chosen_count,
                                       const struct work_result *result, struct buffer *body);
/* Appends the response that the decision would have, but changes nothing. Same errors as set_weights. */
MUST_CHECK enum err set_weights_answer_dry(struct ctx *ctx, struct store_txn *txn,
                                           const struct set_weights_request *request,
                                           struct buffer *body);

#endif
