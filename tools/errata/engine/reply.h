/*
 * reply.h: reads a reply's JSON for tables: its members as text for people. Replies are written by
 * the codec of this program, so a missing member has its default value.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_REPLY_H
#define ERRATA_TOOLS_ERRATA_ENGINE_REPLY_H

#include "store/base/json.h"
#include "tools/errata/cli.h"
#include "tools/errata/terminal/table.h"

/* A walk over the elements of an array. */
struct reply_walk {
    struct json_walk rest;
    struct slice key; /* empty */
    struct json_value row; /* the current element */
};

/* Checks the text and returns its value. */
MUST_CHECK enum cli_exit reply_parse(struct cli *cli, struct slice json,
                                     struct json_value *ret_value);
/* Returns a member of an object; an empty object if there is none. */
struct json_value reply_member(struct json_value object, const char *name);
/* Returns a member as text: a string's content, a number or a word as written; empty if it is
 * absent. */
struct slice reply_text(struct cli *cli, struct json_value object, const char *name);
/* Does the same for a cell of a table: on a terminal, line feeds and runs of blanks become one
 * blank. */
struct slice reply_one_line(struct cli *cli, struct json_value object, const char *name);
/* Returns an enum value without its type's prefix, such as FEEDBACK_EVENT_TYPE_. */
struct slice reply_word(struct cli *cli, struct json_value object, const char *name,
                        const char *prefix);
/* Formats a number; on a terminal with commas between thousands. */
struct slice reply_grouped(struct cli *cli, struct slice digits);
/* Formats a member that is a count; 0 if it is absent. */
struct slice reply_count(struct cli *cli, struct json_value object, const char *name);
/* Returns a member that is a count; 0 if it is absent. */
uint64_t reply_integer(struct cli *cli, struct json_value object, const char *name);
/* Formats a time to the second, with a blank between day and time. */
struct slice reply_time(struct cli *cli, struct json_value object, const char *name);
/* Formats the time since an event, or until it, by the local clock. */
struct slice reply_ago(struct cli *cli, struct json_value object, const char *name);
/* Formats a time for a table: relative on a terminal, absolute otherwise. */
struct slice reply_moment(struct cli *cli, struct json_value object, const char *name);
/* Formats a real number; on a terminal with four significant digits. 0 if it is absent. */
struct slice reply_number(struct cli *cli, struct json_value object, const char *name);
/* Formats a time for a separate line: absolute, and on a terminal also relative. */
struct slice reply_full_time(struct cli *cli, struct json_value object, const char *name);
/* Joins the strings of an array with commas. */
struct slice reply_list(struct cli *cli, struct json_value object, const char *name);
/* Aligns the values that reply_print_member prints from now on; `longest` is the longest of their
 * titles. */
void reply_align_members(struct cli *cli, const char *longest);
/* Prints a line `title value`, cleaned; nothing if the value is empty. */
void reply_print_member(struct cli *cli, const char *title, struct slice value);
/* Prints a note if a server time stamp differs from the local clock by more than a minute, since
 * time spans on the command line use the local clock. */
void reply_note_clock(struct cli *cli, struct json_value object, const char *name);
/* Prints a note for each of an object's `warnings`. */
void reply_note_warnings(struct cli *cli, struct json_value object);
/* Starts a walk over an array member; over nothing if there is none. */
struct reply_walk reply_walk(struct json_value object, const char *name);
/* Advances to the next element; returns false at the end. */
static inline bool reply_next(struct reply_walk *walk)
{
    return json_walk_next(&walk->rest, &walk->key, &walk->row);
}

#endif
