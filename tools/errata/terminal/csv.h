/*
 * csv.h: writes and reads comma-separated values (RFC 4180). Input may also have bare line feeds, a
 * byte order mark, blank lines, and semicolons or tabs as separators, as written by spreadsheets: the
 * first record determines the separator.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_CSV_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_CSV_H

#include "store/base/buffer.h"

#include <stdio.h>

/* Maximum number of fields of a record: a flattened export of spans has some hundred. */
#define CSV_FIELDS_MAX 256
/* Maximum size of a record, which also bounds an unclosed quote. */
#define CSV_RECORD_BYTES_MAX ((size_t)16 * 1024 * 1024)

/* Appends one record with its CR LF. */
void csv_write(struct buffer *buffer, const struct slice *fields, size_t count);

struct csv_reader {
    FILE *stream; /* borrowed */
    uint8_t *bytes; /* owned: the record */
    size_t size;
    size_t capacity;
    char *line; /* owned: getline's */
    size_t line_capacity;
    char separator; /* NUL until the first record is read */
    uint64_t line_number; /* number of the last line read, from 1 */
    uint64_t read_bytes;
    const char *problem; /* description of CSV_FAILED: a phrase */
};

/* Borrowed from the reader until the next one is read. */
struct csv_record {
    struct slice fields[CSV_FIELDS_MAX]; /* unquoted */
    size_t count;
    struct slice bytes; /* the unquoted fields one after the other, which identify the record */
    uint64_t line_number; /* number of its first line, from 1 */
};

enum csv_step {
    CSV_RECORD,
    CSV_END,
    CSV_FAILED /* see reader->problem and the record's line_number */
};

void csv_reader_init(struct csv_reader *reader, FILE *stream);
/* Frees the memory of the reader; the stream stays open. */
void csv_reader_deinit(struct csv_reader *reader);
/* Reads the next record that is not blank. */
enum csv_step csv_read(struct csv_reader *reader, struct csv_record *ret_record);

#endif
