/*
 * experiments.h: measures whether examples help: compares extractions of documents that received
 * examples with extractions of documents that were held out, for the organisation and for each
 * layout. The compared value is the accuracy: the share of extractions that were not corrected.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_EXPERIMENTS_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_EXPERIMENTS_H

#include "store/base/ctx.h"
#include "store/page.h"

#include <errata/v1/analytics_service.views.h>

/* An ExperimentComparison: the arms and the excluded extractions are part of the view. */
struct experiment_comparison {
    struct experiment_comparison_view view;
    struct arm_result_view treatment;
    struct arm_result_view control;
    struct excluded_extractions_view excluded;
};

struct experiment_organization {
    uint32_t holdout_percent;
    struct experiment_comparison comparison;
};

MUST_CHECK enum err experiment_read_organization(struct store_txn *txn, struct org_id org,
                                                 struct experiment_organization *ret_organization);

struct experiment_layout {
    struct slice layout_fingerprint; /* borrowed from the transaction */
    uint64_t example_count;
    struct experiment_comparison comparison;
};

/* A list of the layouts that have a counted extraction and enough examples. */
struct experiment_list {
    struct org_id org;
    struct page *page;
};

MUST_CHECK enum err experiment_list_begin(struct store_txn *txn,
                                          const struct experiment_list *list);
/* ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err experiment_list_next(struct arena *arena, struct store_txn *txn,
                                         const struct experiment_list *list,
                                         struct experiment_layout *ret_layout);

#endif
