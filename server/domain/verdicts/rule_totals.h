/*
 * rule_totals.h: counts how often a rule fired in measured scores, over all its versions: a version
 * has another weight, but fires on the same receipts and in the same direction.
 */
#ifndef ERRATA_SERVER_DOMAIN_VERDICTS_RULE_TOTALS_H
#define ERRATA_SERVER_DOMAIN_VERDICTS_RULE_TOTALS_H

#include "store/log.h"

/* Number of the newest versions that are added up; each version is a decision of a person. */
#define RULE_TOTAL_VERSIONS_MAX 1000

struct rule_total {
    uint64_t rule_seq; /* seq of the event that created the rule */
    uint64_t agreed; /* firings that agreed with the correct verdict */
    uint64_t disagreed; /* firings that disagreed */
};

/* Reads the total of a rule; zeros if no score was measured. ERR_CORRUPT for rows that are not valid. */
MUST_CHECK enum err rule_total_read(struct store_txn *txn, struct org_id org, uint64_t rule_seq,
                                    struct rule_total *ret_total);
/* Reads the total of the first measured rule after the rule `after_seq`. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err rule_total_next(struct store_txn *txn, struct org_id org, uint64_t after_seq,
                                    struct rule_total *ret_total);

#endif
