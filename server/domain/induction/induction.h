/*
 * induction.h: finds rules that would have corrected false negatives and false positives, in the newest submissions: on
 * their older half it counts the patterns that submissions with the target have, and on the newer half it keeps those
 * whose lift holds. The rules are decided by numbers only; a person decides whether they have
 * effect. Reads each submission at most four times; must run on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_INDUCTION_INDUCTION_H
#define ERRATA_SERVER_DOMAIN_INDUCTION_INDUCTION_H

#include "server/domain/events/actor.h"
#include "server/domain/induction/candidates.h"
#include "server/domain/induction/lift.h"
#include "server/domain/scoring/score.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/work.h"

/* Maximum submissions that are examined, the newest. */
#define INDUCTION_SUBMISSIONS_MAX 20000
/* Maximum patterns that are tried on the newer half, half of them for each target. */
#define INDUCTION_PREDICATES_MAX 5000
/* Maximum number of found rules. */
#define INDUCTION_RULES_MAX 20
/* Minimum hits of a pattern on each half. */
#define INDUCTION_HITS_MIN 5
/* Minimum lower end of the lift's interval on the newer half. */
#define INDUCTION_LIFT_MIN 2.0
/* Time limit; a search that exceeds it ends with ERR_BUSY. */
#define INDUCTION_TIME_US (INT64_C(30) * 1000000)

struct induction_request {
    struct org_id org;
    size_t rules_max; /* from 1 to INDUCTION_RULES_MAX */
    struct score_thresholds thresholds; /* thresholds of the organisation */
    uint64_t seed; /* random */
    bool (*is_cancelled)(const void *user);
    const void *user;
};

/* A found rule; its pattern is in the arena. */
struct found_rule {
    enum induction_target target;
    struct slice pattern;
    struct lift_group hits; /* hits on the newer half */
    struct lift_group others;
    struct lift lift;
    uint64_t
        backtest_hits; /* hits in the backtest over all submissions; so are the members below */
    uint64_t agreements;
    uint64_t false_alarms;
    uint64_t flips_right;
    uint64_t flips_wrong;
};

struct found_rules {
    struct found_rule items[INDUCTION_RULES_MAX];
    size_t count;
    uint64_t submissions;
    uint64_t as_of_seq;
};

/* Finds rules. ERR_CANCELLED; ERR_CORRUPT, ERR_MEMORY. */
MUST_CHECK enum err induction_find(struct ctx *ctx, struct store_txn *txn,
                                   const struct induction_request *request,
                                   struct found_rules *ret_found);

/* Proposes the found rules, except those that exist by now. */
MUST_CHECK enum err induction_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    const struct event_caller *caller,
                                    const struct found_rules *found,
                                    struct work_result *ret_result);
/* Appends the response from the events. */
MUST_CHECK enum err induction_answer(struct store_txn *txn, const struct work_result *result,
                                     struct buffer *body);
/* Appends the same response as after induction_write, but changes nothing. */
MUST_CHECK enum err induction_answer_dry(struct ctx *ctx, struct org_id org,
                                         const struct found_rules *found, struct buffer *body);

#endif
