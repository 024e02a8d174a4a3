/*
 * served_strategies.h: encodes found strategies for a response, and lists them in an exposure by
 * the turn of each. A held-out session gets none; its exposure lists those that it would have
 * received.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_SERVED_STRATEGIES_H
#define ERRATA_SERVER_DOMAIN_TURNS_SERVED_STRATEGIES_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/turns/strategies.h"

/* Fields of a SearchStrategiesResponse, in an arena. */
struct served_strategies {
    struct slice strategies; /* the run of the field `strategies` */
    struct slice avoid; /* the run of the field `avoid` */
};

/* Encodes what was found; counts of outcomes are measured values, which a response about the past does not have. */
MUST_CHECK enum err served_strategies_encode(struct arena *arena, const struct strategies *found,
                                             bool has_counts, struct served_strategies *ret_served);
/* Computes the hash by which a reference identifies the served strategies. */
void served_strategies_hash(const struct served_strategies *served,
                            uint8_t hash[EXPOSURE_TEXT_HASH_BYTES]);
/* Sets the kind and the artifacts of an exposure; they are in the arena. */
MUST_CHECK enum err served_strategies_expose(struct arena *arena, const struct strategies *found,
                                             struct exposure *exposure);

#endif
