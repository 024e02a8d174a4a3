/*
 * fields.h: finds and converts the members of records: by paths, as texts, as times. Records come from many
 * tools, so a path also finds a member whose own name has dots (`attributes.output.value` of a flattened row),
 * and continues into a text that contains a JSON object (a cell of a CSV file).
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_FIELDS_H
#define ERRATA_TOOLS_ERRATA_IMPORT_FIELDS_H

#include "store/base/json.h"
#include "store/base/timestamp.h"

/* Maximum names in a path; the formats have at most five. */
#define FIELDS_PATH_NAMES_MAX 8
/* The last microsecond that RFC 3339 can write, of the year 9999. */
#define FIELDS_TIME_US_MAX (TIMESTAMP_SECONDS_MAX * 1000000 + 999999)

/* Finds the member at a path; null and the empty text count as absent. */
bool fields_find(struct arena *arena, struct json_value record, const char *path,
                 struct json_value *ret_value);
/* Returns a member as text: a string's content, another value as written; empty if it is absent. */
struct slice fields_text(struct arena *arena, struct json_value record, const char *path);
/* Returns a value as text in the same way. */
struct slice fields_value_text(struct arena *arena, struct json_value value);
/* Returns the JSON object or array that a text contains; else the value itself. */
struct json_value fields_parsed(struct arena *arena, struct json_value value);
/* Returns a text as a JSON string. */
struct json_value fields_quoted(struct arena *arena, struct slice text);

/* Reads a time: RFC 3339, the same with a blank for `T` or without an offset (UTC), a day, the digits of seconds,
 * milliseconds, microseconds or nanoseconds since 1970, or a UUID of version 7, which begins with one. Every time that it
 * returns can be written. */
bool fields_time(struct slice text, int64_t *ret_us);
/* Writes microseconds since 1970 as RFC 3339. */
struct slice fields_time_text(struct arena *arena, int64_t us);

#endif
