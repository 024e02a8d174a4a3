/*
 * measures.h: measures learned rules by the verdicts that cite scores. The rules that fired, and
 * their directions, are in the facts of the submission, so that a retraction subtracts exactly what
 * was added. Firings are counted by rule and version; misses are the verdicts with scores while the
 * version was in effect (measured_verdicts.h), less the agreements. Rows are written by apply only.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_MEASURES_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_MEASURES_H

#include "server/domain/verdicts/rules.h"

#include <errata/v1/verdict_submission.views.h>

/* Number of firings that agreed or disagreed, after which a rule that disagreed in most of them is
 * proposed for retirement. */
#define MEASURE_SUNSET_FIRINGS 20
/* Maximum versions that are listed. */
#define MEASURE_VERSIONS_MAX 20

/* One version of a rule. */
struct rule_measure {
    uint32_t version;
    uint64_t agreed;
    uint64_t disagreed;
    uint64_t undecided;
    uint64_t missed;
};

/* The versions of a rule, newest first. */
struct rule_measures {
    struct rule_measure items[MEASURE_VERSIONS_MAX];
    size_t count;
};

/* Counts the scores that a submission measures, and keeps it as the outcome of the exposures that it cites; proposes
 * rules for retirement. */
MUST_CHECK enum err measures_count(struct ctx *ctx, struct store_txn *txn,
                                   const struct event *event,
                                   const struct verdict_submission_view *view);
/* Subtracts the same amounts; a rule that is no longer due for retirement is ACTIVE again. */
MUST_CHECK enum err measures_uncount(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *retraction, const struct event *event,
                                     const struct verdict_submission_view *view);
/* Records that a person keeps a rule that was proposed for retirement: only later firings count for
 * the next proposal. */
MUST_CHECK enum err measures_keep(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  const struct learned_rule_row *row);

/* Reads the row of a version of a rule; zeros if it has none. */
MUST_CHECK enum err rule_measure_read(struct store_txn *txn, struct org_id org, uint64_t rule_seq,
                                      uint32_t version, struct rule_measure_record *ret_record);
/* Reads the measures of a rule. The time grows with the changes of the rule's state, so it must run on the pool. */
MUST_CHECK enum err rule_measures_read(struct store_txn *txn, struct org_id org,
                                       const struct learned_rule_row *row,
                                       struct rule_measures *ret_measures);
/* Reads the measures of all rules together; zeros if there are none. */
MUST_CHECK enum err rule_set_measure_read(struct store_txn *txn, struct org_id org,
                                          struct rule_set_measure_record *ret_record);

#endif
