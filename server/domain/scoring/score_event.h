/*
 * score_event.h: an event of a score, as ScoreDocument and explanations write it, byte for byte.
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_SCORE_EVENT_H
#define ERRATA_SERVER_DOMAIN_SCORING_SCORE_EVENT_H

#include "server/domain/verdicts/records.h"
#include "store/base/buffer.h"

#include <errata/v1/verdict_service.fields.h>

/* Typical bytes of an event besides the pattern: the id, the evidence, a weight, and constant text. */
#define SCORE_EVENT_BYTES 160

/* A rule that matched. */
struct score_event {
    struct uuid id;
    uint32_t rule_type; /* errata.v1.LearnedRuleType */
    struct slice pattern;
    int64_t weight; /* in units */
    enum score_gate suppressed_by;
    uint64_t count; /* 0: not known, as of a score of the past */
    uint64_t accuracy; /* in units, like `weight` */
};

/* Appends the event as field `field` of a message. ERR_MEMORY, or ERR_CORRUPT for a rule of an unknown type. */
MUST_CHECK enum err score_event_put(struct arena *arena, const struct score_event *event,
                                    uint32_t field, struct buffer *run);

#endif
