/*
 * retraction.h: which events were retracted, by whom and when. A retraction writes the row of the
 * retracted event; capabilities that reverse the event, and all lists of events, read it.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_RETRACTION_H
#define ERRATA_SERVER_DOMAIN_EVENTS_RETRACTION_H

#include "store/log.h"

/* How an event was retracted. Slices are borrowed from the transaction. */
struct retraction {
    uint64_t seq; /* seq of the event that records the retraction; 0: the event was not retracted */
    struct uuid id; /* id of that event; so are the members below */
    int64_t retracted_at_us;
    struct slice retracted_by;
    struct slice reason; /* empty: the content was removed */
    struct uuid event_id; /* the retracted event */
    uint64_t event_seq;
};

struct key key_retracted(struct org_id org, uint64_t event_seq);
/* Writes the row of a retracted event. */
MUST_CHECK enum err retraction_put(struct store_txn *txn, struct org_id org, uint64_t event_seq,
                                   uint64_t retraction_seq);
/* Returns the seq of the event that retracted an event; 0 if it was not retracted. */
MUST_CHECK enum err retraction_find(struct store_txn *txn, struct org_id org, uint64_t event_seq,
                                    uint64_t *ret_seq);
/* Reads an EVENT_RETRACTED. ERR_CORRUPT for other events. */
MUST_CHECK enum err retraction_of_event(const struct event *event,
                                        struct retraction *ret_retraction);
/* Reads the retraction of an event; `seq` is 0 if it was not retracted. */
MUST_CHECK enum err retraction_read(struct store_txn *txn, struct org_id org, uint64_t event_seq,
                                    struct retraction *ret_retraction);

#endif
