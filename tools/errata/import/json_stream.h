/*
 * json_stream.h: splits a file of any size into its JSON records, one at a time: JSON lines, one array
 * of records, or pages whose member (such as `data`) is the array. Finds where records begin and end,
 * and does not check them; json_check does. A damaged line of JSON lines costs only that line.
 */
#ifndef ERRATA_TOOLS_ERRATA_IMPORT_JSON_STREAM_H
#define ERRATA_TOOLS_ERRATA_IMPORT_JSON_STREAM_H

#include "store/base/slice.h"

#include <stdio.h>

/* Maximum size of a record: one with a document of 10 MB and its escapes fits, and an unclosed quote
 * is bounded. */
#define JSON_STREAM_RECORD_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define JSON_STREAM_INPUT_BYTES ((size_t)64 * 1024)
/* Maximum depth at which records are searched: an array of pages of arrays. */
#define JSON_STREAM_OPEN_MAX 4
#define JSON_STREAM_KEY_BYTES_MAX 32

enum json_stream_step {
    JSON_STREAM_RECORD,
    JSON_STREAM_DAMAGED, /* `problem` of a record; the next ones can be read */
    JSON_STREAM_END,
    JSON_STREAM_FAILED /* `problem`: the rest of the file cannot be read */
};

/* Whether a line feed ends a record; unknown until the first one outside of a record. */
enum json_stream_mode {
    JSON_STREAM_UNKNOWN,
    JSON_STREAM_LINES,
    JSON_STREAM_DOCUMENT,
    JSON_STREAM_WHOLE_LINES /* a record is all of a line: no array of records, and no second record */
};

struct json_stream {
    FILE *file; /* borrowed */
    const char *const *lists; /* borrowed: members whose array has the records; ends with NULL */
    enum json_stream_mode mode;
    uint8_t *bytes; /* owned: the record */
    size_t size;
    size_t capacity;
    uint8_t *input; /* owned */
    size_t input_at;
    size_t input_end;
    uint64_t read_bytes;
    uint64_t line; /* line number of the next byte, from 1 */
    uint64_t record_line; /* line number of the start of the last record */
    uint64_t record_count;
    /* Containers of records that are open: `[` for an array, `{` for a page, which comes before its array. */
    char open[JSON_STREAM_OPEN_MAX];
    size_t open_count;
    bool in_record;
    bool is_scalar; /* the record is not an object and not an array */
    bool discards; /* reading the rest of a page, whose bytes are not kept */
    bool is_too_long;
    bool in_string;
    bool is_escaped;
    bool ended;
    unsigned depth; /* open braces and brackets of the record */
    char key[JSON_STREAM_KEY_BYTES_MAX]; /* the last string at depth 1 */
    size_t key_size;
    unsigned key_place; /* 0: no key, 1: after the key, 2: after its colon */
    const char *problem; /* a phrase */
};

/* Opens the stream; `mode`: unknown, or that each line has a record, by the file's name or by the caller's contract. */
void json_stream_init(struct json_stream *stream, FILE *file, const char *const *lists,
                      enum json_stream_mode mode);
void json_stream_deinit(struct json_stream *stream);
/* Returns the next record, borrowed until the next call. */
enum json_stream_step json_stream_read(struct json_stream *stream, struct slice *ret_record);

#endif
