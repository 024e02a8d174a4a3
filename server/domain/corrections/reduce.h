/*
 * reduce.h: how a before, after or corrected output of any size becomes a JSON object of at most
 * 10,240 bytes. A text that fits stays as it came. A larger one keeps the members that differ from
 * the other side, and the context members that identify what was corrected; of a list of objects that
 * both sides have, it keeps the items that differ, each with its context members and the members that
 * differ (items that only this side has, if there is room for them); then strings over 500
 * characters are cut to 500; then the largest members are replaced by {"truncated_bytes": N} until it
 * fits; and if even that is too much (thousands of members, or names of kilobytes), members are
 * omitted and one member `truncated_bytes` has the number of their bytes. The same input always gives
 * the same text.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_REDUCE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_REDUCE_H

#include "server/domain/json/members.h"

/* The most bytes of before_json, after_json and corrected_output_json once stored. */
#define REDUCE_BYTES_MAX 10240
/* The most characters of a string in a text that was too large. */
#define REDUCE_STRING_CHARACTERS_MAX 500
/* The member that has the number of bytes of what was omitted. */
#define REDUCE_OMITTED_NAME "truncated_bytes"

/* Returns whether members of this name identify what was corrected. */
bool reduce_is_context(struct slice name);
/* The text to store for an object: `json` itself if it fits, else a reduced one in the arena.
 * `members` are its members and `others` the other side's, both compared with each other. Returns OK or
 * ERR_MEMORY. */
MUST_CHECK enum err reduce_object(struct arena *arena, struct slice json,
                                  const struct members *members, const struct members *others,
                                  struct slice *ret_json, bool *ret_reduced);

#endif
