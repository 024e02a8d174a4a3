/*
 * view.h: prints a message of the contract: as a row of a table, as the lines of `show`, as a record of
 * CSV (RFC 4180). resources.def lists the members; their formats follow from the descriptors. CSV has
 * the contract's names and the whole values; on a terminal its control characters are escaped.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_VIEW_H
#define ERRATA_TOOLS_ERRATA_ENGINE_VIEW_H

#include "server/codec/contract.h"
#include "tools/errata/engine/reply.h"

/* Minimum characters of a short id. */
#define VIEW_ID_BYTES_MIN 8
/* Maximum fields of a record of CSV. */
#define VIEW_CSV_FIELDS_MAX 24

/* The option of every command that can print CSV. */
#define CSV_OPTION                                                                                 \
    {                                                                                              \
        "csv", NULL, "as CSV with a heading (RFC 4180), for spreadsheets"                          \
    }

/* Colours the last row of the table, according to its values. */
typedef void view_colour(struct cli *cli, struct json_value row, struct table *table);

struct view_column;

struct view {
    const struct message_info *message;
    const struct view_column *specs[TABLE_COLUMNS_MAX];
    const struct field_info *fields[TABLE_COLUMNS_MAX]; /* NULL: the cell takes the whole row */
    struct table_column columns[TABLE_COLUMNS_MAX]; /* columns of the table */
    size_t id_bytes[TABLE_COLUMNS_MAX]; /* visible characters of an id; 0: all */
    size_t count;
};

/* Finds the columns of a message. */
void view_init(struct view *view, const struct message_info *message);
/* Formats the cells of one row; view->count of them. */
void view_cells(struct cli *cli, const struct view *view, struct json_value row,
                struct slice *cells);
/* On a terminal, shortens ids to the shortest prefix length at which the ids of all rows differ. */
void view_shorten_ids(struct cli *cli, struct view *view, struct json_value reply,
                      const char *rows);
/* Builds a table of the rows of an array member; does not print it. */
MUST_CHECK enum cli_exit view_table(struct cli *cli, const struct view *view,
                                    struct json_value reply, const char *rows, view_colour *colour,
                                    struct table *ret_table);
/* Prints the lines of `show`. */
void view_print_fields(struct cli *cli, const struct message_info *message,
                       struct json_value object);
/* Prints the rows of an array member as a table after an empty line; nothing if there are none. */
MUST_CHECK enum cli_exit view_print_table(struct cli *cli, const char *message,
                                          struct json_value reply, const char *rows,
                                          view_colour *colour);

/* Returns whether --csv is given. */
bool view_csv_wanted(const struct cli *cli);
/* Refuses --csv together with --json. */
MUST_CHECK enum cli_exit view_csv_check(struct cli *cli);
/* Prints a record of the texts. */
MUST_CHECK enum cli_exit view_csv_print(struct cli *cli, const struct slice *fields, size_t count);
/* Appends the fields of a message to a record that has `*count` of them; `object` NULL: their titles. */
void view_csv_append(struct cli *cli, const struct message_info *message,
                     const struct json_value *object, struct slice *fields, size_t *count);
/* Prints the heading of a message's records. */
MUST_CHECK enum cli_exit view_csv_heading(struct cli *cli, const struct message_info *message);
/* Prints a record of each element of an array member. */
MUST_CHECK enum cli_exit view_csv_rows(struct cli *cli, const struct message_info *message,
                                       struct json_value reply, const char *rows);

/* Returns the field of a path such as `stats.page_count`; NULL for the empty path. Asserts that it
 * exists. */
const struct field_info *view_find_field(const struct message_info *message, const char *path);
/* Returns the field with this name; NULL if there is none. */
const struct field_info *view_field_named(const struct message_info *message, struct slice name);
/* Returns the message of the contract with a short name, such as SkuMapping. */
const struct message_info *view_message(const char *name);
/* Formats a member by its descriptor; `full`: for a separate line. */
struct slice view_member(struct cli *cli, struct json_value object, const struct field_info *field,
                         bool full);

#endif
