/*
 * measured_verdicts.h: counts the measured verdicts of one kind with scores in a range of the log: the
 * verdicts that a rule could have found while it was in effect. Counting every rule at every verdict would
 * cost as many rows as there are rules, so verdicts are counted by the last event of their score, in rows
 * of five levels: a row of a level counts 64 rows of the level below. Adding one changes five rows; a
 * count reads at most 63 rows of each level, and of the top level one row for each 16 million events.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_MEASURED_VERDICTS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_MEASURED_VERDICTS_H

#include "store/log.h"

#include <errata/v1/verdict_submission.fields.h>

/* The number of levels, and the number of index bits that each level adds. */
#define MEASURED_LEVELS 5
#define MEASURED_LEVEL_BITS 6

/* Adds a verdict with a score as of an event, or subtracts it. ERR_CORRUPT if more is subtracted than was added. For
 * apply. */
MUST_CHECK enum err measured_verdicts_add(struct store_txn *txn, struct org_id org,
                                          enum verdict verdict, uint64_t as_of_seq);
MUST_CHECK enum err measured_verdicts_subtract(struct store_txn *txn, struct org_id org,
                                               enum verdict verdict, uint64_t as_of_seq);
/* Counts the verdicts with scores as of an event before `end_seq`. */
MUST_CHECK enum err measured_verdicts_before(struct store_txn *txn, struct org_id org,
                                             enum verdict verdict, uint64_t end_seq,
                                             uint64_t *ret_count);

#endif
