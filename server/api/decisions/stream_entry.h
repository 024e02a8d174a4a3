/*
 * stream_entry.h: reads an entry of a stream of decisions: its bytes become the request of RecordDecision, by the same
 * reader and the same checks as a request in JSON. An entry has the fields of a decision, each as a text, or one field
 * `data` with a JSON object of them, in the names of document 002 or of the contract; at most
 * STREAM_ENTRY_FIELDS_MAX fields of STREAM_ENTRY_BYTES_MAX.
 *
 * | field                     | in a flat entry                  | in `data`                      |
 * |---------------------------|----------------------------------|--------------------------------|
 * | `timestamp`, `created_at` | RFC 3339, or seconds since 1970  | the same; seconds may be a number |
 * | `tags`, `exposure_refs`   | a JSON list of texts             | a list of texts                |
 * | any other                 | its text; an empty one is absent | as proto JSON                  |
 * | unknown                   | ignored                          | ignored                        |
 */
#ifndef ERRATA_SERVER_API_DECISIONS_STREAM_ENTRY_H
#define ERRATA_SERVER_API_DECISIONS_STREAM_ENTRY_H

#include "server/domain/dead_letters/dead_letters.h"

#include <errata/v1/decision_service.pb-c.h>

/* The method whose request an entry is. */
#define STREAM_ENTRY_METHOD_PATH "/errata.v1.DecisionService/RecordDecision"
/* Time by which the clock of a producer may be ahead of the server's: an entry of the near future is read once its time has
 * come, since no stored event is in the future. One that is further ahead is invalid. */
#define STREAM_ENTRY_AHEAD_US_MAX (INT64_C(5) * 1000000)

/* Reads an entry into ctx->arena. ERR_INVALID, with every invalid field in ctx->fault; ERR_UNAVAILABLE if its time is ahead by
 * `ret_ahead_us`, which is set in this case only; ERR_MEMORY. */
MUST_CHECK enum err stream_entry_read(struct ctx *ctx, const struct stream_entry *entry,
                                      int64_t *ret_ahead_us,
                                      const Errata__V1__RecordDecisionRequest **ret_request);

#endif
