/*
 * reply.h: a reply's JSON, taken apart for tables: members as the text that a person reads. Replies
 * were written by our own codec, so what is missing is a default, not a fault.
 */
#ifndef ERRATA_TOOLS_ERRATA_REPLY_H
#define ERRATA_TOOLS_ERRATA_REPLY_H

#include "store/base/json.h"
#include "tools/errata/cli.h"

/* Checks the text and gives its value. */
MUST_CHECK enum cli_exit reply_parse(struct cli *cli, struct slice json,
                                     struct json_value *ret_value);
/* A member of an object; an empty object where there is none. */
struct json_value reply_member(struct json_value object, const char *name);
/* A member as text: a string's content, a number or a word as written, empty where there is none. */
struct slice reply_text(struct cli *cli, struct json_value object, const char *name);
/* An enum value without its type's prefix, such as EVENT_TYPE_. */
struct slice reply_word(struct cli *cli, struct json_value object, const char *name,
                        const char *prefix);
/* A time to the second, with a blank between day and time. */
struct slice reply_time(struct cli *cli, struct json_value object, const char *name);
/* The strings of an array, separated by commas. */
struct slice reply_list(struct cli *cli, struct json_value object, const char *name);
/* Starts a walk over an array member; over nothing where there is none. */
struct json_walk reply_walk(struct json_value object, const char *name);

#endif
