/*
 * retention.h: removes the content of old events, by class, from the oldest. Facts, hashes and counts of events stay; the
 * examples that were made of the content go with it. A sweep is an event that lists the events it removed content from, so
 * that a replay, in which they never had any, lowers the same counts at the same place in the log.
 */
#ifndef ERRATA_SERVER_DOMAIN_RETENTION_RETENTION_H
#define ERRATA_SERVER_DOMAIN_RETENTION_RETENTION_H

#include "server/domain/events/removal.h"
#include "server/domain/settings/retention_settings.h"

/* Maximum events that lose their content in one step; the caller may allow fewer. Beside the example of each, the
 * example of its document is made again. */
#define RETENTION_REMOVED_MAX 256
/* Maximum events that a step examines: about 2 ms. A step that examined so many leaves an event, even if no event had
 * content, so that the next one begins after them. */
#define RETENTION_EXAMINED_MAX 500
/* Microseconds of a day. */
#define RETENTION_DAY_US (INT64_C(24) * 3600 * 1000000)
/* The actor of the events. */
#define RETENTION_ACTOR "server"

/* Limits of a step. */
struct retention_step {
    struct org_id org;
    enum content_class class; /* not UNSPECIFIED */
    int64_t recorded_until_us; /* of later events nothing is removed */
    size_t removed_max; /* 1 to RETENTION_REMOVED_MAX */
};

/* Result of a step. */
struct retention_done {
    uint64_t seq; /* of its event; 0: none */
    size_t removed_count; /* events that lost their content */
    bool has_ended; /* the class has nothing more to remove */
};

/* Finds the next class of an organisation, after `after`, whose oldest event above the floor is due; UNSPECIFIED: none is.
 * Days are counted back from `from_us`. Of ret_step all but `removed_max` is set. */
MUST_CHECK enum err retention_find_due(struct store_txn *txn, struct org_id org, int64_t from_us,
                                       enum content_class after, struct retention_step *ret_step);
/* Maximum events that a preview examines: about a second, on the pool. */
#define RETENTION_PREVIEW_MAX 200000
/* Classes of content, without UNSPECIFIED. */
#define RETENTION_CLASSES 3

/* Content of one class that would be removed. */
struct retention_preview {
    enum content_class class;
    uint32_t days; /* 0: for ever */
    int64_t recorded_until_us;
    uint64_t floor_seq;
    uint64_t event_count;
    uint64_t content_bytes;
};

/* Counts the content that would be removed if it was kept for these times, counted back from `from_us`. `ret_is_partial`:
 * there are more events than RETENTION_PREVIEW_MAX to examine. */
MUST_CHECK enum err retention_preview(struct store_txn *txn, struct org_id org,
                                      const struct content_retention_view *retention,
                                      int64_t from_us,
                                      struct retention_preview ret_previews[RETENTION_CLASSES],
                                      bool *ret_is_partial);
/* Removes content, appends the event and applies it. */
MUST_CHECK enum err retention_sweep(struct ctx *ctx, struct store_txn *txn,
                                    const struct retention_step *step,
                                    struct retention_done *ret_done);
/* Removes the content that an imported event removes, before it is applied; does nothing for other events. ERR_CORRUPT if it
 * lists what no removal would have listed. */
MUST_CHECK enum err retention_remove_imported(struct ctx *ctx, struct store_txn *txn,
                                              const struct event *event);

#endif
