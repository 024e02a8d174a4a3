/*
 * removal_past.h: which content was removed after an event, for reads as of that event, which cannot show it any more.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_REMOVAL_PAST_H
#define ERRATA_SERVER_DOMAIN_EVENTS_REMOVAL_PAST_H

#include "server/domain/events/removal.h"

/* Events about the organisation that are examined, newest first: removals, changes of settings, tokens and fragments, and
 * captures without another subject. */
#define REMOVAL_PAST_ROWS_MAX 10000

/* Checks that a read of content of a class as of the event `seq` is not below the floor of the class. ERR_PRECONDITION, with a
 * text that names the floor and `noun`, which has the content (such as "corrections"). */
MUST_CHECK enum err removal_check_floor(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        enum content_class class, uint64_t seq, const char *noun);

/* The removals since an event. */
struct removal_past {
    uint64_t seq; /* of that event */
    uint64_t floor_seq; /* the floor of the class then */
    uint64_t example_count; /* examples that were removed since, of all layouts */
};

/* Reads the removals of content of a class after the event `seq`; examines no events if nothing of the class was removed. With
 * more than REMOVAL_PAST_ROWS_MAX events about the organisation after the last removal before `seq` (without a floor: of any
 * content, else: by retention, of the class), the floor was 0 and an example was removed: so a response is rather called
 * incomplete than not. */
MUST_CHECK enum err removal_past_read(struct store_txn *txn, struct org_id org,
                                      enum content_class class, uint64_t seq,
                                      struct removal_past *ret_past);
/* Returns whether the content of an event, which was removed, was there at that time. */
MUST_CHECK enum err removal_is_later(struct store_txn *txn, const struct event *event,
                                     const struct removal_past *past, bool *ret_is_later);

#endif
