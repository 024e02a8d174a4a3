/*
 * export_file.h: reads the lines of an exported organisation, and makes the checks that need no server: each line is an
 * ExportLine, the header is the first, events have the numbers 1, 2, ..., and the last line has their count and the
 * checksum of all lines before it. Memory: one line.
 */
#ifndef ERRATA_TOOLS_ERRATA_ADMIN_EXPORT_FILE_H
#define ERRATA_TOOLS_ERRATA_ADMIN_EXPORT_FILE_H

#include "store/base/sha256.h"
#include "tools/errata/cli.h"

#include <stdio.h>

/* An event has at most 3 MiB in the store; a line has this twice, as base64 and with escapes. */
#define EXPORT_LINE_BYTES_MAX ((size_t)32 << 20)

struct export_file {
    struct cli *cli;
    const char *path;
    FILE *stream; /* owned */
    char *text; /* owned: the line */
    size_t text_capacity;
    uint64_t line; /* number of the last line that was read */
    uint64_t event_count;
    struct sha256_state sha256; /* of the bytes of all accepted lines */
    bool has_ended;
};

/* A line; bytes are in the arena of `cli` until it is emptied. */
struct export_file_line {
    uint32_t field; /* number of the member of ExportLine that is set */
    struct slice bytes; /* wire bytes of that message */
};

/* Opens the file; failures are reported and returned like those of a command. */
MUST_CHECK enum cli_exit export_file_open(struct export_file *file, struct cli *cli,
                                          const char *path);
/* Returns the next line; `field` is 0 after the last one. Reports a line that is refused, with the file's name and its
 * number. */
MUST_CHECK enum cli_exit export_file_read(struct export_file *file,
                                          struct export_file_line *ret_line);
/* Goes back to the first line. */
MUST_CHECK enum cli_exit export_file_rewind(struct export_file *file);
/* Closes the file; accepts a zeroed one. */
void export_file_close(struct export_file *file);

#endif
