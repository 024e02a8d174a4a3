/*
 * entity_rows.h: which corrections of an entity are not superseded. A correction is superseded once each of its
 * fields was corrected later, by created_at, then seq, on the same entity. An event that is captured late may
 * be dated between stored ones. Each correction that is not superseded has a row with the fields of which it is
 * the newest correction. Superseded corrections have rows in a table of their own, which only a retraction
 * reads.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_ENTITY_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_ENTITY_ROWS_H

#include "server/domain/events/feedback.h"

/* Maximum live corrections of one entity with which an event is compared; the newest are used. Each live
 * correction is the newest of at least one field, so only an entity with more distinct fields can exceed this
 * number. Also the maximum superseded ones that a retraction reads, newest first: 5 ms of the writer's time; a field
 * that none of them corrected is left without a correction. */
#define ENTITY_ROWS_MAX 1000

/* Adds a correction that names an entity and changed a field, and marks the examples that it supersedes.
 * `ret_superseded_by_seq` is the seq of the new correction itself if corrections that were captured before it,
 * but are dated later, supersede it; else 0. */
MUST_CHECK enum err entity_rows_add(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event,
                                    const struct feedback_event_view *view,
                                    uint64_t *ret_superseded_by_seq);

/* Removes a correction that entity_rows_add added and that the event `retraction_seq` retracts. Each of its
 * fields is assigned to the newest other correction of it; examples that are no longer superseded lose their
 * marks. */
MUST_CHECK enum err entity_rows_remove(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event,
                                       const struct feedback_event_view *view,
                                       uint64_t retraction_seq);

#endif
