/*
 * scoring.h: adjusts the score of a receipt by the rules of a set. Writes nothing: the reference of a response is what
 * a verdict cites.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_SCORING_H
#define ERRATA_SERVER_DOMAIN_SCORING_SCORING_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/scoring/rule_set.h"
#include "store/base/buffer.h"

#include <errata/v1/score_stacking.fields.h>

struct scoring_request {
    struct receipt receipt;
    double score; /* score without rules */
    struct score_context context;
    enum score_stacking stacking; /* SUM or MAX */
    struct score_thresholds thresholds;
};

/* A rule that matched. */
struct scoring_event {
    const struct scoring_rule *rule; /* borrowed from the set */
    struct score_weight weight;
};

struct scoring_result {
    double unclamped;
    double clamped;
    struct exposed_verdicts verdicts;
    struct scoring_event *events; /* events of live rules, in the order of their ids */
    size_t event_count;
    struct scoring_event *shadows; /* events of rules in SHADOW, which no caller sees */
    size_t shadow_count;
};

/* Matches the rules, computes their weights and adds them up. The result is in the arena, and valid
 * as long as the set. Fails only with ERR_MEMORY. */
MUST_CHECK enum err scoring_apply(struct arena *arena, const struct rule_set *set,
                                  const struct scoring_request *request,
                                  struct scoring_result *ret_result);
/* Encodes the events of a result: the learned part of the response. `is_past`: without measured values. ERR_MEMORY, or
 * ERR_CORRUPT for a rule of an unknown type. */
MUST_CHECK enum err scoring_encode_events(struct arena *arena, const struct scoring_result *result,
                                          bool is_past, struct slice *ret_events);
/* Returns the exposure of a result, with the hash of its encoded events: of SCORE, all rules that matched, those in SHADOW
 * last. Its artifacts are in the arena. */
MUST_CHECK enum err scoring_expose(struct arena *arena, const struct scoring_result *result,
                                   struct slice events, struct exposure *ret_exposure);
/* Appends a ScoreDocumentResponse. */
void scoring_write(const struct scoring_result *result, struct slice events, struct slice reference,
                   struct buffer *body);

#endif
