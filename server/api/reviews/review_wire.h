/*
 * review_wire.h: encodes reviews for responses.
 */
#ifndef ERRATA_SERVER_API_REVIEWS_REVIEW_WIRE_H
#define ERRATA_SERVER_API_REVIEWS_REVIEW_WIRE_H

#include "store/base/buffer.h"
#include "store/log.h"

/* Appends a review as field `field`, as its event recorded it. */
MUST_CHECK enum err review_wire_put(const struct event *event, uint32_t field, struct buffer *body);
/* Does the same, and adds the members of its retraction, if it was retracted. */
MUST_CHECK enum err review_wire_put_whole(struct arena *arena, struct store_txn *txn,
                                          const struct event *event, uint32_t field,
                                          struct buffer *body);

#endif
