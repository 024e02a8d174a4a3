/*
 * view.h: how a message of the contract is shown: as a row of a table, as lines of `show`, as a record
 * of CSV. resources.def lists the members; their formats follow from the descriptors.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_VIEW_H
#define ERRATA_TOOLS_ERRATA_ENGINE_VIEW_H

#include "server/codec/contract.h"
#include "tools/errata/engine/reply_csv.h"

/* A short id has at least so many characters. */
#define VIEW_ID_BYTES_MIN 8

/* Colours the row that was added last, by what it says. */
typedef void view_colour(struct cli *cli, struct json_value row, struct table *table);

struct view_column;

struct view {
    const struct message_info *message;
    const struct view_column *specs[TABLE_COLUMNS_MAX];
    const struct field_info *fields[TABLE_COLUMNS_MAX]; /* NULL: the cell takes the whole row */
    struct table_column columns[TABLE_COLUMNS_MAX]; /* as the table takes them */
    size_t id_bytes[TABLE_COLUMNS_MAX]; /* shown of an id; 0: all */
    size_t count;
};

/* The columns of a message, by its short name. */
void view_init(struct view *view, const struct message_info *message);
/* The cells of one row; view->count of them. */
void view_cells(struct cli *cli, const struct view *view, struct json_value row,
                struct slice *cells);
/* On a terminal: shortens ids to the shortest prefixes, of one length, that tell the rows of an array
 * apart. */
void view_shorten_ids(struct cli *cli, struct view *view, struct json_value reply,
                      const char *rows);
/* The rows of an array member as a table, which is not printed yet. */
MUST_CHECK enum cli_exit view_table(struct cli *cli, const struct view *view,
                                    struct json_value reply, const char *rows, view_colour *colour,
                                    struct table *ret_table);
/* The lines of `show`. */
void view_print_fields(struct cli *cli, const struct message_info *message,
                       struct json_value object);
/* The columns of --csv, in the cli's arena; none where the message has none. */
MUST_CHECK enum cli_exit view_csv(struct cli *cli, const struct message_info *message,
                                  struct reply_csv *ret_csv);

/* The field of a path such as `stats.page_count`, NULL for the empty path. Asserts that it exists. */
const struct field_info *view_find_field(const struct message_info *message, const char *path);
/* The field with a name; NULL if there is none. */
const struct field_info *view_field_named(const struct message_info *message, struct slice name);
/* The message of the contract with a short name, such as SkuMapping. */
const struct message_info *view_message(const char *name);
/* A member formatted as its descriptor says; `full`: for a line of its own. */
struct slice view_member(struct cli *cli, struct json_value object, const struct field_info *field,
                         bool full);

#endif
