/*
 * turn_wire.h: turns in responses.
 */
#ifndef ERRATA_SERVER_API_TURNS_TURN_WIRE_H
#define ERRATA_SERVER_API_TURNS_TURN_WIRE_H

#include "server/domain/turns/turns.h"
#include "store/base/buffer.h"

/* Returns the encoded turn of an event with what is said of it, in the arena. `feedback`: borrowed. */
MUST_CHECK enum err turn_wire_encode(struct arena *arena, const struct event *event,
                                     const struct user_feedback_view *feedback,
                                     struct slice *ret_turn);
/* Appends a turn as field `field`, with what is said of it now. */
MUST_CHECK enum err turn_wire_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct turn_record *record, uint32_t field,
                                  struct buffer *body);

#endif
