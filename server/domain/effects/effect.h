/*
 * effect.h: what a guideline changed: how many of the decisions for its agents ask for the same as those from which it was
 * drafted, before and after its activation; and whether that, or its outcomes beside held-out subjects, shows a benefit. Reads
 * only; the batch of server/domain/generation proposes the sunset, and a person decides it.
 */
#ifndef ERRATA_SERVER_DOMAIN_EFFECTS_EFFECT_H
#define ERRATA_SERVER_DOMAIN_EFFECTS_EFFECT_H

#include "server/domain/analytics/proportions.h"
#include "server/domain/artifacts/artifacts.h"
#include "server/domain/guidelines/proposals.h"

/* Decisions on each side of an activation that are compared: enough for an interval of a few percent, and a step of the batch
 * must not delay other writes. */
#define EFFECT_DECISIONS_MAX 2000
/* Decisions after which a guideline without a benefit is proposed for sunset. */
#define EFFECT_DECISIONS_MIN 50
/* Clusters of the evidence of one guideline. */
#define EFFECT_CLUSTERS_MAX 20

struct guideline_effect {
    struct proportion before; /* decisions, and those of them that ask for the same */
    struct proportion after;
    bool is_measured; /* it was drafted from decisions; otherwise both are zero */
    uint64_t settled; /* decisions after the activation, or after a person kept it */
    struct artifact_record outcomes;
};

/* Measures a guideline that is in effect. */
MUST_CHECK enum err guideline_effect_measure(struct arena *arena, struct store_txn *txn,
                                             const struct proposal *guideline,
                                             struct guideline_effect *ret_effect);
/* Whether enough decisions show no benefit. */
bool guideline_effect_is_none(const struct guideline_effect *effect);

#endif
