/*
 * score.h: the effect of matching rules on a score: gates, stacking and clamping. Pure, in whole
 * billionths (VERDICT_UNIT), so that the sum does not depend on the order of the rules.
 *
 * Gates, for each rule:
 *
 *   | gate             | if                                                                     | effect            |
 *   |------------------|------------------------------------------------------------------------|-------------------|
 *   | MISSING_ELEMENTS | the pattern contains `missing_elements`, missing fields do not count   | suppressed        |
 *   | POS_LAYOUT       | the subtype begins with `POS`, the pattern contains `spacing` or `layout` | suppressed     |
 *   | low confidence   | the document profile's confidence is below 0.55                        | x 0.65, then at most 0.05 up or down |
 */
#ifndef ERRATA_SERVER_DOMAIN_SCORING_SCORE_H
#define ERRATA_SERVER_DOMAIN_SCORING_SCORE_H

#include "server/domain/verdicts/records.h"

#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_submission.fields.h>

/* A document profile below this confidence reduces adjustments. */
#define SCORE_CONFIDENCE_MIN 0.55
/* The percentage of an adjustment that counts in that case. */
#define SCORE_REDUCED_PERCENT 65
/* The largest adjustment in that case, in units. */
#define SCORE_REDUCED_MAX (VERDICT_UNIT / 20)

/* The gates that apply to a pattern. */
struct score_gates {
    bool missing_elements;
    bool layout;
};

/* The values of a document on which gates depend. */
struct score_context {
    bool missing_fields_enabled;
    double profile_confidence; /* 0 if it is absent */
    struct slice profile_subtype; /* or empty */
};

/* The effect of one rule. */
struct score_weight {
    int64_t weight; /* in units; 0 if suppressed */
    enum score_gate suppressed_by; /* UNSPECIFIED: it is not suppressed */
    bool reduced; /* reduced by the confidence of the document profile */
};

/* The thresholds of verdicts, in units. */
struct score_thresholds {
    uint32_t suspicious_at; /* at most fake_at */
    uint32_t fake_at;
};

/* A rule that fired, for stacking. */
struct score_addend {
    uint32_t pattern; /* equal for equal patterns */
    int64_t weight;
};

struct score_gates score_gates_of(struct slice pattern);
struct score_weight score_weigh(int64_t adjustment, struct score_gates gates,
                                const struct score_context *context);
/* Returns the sum of all weights, in units. */
int64_t score_sum(const struct score_addend *addends, size_t count);
/* Returns the sum of the largest weight of each pattern in each direction, in units; sorts the addends. */
int64_t score_sum_of_largest(struct score_addend *addends, size_t count);
/* Returns the weight of a rule whose gates were decided before. */
int64_t score_weigh_again(int64_t adjustment, enum score_gate suppressed_by, bool reduced);
/* Returns the score clamped to 0 to 1. */
double score_clamp(double score);
/* Returns the verdict for a clamped score. It is rounded to a unit, so that 0.35 + 0.05 reaches 0.4. */
enum verdict score_verdict(double score, const struct score_thresholds *thresholds);

#endif
