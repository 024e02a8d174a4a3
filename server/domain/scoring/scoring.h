/*
 * scoring.h: adjusts the score of a receipt by the rules of a set. Writes nothing.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_SCORING_H
#define ERRATA_SERVER_DOMAIN_SCORING_SCORING_H

#include "server/domain/scoring/rule_set.h"
#include "store/base/buffer.h"

/* Whether rules with the same pattern add up. */
enum score_stacking {
    SCORE_STACKING_SUM, /* all count */
    SCORE_STACKING_MAX /* of each pattern and direction, only the largest */
};

struct scoring_request {
    struct receipt receipt;
    double score; /* without rules */
    struct score_context context;
    enum score_stacking stacking;
};

/* An event of the response. */
struct scoring_event {
    const struct scoring_rule *rule; /* the set's */
    struct score_weight weight;
};

struct scoring_result {
    double unclamped;
    double clamped;
    struct scoring_event *events; /* in the order of the rules' ids */
    size_t event_count;
};

/* Matches the rules, computes their weights and adds them up. The result is in the arena, and valid
 * as long as the set. Fails only with ERR_MEMORY. */
MUST_CHECK enum err scoring_apply(struct arena *arena, const struct rule_set *set,
                                  const struct scoring_request *request,
                                  struct scoring_result *ret_result);
/* Appends a ScoreDocumentResponse. ERR_MEMORY, or ERR_CORRUPT for a rule of an unknown type. */
MUST_CHECK enum err scoring_write(struct arena *arena, const struct scoring_result *result,
                                  struct buffer *body);

#endif
