/*
 * scores.c: computes the satisfaction and the rank of a turn from its validation, its quality and the feedback on it.
 */
#include "server/domain/turns/turns.h"

static double base_of(enum validation_outcome outcome)
{
    switch (outcome) {
    case VALIDATION_OUTCOME_APPROVE:
        return 0.5;
    case VALIDATION_OUTCOME_REVISE:
        return 0.3;
    case VALIDATION_OUTCOME_RETRY:
        return 0.1;
    case VALIDATION_OUTCOME_FAIL:
        return -0.5;
    case VALIDATION_OUTCOME_UNSPECIFIED:
        break;
    }
    return 0;
}

double turn_satisfaction(enum validation_outcome outcome, enum turn_status status)
{
    double base = base_of(outcome);

    switch (status) {
    case TURN_STATUS_REJECTED:
        return -1;
    case TURN_STATUS_ACCEPTED:
        return base + 0.5 > 1 ? 1 : base + 0.5;
    case TURN_STATUS_NEUTRAL:
    case TURN_STATUS_UNSPECIFIED:
        break;
    }
    return base;
}

double turn_ranking(double quality, enum turn_status status)
{
    double weight = status == TURN_STATUS_REJECTED ? -1 : status == TURN_STATUS_ACCEPTED ? 0.5 : 0;

    return 0.6 * quality + 0.4 * weight;
}
