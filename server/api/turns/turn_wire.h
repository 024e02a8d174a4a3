/*
 * turn_wire.h: encodes turns for responses, and reads the vectors of requests.
 */
#ifndef ERRATA_SERVER_API_TURNS_TURN_WIRE_H
#define ERRATA_SERVER_API_TURNS_TURN_WIRE_H

#include "server/domain/turns/strategies.h"
#include "server/pipeline/service.h"
#include "store/base/buffer.h"

#include <errata/v1/turn_service.pb-c.h>

/* Appends a turn as field `field`, with the current feedback on it. */
MUST_CHECK enum err turn_wire_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  const struct turn_record *record, uint32_t field,
                                  struct buffer *body);
/* Appends the members of a GetTurnResponse: a turn, and the same turn in the form of
 * `metadata.json`, with the current feedback on it. */
MUST_CHECK enum err turn_wire_put_response(struct arena *arena, struct store_txn *txn,
                                           struct org_id org, const struct turn_record *record,
                                           struct buffer *body);
/* Reads the references of a request, which are borrowed. ERR_MEMORY. */
MUST_CHECK enum err turn_wire_read_references(const struct service *service,
                                              char *const *references, size_t count,
                                              struct turn_references *ret_references);
/* Reads the caller's vector; if it has no numbers, `ret_vector` has no space. An invalid vector
 * causes a fault of the field `embedding`. ERR_MEMORY. */
MUST_CHECK enum err turn_wire_take_vector(struct ctx *ctx, const float *values, size_t count,
                                          struct turn_vector *ret_vector);
/* Fails with the faults of the request, if it has any; embeds the text if `vector` has no space. The
 * vector is valid as long as the arena of the service's ctx. ERR_INVALID, ERR_MEMORY, ERR_CANCELLED. */
MUST_CHECK enum err turn_wire_embed(const struct service *service, struct org_id org,
                                    struct slice text, struct turn_vector *vector);
/* Reads a search, and embeds its query; `is_past` and `as_of_seq` are not set. The query is in the arena of the service's
 * ctx, its texts are borrowed from the request. ERR_INVALID, ERR_MEMORY, ERR_CANCELLED. */
MUST_CHECK enum err turn_wire_read_search(const struct service *service, struct org_id org,
                                          const Errata__V1__SearchStrategiesRequest *request,
                                          struct strategy_query **ret_query);

#endif
