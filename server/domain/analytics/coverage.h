/*
 * coverage.h: the current counts of each layout: its documents, examples, events and extractions.
 * Layouts with documents come first, in the order of their profiles; then those that only events or
 * extractions have named, in the order of their keys. A layout that is seen while a list is read
 * moves to the front, as in lists of profiles: it may be missed or listed twice; all others are
 * listed once.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_COVERAGE_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_COVERAGE_H

#include "server/domain/layouts/family_members.h"
#include "store/base/ctx.h"
#include "store/page.h"

#include <errata/v1/analytics_service.views.h>

/* Layouts that GetLearningAnalytics returns. */
#define COVERAGE_MOST_SEEN 50

/* Reads one layout by its fingerprint, which the view borrows; the counts of an unknown layout are
 * 0. */
MUST_CHECK enum err coverage_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  struct slice layout_fingerprint,
                                  struct layout_coverage_view *ret_layout);

/* Finds the most seen of the first FAMILY_FINGERPRINTS_MAX layouts of a family; allocated in the arena. */
struct coverage_family {
    struct layout_coverage_view layouts[COVERAGE_MOST_SEEN];
    size_t count;
};

MUST_CHECK enum err coverage_read_family(struct arena *arena, struct store_txn *txn,
                                         struct org_id org, const struct family_members *members,
                                         struct coverage_family *ret_family);

/* A list of layouts. */
struct coverage_list {
    struct org_id org;
    enum layout_coverage_order order;
    struct page *page;
    /* State while the list is read: */
    bool seen_ended; /* layouts without documents follow */
    char fingerprint[2 * SHA256_BYTES]; /* fingerprint of the last layout with documents */
};

MUST_CHECK enum err coverage_list_begin(struct store_txn *txn, struct coverage_list *list);
/* Returns the next layout, borrowed from the transaction and the list until the next one is read.
 * ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err coverage_list_next(struct ctx *ctx, struct store_txn *txn,
                                       struct coverage_list *list,
                                       struct layout_coverage_view *ret_layout);

#endif
