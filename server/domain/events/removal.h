/*
 * removal.h: which events have lost their content: those of a class up to its floor, by retention, but for corrections of a
 * store format below 5 that are not examples, since their facts do not state it; and events that were erased, one by one. The
 * rows follow the order of the log, so in a replay, too, a removal is known only after its event.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_REMOVAL_H
#define ERRATA_SERVER_DOMAIN_EVENTS_REMOVAL_H

#include "store/log.h"

#include <errata/v1/content_retention.fields.h>

/* Returns the class by which retention removes the content of events of a kind; UNSPECIFIED: their content is kept. */
enum content_class removal_class_of(enum event_kind_number kind);
struct key key_removal_floor(struct org_id org, enum content_class class);
/* Returns the floor of a class: the content of its events up to this seq was removed. 0: that of none. */
MUST_CHECK enum err removal_floor(struct store_txn *txn, struct org_id org,
                                  enum content_class class, uint64_t *ret_seq);
MUST_CHECK enum err removal_put_floor(struct store_txn *txn, struct org_id org,
                                      enum content_class class, uint64_t seq);
/* The row of an event that was erased; in the same table. */
struct key key_removal_erased(struct org_id org, uint64_t seq);
/* Marks an event that was erased by the event `erased_by_seq`. */
MUST_CHECK enum err removal_put_erased(struct store_txn *txn, struct org_id org, uint64_t seq,
                                       uint64_t erased_by_seq);
/* Returns by which event an event was erased; 0: by none. */
MUST_CHECK enum err removal_erased_by(struct store_txn *txn, struct org_id org, uint64_t seq,
                                      uint64_t *ret_seq);
/* Returns whether any event of the organisation was erased. */
MUST_CHECK enum err removal_has_erased(struct store_txn *txn, struct org_id org, bool *ret_has);
/* Returns whether the removal of an event's content was applied. In a replay that is later than the content is
 * gone (event->content_removed). */
MUST_CHECK enum err removal_precedes(struct store_txn *txn, const struct event *event,
                                     bool *ret_precedes);

#endif
