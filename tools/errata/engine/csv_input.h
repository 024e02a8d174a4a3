/*
 * csv_input.h: reads a CSV file row by row. Columns are found by the names in its heading, in any order
 * and case. Errors name the line.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_CSV_INPUT_H
#define ERRATA_TOOLS_ERRATA_ENGINE_CSV_INPUT_H

#include "tools/errata/cli.h"
#include "tools/errata/terminal/csv.h"

/* Maximum columns that one command reads. */
#define CSV_INPUT_COLUMNS_MAX 8

struct csv_input_column {
    const char *name;
    bool required; /* the file must have it */
};

struct csv_input {
    struct cli *cli;
    const char *path; /* borrowed; "-": standard input */
    FILE *file; /* owned unless it is standard input */
    struct csv_reader reader;
    struct csv_record record; /* record of the last row */
    size_t places[CSV_INPUT_COLUMNS_MAX]; /* index of each column in a record; SIZE_MAX: missing */
};

/* Opens a file to read, or standard input for "-". */
MUST_CHECK enum cli_exit csv_input_file(struct cli *cli, const char *path, FILE **ret_file);
/* Copies the input to a temporary file unless it is a regular file, so that it can be read twice. */
MUST_CHECK enum cli_exit csv_input_keep(struct cli *cli, FILE **file);
/* Begins again with the row after the heading. */
MUST_CHECK enum cli_exit csv_input_rewind(struct csv_input *input);
/* Returns whether the file has a requested column. */
bool csv_input_has(const struct csv_input *input, size_t column);
/* Takes ownership of the file, even if it fails, and reads the heading. */
MUST_CHECK enum cli_exit csv_input_open(struct csv_input *input, struct cli *cli, const char *path,
                                        FILE *take_file);
/* Finds the requested columns, at most CSV_INPUT_COLUMNS_MAX. */
MUST_CHECK enum cli_exit csv_input_find(struct csv_input *input,
                                        const struct csv_input_column *columns, size_t count);
/* Reads the next row; false at the end. */
MUST_CHECK enum cli_exit csv_input_next(struct csv_input *input, bool *ret_row);
/* Returns a column's field of the row, without surrounding blanks; empty if the file has no such
 * column. */
struct slice csv_input_field(const struct csv_input *input, size_t column);
/* Returns the number of the line on which the row begins. */
uint64_t csv_input_line(const struct csv_input *input);
void csv_input_close(struct csv_input *input);

#endif
