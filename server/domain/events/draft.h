/*
 * draft.h: how a decision becomes an event of the log: when it happened, what it is about, appended and
 * applied in one step. Each kind of event has its own facts, which its capability writes into the draft.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_DRAFT_H
#define ERRATA_SERVER_DOMAIN_EVENTS_DRAFT_H

#include "server/domain/events/subject.h"

/* The time of an event as set by its caller; an event with such a time is backfilled. */
struct event_time {
    bool is_given;
    int64_t created_at_us; /* 0 if not set */
};

/* The source of an event that happened then. */
static inline enum log_source event_time_source(const struct event_time *time)
{
    return time->is_given ? SOURCE_BACKFILL : SOURCE_LIVE;
}

/* Adds to ctx->fault what is wrong with a given time, as the field created_at of `path` (empty: the
 * request itself): before 1970, or later than `now_us` (INT64_MAX: not known yet). */
void event_time_check(struct ctx *ctx, const struct event_time *time, struct slice path,
                      int64_t now_us);
/* The same with the time that the organisation's next event would have. Fails only if that is not
 * known: faults are for the caller's fault_result. */
MUST_CHECK enum err event_time_check_now(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         const struct event_time *time, struct slice path);

/* Gives a draft its time, the given one, else its stamp's; before that the log's next stamp, unless it
 * has one already. */
MUST_CHECK enum err event_draft_stamp(struct ctx *ctx, struct store_txn *txn,
                                      const struct event_time *time, struct event_draft *draft);
/* Adds a subject, of which a draft has at most EVENT_SUBJECTS_MAX; none for an empty id. Borrowed. */
void event_draft_add_subject(struct event_draft *draft, enum subject_kind kind, struct slice id);
/* Adds an id in the arena as a subject. */
MUST_CHECK enum err event_draft_add_id(struct arena *arena, struct event_draft *draft,
                                       enum subject_kind kind, struct uuid id);

/* Applies a stored event to the tables of a capability. */
typedef enum err event_apply_fn(struct ctx *ctx, struct store_txn *txn, const struct event *event);

/* Appends a draft and applies the event. */
MUST_CHECK enum err event_draft_append(struct ctx *ctx, struct store_txn *txn,
                                       const struct event_draft *draft, event_apply_fn *apply,
                                       uint64_t *ret_seq);

#endif
