/*
 * suggestions.h: a page of the weights that measured verdicts suggest for learned rules, with the stored verdicts that
 * each would flip: those of the newest submissions, whose score is the stored original one with only this rule added
 * (trial.h). One pass over the submissions serves all rules of the page. It must run on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_WEIGHTS_SUGGESTIONS_H
#define ERRATA_SERVER_DOMAIN_WEIGHTS_SUGGESTIONS_H

#include "server/domain/scoring/score.h"
#include "server/domain/verdicts/rule_totals.h"
#include "server/domain/verdicts/rules.h"
#include "server/domain/weights/weight.h"
#include "store/base/ctx.h"
#include "store/page.h"

/* Maximum rules of a page: each is tried on every submission. */
#define SUGGESTIONS_MAX 20
/* Maximum measured rules that a page examines; those with too few firings are not items. */
#define SUGGESTIONS_RULES_MAX 2000
/* Maximum submissions on which the rules are tried, the newest: 20 rules take about a second. */
#define SUGGESTIONS_SUBMISSIONS_MAX 20000
/* Maximum flips that are listed for one rule, right and wrong ones separately; further ones are only counted. */
#define SUGGESTIONS_FLIPS_MAX 20

/* The weight that is suggested for one rule. */
struct suggestion {
    struct learned_rule_row row; /* its slices are borrowed from the transaction */
    struct rule_total total;
    struct weight_suggestion weight;
};

/* The parameters of a page. */
struct suggestions_request {
    struct org_id org;
    bool has_rule; /* if set, only this rule */
    struct uuid rule_id;
    struct score_thresholds thresholds; /* thresholds of the organisation */
    bool (*is_cancelled)(const void *user);
    const void *user;
};

/* Reads the suggestion for one rule. Returns OK with `ret_has` false if it has too few firings, or
 * was retired or rejected. */
MUST_CHECK enum err suggestion_read(struct store_txn *txn, struct org_id org,
                                    const struct rule_total *total,
                                    struct suggestion *ret_suggestion, bool *ret_has);
/* Appends the page as ListSuggestedWeightsResponse, without its token: `page` has the position, and
 * whether there is more. ERR_NOT_FOUND, with a fault, for an unknown rule; ERR_CANCELLED,
 * ERR_CORRUPT, ERR_MEMORY. */
MUST_CHECK enum err suggestions_list(struct ctx *ctx, struct store_txn *txn,
                                     const struct suggestions_request *request, struct page *page);

#endif
