/*
 * diff.h: the differences between a stored `before` and `after` by member, as the wire bytes of
 * FieldDiff: at the top level, and within lists of objects. Made when an event is read, never
 * stored.
 */
#ifndef ERRATA_SERVER_DOMAIN_JSON_DIFF_H
#define ERRATA_SERVER_DOMAIN_JSON_DIFF_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Maximum entries of an event's diff, more than a person reads. Further ones are omitted. */
#define DIFF_ENTRIES_MAX 200

/* Appends one FieldDiff as field `field` for each member that differs: those of `before_json` in its
 * order, then those that only `after_json` has. Empty texts are empty objects. Returns OK or ERR_MEMORY. */
MUST_CHECK enum err diff_append(struct arena *arena, uint32_t field, struct slice before_json,
                                struct slice after_json, struct buffer *buffer);

#endif
