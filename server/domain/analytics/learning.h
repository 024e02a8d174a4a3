/*
 * learning.h: the learning report of a range of days: for an organisation from its counters; for one layout, one
 * family or some kinds of annotators from events. Counters are read in one walk over the rows of the range. A day has
 * at most COUNTERS_FIELD_NAMES_MAX names of fields, and each name has a row for each kind of correction: about 2,012
 * rows a day, 736,000 in the longest range, whose names take about 22 MiB. Neither may run on the
 * event loop, since it would delay other calls.
 */
#ifndef ERRATA_SERVER_DOMAIN_ANALYTICS_LEARNING_H
#define ERRATA_SERVER_DOMAIN_ANALYTICS_LEARNING_H

#include "server/domain/analytics/days.h"
#include "server/domain/analytics/field_counts.h"
#include "server/domain/counters/counters.h"
#include "server/domain/layouts/family_members.h"
#include "store/base/ctx.h"
#include "store/key.h"

#include <errata/v1/analytics_service.views.h>
#include <errata/v1/feedback_event.fields.h>

#define LEARNING_DAYS_MAX 366
/* Maximum rows of a day: two for each name of a corrected field, and fewer than a hundred others.
 * More rows mean that the store is corrupt. */
#define LEARNING_DAY_ROWS_MAX (2 * COUNTERS_FIELD_NAMES_MAX + 100)
#define LEARNING_DAYS_DEFAULT 30
#define LEARNING_TOP_FIELDS_DEFAULT 10
#define LEARNING_TOP_FIELDS_MAX 1000

/* Maximum events of a layout, of a family, or of some kinds of annotators, that are read, newest first; takes 0.2 s. A
 * layout has a few thousand. */
#define LEARNING_EVENTS_MAX 100000

/* Days as in days.h, both included; at most LEARNING_DAYS_MAX. */
struct learning_range {
    int64_t first_day;
    int64_t last_day;
};

struct learning_query {
    struct org_id org;
    struct learning_range range;
    struct slice layout_fingerprint; /* only this layout; empty: any */
    const struct family_members *family; /* only this family; NULL: any. Not with a layout */
    uint32_t annotator_kinds; /* only events of this set (annotator_kinds.h); 0: of any kind */
    size_t top_fields; /* maximum length of each list of fields; 1 to LEARNING_TOP_FIELDS_MAX */
};

struct learning_day {
    char date[DAY_TEXT_BYTES];
    uint64_t event_count;
    uint64_t correction_count; /* number of events that correct an extraction */
    uint64_t mapping_count; /* number of events that confirm or reject a mapping */
    uint64_t extraction_count;
    uint64_t corrected_count;
    double mean_confidence; /* mean confidence of the extractions; 0 without any */
};

/* Corrected fields, most frequent first. */
struct learning_fields {
    const struct field_count_view *items;
    size_t count;
};

/* Number of values of FeedbackEventType. */
#define LEARNING_TYPES_MAX (FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED + 1)

/* The report. Lists are allocated in the arena; names are borrowed from the transaction. */
struct learning_report {
    const struct learning_day *days;
    size_t day_count;
    struct event_type_count_view types[LEARNING_TYPES_MAX]; /* sorted by frequency, descending */
    size_t type_count;
    struct learning_fields fields[FIELD_OF_BOTH + 1]; /* indexed by enum field_kind */
    /* For a layout, the current totals, since layouts have no daily counts; 0 for a family. */
    uint64_t extraction_count;
    uint64_t corrected_count;
    double correction_rate; /* correction rate of the extractions; 0 without any */
    uint64_t mapping_confirmed_count;
    uint64_t mapping_rejected_count;
    uint64_t mapping_applied_count; /* 0 for a layout */
    uint64_t retracted_count; /* feedback events of the range that were retracted since */
    bool is_incomplete; /* more than LEARNING_EVENTS_MAX events matched; older ones are left out */
};

MUST_CHECK enum err learning_read(struct ctx *ctx, struct store_txn *txn,
                                  const struct learning_query *query,
                                  struct learning_report *ret_report);

#endif
