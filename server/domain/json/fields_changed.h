/*
 * fields_changed.h: the names of the fields that a correction changed, as the server derives them:
 * the names in `field` or `field_name` of `after` or `meta`, else the top-level members that differ
 * between `before` and `after`, with the items of `lines` compared member by member. Used by
 * analytics and for the marks of superseded examples.
 */
#ifndef ERRATA_SERVER_DOMAIN_JSON_FIELDS_CHANGED_H
#define ERRATA_SERVER_DOMAIN_JSON_FIELDS_CHANGED_H

#include "server/domain/json/members.h"

/* Maximum names of an event; further ones are not listed. */
#define FIELDS_CHANGED_MAX 200
/* Maximum bytes of a name; a longer one is cut between characters. */
#define FIELDS_CHANGED_NAME_BYTES_MAX 256

struct fields_changed {
    struct slice names[FIELDS_CHANGED_MAX]; /* distinct names, allocated in the arena */
    size_t count;
};

/* `before` and `after` are compared already; `meta` is a checked object. Names that are empty or
 * have control characters are left out. Fails only with ERR_MEMORY. */
MUST_CHECK enum err fields_changed_derive(struct arena *arena, const struct members *before,
                                          const struct members *after, struct json_value meta,
                                          struct fields_changed *ret_fields);

#endif
