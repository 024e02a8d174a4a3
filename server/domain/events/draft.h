/*
 * draft.h: turns a decision into an event of the log: sets its time and subjects, then appends and
 * applies it in one step. Each capability writes the facts of its own kinds of event into the
 * draft.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_DRAFT_H
#define ERRATA_SERVER_DOMAIN_EVENTS_DRAFT_H

#include "server/domain/events/subject.h"

/* The time of an event as set by its caller; an event with such a time is backfilled. */
struct event_time {
    bool is_given;
    int64_t created_at_us; /* 0 if not set */
};

/* Returns the source of an event with this time. */
static inline enum log_source event_time_source(const struct event_time *time)
{
    return time->is_given ? SOURCE_BACKFILL : SOURCE_LIVE;
}

/* Adds a fault to ctx->fault for the field created_at of `path` (empty: the request itself) if the
 * time is before 1970 or after `now_us` (INT64_MAX: not known yet). */
void event_time_check(struct ctx *ctx, const struct event_time *time, struct slice path,
                      int64_t now_us);
/* Does the same check against the time that the organisation's next event would have. Returns an
 * error only if that time cannot be read; the caller reports the faults with fault_result. */
MUST_CHECK enum err event_time_check_now(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                         const struct event_time *time, struct slice path);

/* Sets the draft's stamp to the log's next one, unless it has a stamp already, and its time to the
 * given one or, if there is none, to that of the stamp. */
MUST_CHECK enum err event_draft_stamp(struct ctx *ctx, struct store_txn *txn,
                                      const struct event_time *time, struct event_draft *draft);
/* Adds a subject, which is borrowed; ignores an empty id. A draft has at most EVENT_SUBJECTS_MAX
 * subjects. */
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
