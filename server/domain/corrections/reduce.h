/*
 * reduce.h: reduces a `before`, `after` or corrected output of any size to a JSON object of at most 10,240
 * bytes. A text that fits is unchanged. Of a larger one: (1) only the members that differ from the other side
 * and the context members, which identify the corrected object, are kept; of a list of objects on both sides,
 * the items that differ, each with its context members and its differing members, and items that only this side
 * has if there is room; (2) strings over 500 characters are cut to 500; (3) the largest members are replaced by
 * {"truncated_bytes": N} until the text fits; (4) if that is not sufficient (thousands of members, or names of
 * kilobytes), members are omitted and one member `truncated_bytes` has the number of their bytes. Each step
 * runs only if the previous ones were not sufficient. The same input always gives the same text.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_REDUCE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_REDUCE_H

#include "server/domain/json/members.h"

/* Maximum stored bytes of before_json, after_json and corrected_output_json. */
#define REDUCE_BYTES_MAX 10240
/* Maximum characters of a string in a text that is reduced. */
#define REDUCE_STRING_CHARACTERS_MAX 500
/* The member with the number of omitted bytes. */
#define REDUCE_OMITTED_NAME "truncated_bytes"

/* Returns whether members of this name identify the corrected object. */
bool reduce_is_context(struct slice name);
/* Returns the text to store for an object: `json` itself if it fits, else a reduced text in the arena.
 * `members` are its members and `others` those of the other side, with the result of comparing both. Returns OK
 * or ERR_MEMORY. */
MUST_CHECK enum err reduce_object(struct arena *arena, struct slice json,
                                  const struct members *members, const struct members *others,
                                  struct slice *ret_json, bool *ret_reduced);

#endif
