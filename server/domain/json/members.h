/*
 * members.h: compares the members of two JSON objects: which are in both, and which differ.
 * Reduction, the changed fields and the diff are based on it. Accepts only text that passed
 * json_check. A `before` of 10 MB is read once, and compared in the order of its sorted names.
 */
#ifndef ERRATA_SERVER_DOMAIN_JSON_MEMBERS_H
#define ERRATA_SERVER_DOMAIN_JSON_MEMBERS_H

#include "store/base/json.h"

/* A member of an object. Slices are borrowed from the object's text; a name with escapes is
 * allocated in the arena. */
struct member {
    struct slice name; /* unescaped */
    struct slice quoted; /* name as written, with its quotes */
    struct json_value value;
    bool differs; /* the member of the other object differs, or is missing */
};

struct members {
    struct member *items; /* members in the order of the text */
    struct member **by_name; /* the same, by the bytes of their names, ascending */
    size_t count;
};

/* Returns the value of a checked text without surrounding white space; `{}` for the empty text. */
struct json_value members_value_of(struct slice json);
/* Reads an object; any other value has no members. Fails only with ERR_MEMORY. */
MUST_CHECK enum err members_read(struct arena *arena, struct json_value object,
                                 struct members *ret_members);
/* Sets `differs` in both. Values are equal as JSON, not as text. Fails only with ERR_MEMORY. */
MUST_CHECK enum err members_compare(struct arena *arena, struct members *a, struct members *b);
/* Finds a member by name; NULL if there is none. */
const struct member *members_find(const struct members *members, struct slice name);

#endif
