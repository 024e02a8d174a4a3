/*
 * learning.h: what the loop learned in a range of days, from the counters: one walk over the rows of
 * the range. A day has at most COUNTERS_FIELD_NAMES_MAX names of fields, and each name a row for each
 * kind of correction: some 2,012 rows a day, 736,000 in the longest range, whose names take some 22 MiB.
 * That takes long: not for the loop.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_LEARNING_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_LEARNING_H

#include "server/domain/counters/counters.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"
#include "store/key.h"

#define LEARNING_DAYS_MAX 366
/* Rows of a range: of each day, names of corrected fields twice, and fewer than a hundred others. */
#define LEARNING_ROWS_MAX (LEARNING_DAYS_MAX * (2 * COUNTERS_FIELD_NAMES_MAX + 100))
#define LEARNING_DAYS_DEFAULT 30
#define LEARNING_TOP_FIELDS_DEFAULT 10
#define LEARNING_TOP_FIELDS_MAX 1000

/* Days by days.h, both included; at most LEARNING_DAYS_MAX. */
struct learning_range {
    int64_t first_day;
    int64_t last_day;
};

/* Appends the fields of a GetLearningAnalyticsResponse, but for layout_stats. `top_fields` is from 1
 * to LEARNING_TOP_FIELDS_MAX. */
MUST_CHECK enum err learning_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   const struct learning_range *range, size_t top_fields,
                                   struct buffer *body);

#endif
