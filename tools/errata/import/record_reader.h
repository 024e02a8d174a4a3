/*
 * record_reader.h: reads the records of one file as checked JSON objects: JSON in any form of json_stream.h, or
 * CSV, whose rows become objects of texts by the names in the first line. The first bytes of a file determine
 * its format. Files in other encodings and formats are refused by name.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_RECORD_READER_H
#define ERRATA_TOOLS_ERRATA_IMPORT_RECORD_READER_H

#include "store/base/json.h"
#include "tools/errata/import/json_stream.h"
#include "tools/errata/terminal/csv.h"

#define RECORD_PROBLEM_BYTES_MAX 256

enum record_step {
    RECORD_READ,
    RECORD_DAMAGED, /* `problem` at `line`; the next records can be read */
    RECORD_END,
    RECORD_FAILED /* `problem` at `line`: the rest of the file cannot be read */
};

struct record_reader {
    bool is_csv;
    struct json_stream json;
    struct csv_reader csv;
    char *names[CSV_FIELDS_MAX]; /* owned: the names of a CSV file's columns */
    size_t name_count;
    uint64_t line; /* line number of the start of the last record */
    char problem[RECORD_PROBLEM_BYTES_MAX]; /* a sentence without a full stop */
};

/* Opens a reader. `file` is borrowed and can be read from its beginning; `path` is used only for its
 * ending; NULL: JSON lines, each of which is one object. `lists` as in json_stream.h. Returns false
 * with a problem if the file is refused. In either case the reader must be closed. */
MUST_CHECK bool record_reader_open(struct record_reader *reader, FILE *file, const char *path,
                                   const char *const *lists);
/* Reads the next record into the arena, which the caller empties between records. */
enum record_step record_reader_read(struct record_reader *reader, struct arena *arena,
                                    struct json_value *ret_record);
uint64_t record_reader_bytes(const struct record_reader *reader);
void record_reader_close(struct record_reader *reader);

#endif
