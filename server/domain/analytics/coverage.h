/*
 * coverage.h: what is known of each layout, as of now: its documents, examples, events and extractions.
 * Layouts with documents stand in the order of their profiles; behind them those that only events or
 * extractions have named, in the order of their keys. One that is seen while a list is being paged
 * moves to the front, as with profiles: it may be missed or come twice, the others never.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_COVERAGE_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_COVERAGE_H

#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/key.h"

#include <errata/v1/analytics_service.fields.h>

/* Layouts that GetLearningAnalytics answers. */
#define COVERAGE_MOST_SEEN 50
/* Rows of layouts without documents that a page looks at: some of them have documents meanwhile. */
#define COVERAGE_ROWS_MAX 2000

/* One page. An item takes at most some 300 bytes, so the largest page is far below 1 MiB. */
struct coverage_page {
    struct org_id org;
    enum layout_coverage_order order;
    size_t page_size; /* 1 to 1000 */
    struct slice after; /* `last` of the page before; empty: the first page */
    uint32_t field; /* of the answer, for each LayoutCoverage */
    struct key last; /* where this page ended */
};

/* Appends a page of LayoutCoverage. `ret_more` tells that the list goes on behind page->last. */
MUST_CHECK enum err coverage_write(struct ctx *ctx, struct store_txn *txn,
                                   struct coverage_page *page, struct buffer *body, bool *ret_more);

#endif
