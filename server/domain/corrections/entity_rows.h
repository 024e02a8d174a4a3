/*
 * entity_rows.h: which corrections of an entity are not superseded. A correction is superseded once each of
 * its fields was corrected again later, by created_at, then seq, on the same entity; history that is
 * reported later may belong in the middle. Rows keep the corrections that are not superseded, each with the
 * fields that none later corrected; for every field the newest correction of it has a row. Those that are
 * superseded have rows of their own, which only a retraction reads.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_ENTITY_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_ENTITY_ROWS_H

#include "server/domain/events/feedback.h"

/* Live corrections of one entity that one event is compared with: the newest. Each live correction
 * holds at least one field that none after it corrected, so only an entity with more distinct fields
 * than this has more. */
#define ENTITY_ROWS_MAX 1000
/* Superseded corrections of one entity that are read, newest first, when one is retracted: 5 ms of the writer's time. A
 * field that none of them corrected stays without a correction. */
#define ENTITY_PAST_MAX 1000

/* Adds a correction that names an entity and changed some field, and marks the examples that it supersedes.
 * `ret_superseded_by_seq` is its own seq if later corrections that were captured before supersede it, else 0. */
MUST_CHECK enum err entity_rows_add(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event,
                                    const struct feedback_event_view *view,
                                    uint64_t *ret_superseded_by_seq);

/* Removes a correction that entity_rows_add added and that is retracted by the event `retraction_seq`: each of its
 * fields belongs again to the newest other correction of it, and examples that are not superseded any more lose
 * their marks. */
MUST_CHECK enum err entity_rows_remove(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event,
                                       const struct feedback_event_view *view,
                                       uint64_t retraction_seq);

#endif
