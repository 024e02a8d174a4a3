/*
 * rule_measures.h: encodes the measures of a rule by verdicts, with intervals, as messages.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_RULE_MEASURES_H
#define ERRATA_SERVER_DOMAIN_LEARNING_RULE_MEASURES_H

#include "server/domain/verdicts/measures.h"
#include "store/base/buffer.h"

/* Encodes a share with its interval as a MeasuredRate, in the arena; false if out of memory. */
MUST_CHECK bool measured_rate_encode(struct arena *arena, uint64_t success_count, uint64_t n,
                                     struct slice *ret_message);
/* Appends the versions of a rule, newest first, as fields `field`, which are RuleMeasures. */
MUST_CHECK enum err rule_measures_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct learned_rule_row *row, uint32_t field,
                                      struct buffer *run);
/* Encodes the measures of one side of the rule set as a RuleSetMeasure, in the arena; false if out of memory. */
MUST_CHECK bool rule_set_side_encode(struct arena *arena,
                                     const struct rule_set_measure_record *record,
                                     const struct rule_set_side *side, struct slice *ret_message);

#endif
