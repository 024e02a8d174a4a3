/*
 * experiments.h: whether examples help: extractions of documents that got them beside extractions of
 * documents that were held out, of the organisation and of each layout. What is compared are accuracies:
 * the share of extractions that nobody corrected.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_EXPERIMENTS_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_EXPERIMENTS_H

#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/key.h"

/* Layouts that a page looks at: those without a counted extraction are not listed. */
#define EXPERIMENT_ROWS_MAX 2000

/* One page. An item takes at most some 300 bytes, so the largest page is far below 1 MiB. */
struct experiment_page {
    struct org_id org;
    size_t page_size; /* 1 to 1000 */
    struct slice after; /* `last` of the page before; empty: the first page */
    struct key last; /* where this page ended */
};

/* Appends the fields of a GetExperimentReportResponse, but for next_page_token. `ret_more` tells that
 * the list of layouts goes on behind page->last. */
MUST_CHECK enum err experiments_write(struct ctx *ctx, struct store_txn *txn,
                                      struct experiment_page *page, struct buffer *body,
                                      bool *ret_more);

#endif
