/*
 * diff.h: the member-wise difference of a stored before and after at the top level, as the wire bytes
 * of FieldDiff. Made when an event is answered, never stored.
 */
#ifndef ERRATA_SERVER_DOMAIN_JSON_DIFF_H
#define ERRATA_SERVER_DOMAIN_JSON_DIFF_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Appends one FieldDiff as field `field` for each member that differs: those of `before_json` in its
 * order, then those that only `after_json` has. Empty texts are empty objects. ERR_MEMORY alone. */
MUST_CHECK enum err diff_append(struct arena *arena, uint32_t field, struct slice before_json,
                                struct slice after_json, struct buffer *buffer);

#endif
