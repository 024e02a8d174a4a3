/*
 * csv.c: see csv.h. A record is gathered line by line until no quote is open, then split in place.
 */
#include "tools/errata/terminal/csv.h"

#include "store/base/text.h"

#include <errno.h>
#include <stdlib.h>

/* --- writing --- */

static bool needs_quotes(struct slice field)
{
    for (size_t i = 0; i < field.size; i++) {
        if (memchr("\",\r\n", field.data[i], 4) != NULL) {
            return true;
        }
    }
    return false;
}

static void write_field(struct buffer *buffer, struct slice field)
{
    if (!needs_quotes(field)) {
        buffer_append(buffer, field);
        return;
    }
    buffer_append_byte(buffer, '"');
    for (size_t i = 0; i < field.size; i++) {
        if (field.data[i] == '"') {
            buffer_append_byte(buffer, '"');
        }
        buffer_append_byte(buffer, field.data[i]);
    }
    buffer_append_byte(buffer, '"');
}

void csv_write(struct buffer *buffer, const struct slice *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_append_byte(buffer, ',');
        }
        write_field(buffer, fields[i]);
    }
    /* A record of one empty field would be a blank line, which is not a record. */
    if (count == 1 && fields[0].size == 0) {
        buffer_append(buffer, SLICE("\"\""));
    }
    buffer_append(buffer, SLICE("\r\n"));
}

/* --- reading --- */

void csv_reader_init(struct csv_reader *reader, FILE *stream)
{
    *reader = (struct csv_reader){.stream = stream};
}

void csv_reader_deinit(struct csv_reader *reader)
{
    free(reader->bytes);
    free(reader->line);
    *reader = (struct csv_reader){.stream = NULL};
}

/* Tracks the position of the next byte in a record. A quote opens a quoted field only at a field's
 * start. */
enum csv_place {
    CSV_FIELD_FRONT,
    CSV_PLAIN,
    CSV_QUOTED,
    CSV_QUOTE_SEEN /* a quote within a quoted field: its end, or the first of two quotes */
};

static enum csv_place move(enum csv_place place, char separator, char byte)
{
    if (place == CSV_QUOTED) {
        return byte == '"' ? CSV_QUOTE_SEEN : CSV_QUOTED;
    }
    if (place == CSV_QUOTE_SEEN && byte == '"') {
        return CSV_QUOTED;
    }
    if (byte == separator) {
        return CSV_FIELD_FRONT;
    }
    return place == CSV_FIELD_FRONT && byte == '"' ? CSV_QUOTED : CSV_PLAIN;
}

/* Returns the most frequent separator in the first line outside of quotes. */
static char find_separator(const char *line, size_t size)
{
    static const char known[] = {',', ';', '\t'};
    size_t counts[sizeof(known)] = {0};
    size_t best = 0;
    bool quoted = false;

    for (size_t i = 0; i < size; i++) {
        quoted = line[i] == '"' ? !quoted : quoted;
        for (size_t j = 0; !quoted && j < sizeof(known); j++) {
            counts[j] += line[i] == known[j] ? 1 : 0;
        }
    }
    for (size_t j = 1; j < sizeof(known); j++) {
        best = counts[j] > counts[best] ? j : best;
    }
    return known[best];
}

static bool fail(struct csv_reader *reader, const char *problem)
{
    reader->problem = problem;
    return false;
}

static bool append(struct csv_reader *reader, const char *bytes, size_t size)
{
    if (reader->size + size > CSV_RECORD_BYTES_MAX) {
        return fail(reader, "a record larger than 16 MiB, perhaps with an unclosed quote");
    }
    if (reader->size + size > reader->capacity) {
        size_t capacity = (reader->size + size) * 2;
        uint8_t *grown = realloc(reader->bytes, capacity);

        if (grown == NULL) {
            return fail(reader, "out of memory");
        }
        reader->bytes = grown;
        reader->capacity = capacity;
    }
    memcpy(reader->bytes + reader->size, bytes, size);
    reader->size += size;
    return true;
}

/* Reads one line into reader->line; returns its bytes without a byte order mark, 0 at the end. */
static size_t next_line(struct csv_reader *reader, const char **ret_line)
{
    ssize_t size = 0;
    size_t mark = 0;

    errno = 0;
    size = getline(&reader->line, &reader->line_capacity, reader->stream);
    if (size < 0) {
        if (feof(reader->stream) == 0) {
            reader->problem = strerror(errno);
        }
        return 0;
    }
    if (reader->line_number == 0 && size >= 3 && memcmp(reader->line, "\xef\xbb\xbf", 3) == 0) {
        mark = 3;
    }
    reader->line_number++;
    reader->read_bytes += (uint64_t)size;
    *ret_line = reader->line + mark;
    return (size_t)size - mark;
}

static bool is_blank(const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (line[i] != '\r' && line[i] != '\n') {
            return false;
        }
    }
    return true;
}

/* Gathers the lines of one record; returns false with reader->problem, or at the end without a
 * problem. */
static bool gather(struct csv_reader *reader, uint64_t *ret_line_number)
{
    enum csv_place place = CSV_FIELD_FRONT;
    const char *line = NULL;
    size_t size = next_line(reader, &line);

    while (size > 0 && is_blank(line, size)) {
        size = next_line(reader, &line);
    }
    *ret_line_number = reader->line_number;
    reader->size = 0;
    if (size > 0 && reader->separator == '\0') {
        reader->separator = find_separator(line, size);
    }
    while (size > 0) {
        for (size_t i = 0; i < size; i++) {
            place = move(place, reader->separator, line[i]);
        }
        if (!append(reader, line, size)) {
            return false;
        }
        if (place != CSV_QUOTED) {
            return true;
        }
        size = next_line(reader, &line);
    }
    return reader->size > 0 && reader->problem == NULL ? fail(reader, "an unclosed quote") : false;
}

/* Unquotes the field at `*at` in place to `*to`, and advances both. */
static bool take_field(struct csv_reader *reader, size_t *at, size_t *to, struct slice *ret_field)
{
    uint8_t *bytes = reader->bytes;
    bool quoted = *at < reader->size && bytes[*at] == '"';
    size_t start = *to;

    *at += quoted ? 1 : 0;
    while (quoted) { /* a quoted field follows: the record is read to its last quote */
        if (bytes[*at] == '"') {
            if (*at + 1 >= reader->size || bytes[*at + 1] != '"') {
                *at += 1;
                break;
            }
            *at += 1;
        }
        bytes[(*to)++] = bytes[(*at)++];
    }
    while (!quoted && *at < reader->size && bytes[*at] != (uint8_t)reader->separator) {
        bytes[(*to)++] = bytes[(*at)++];
    }
    *ret_field = slice_of(bytes + start, *to - start);
    return *at == reader->size || bytes[*at] == (uint8_t)reader->separator
               ? true
               : fail(reader, "text after a closing quote");
}

static bool split(struct csv_reader *reader, struct csv_record *record)
{
    size_t at = 0;
    size_t to = 0;

    while (reader->size > 0 && memchr("\r\n", reader->bytes[reader->size - 1], 2) != NULL) {
        reader->size--;
    }
    record->count = 0;
    for (bool more = true; more;) {
        if (record->count == CSV_FIELDS_MAX) {
            return fail(reader, "a record with more than 256 fields");
        }
        if (!take_field(reader, &at, &to, &record->fields[record->count])) {
            return false;
        }
        record->count++;
        more = at < reader->size;
        if (more) { /* the separator stays between the fields, so that they identify the record */
            reader->bytes[to++] = '\0';
            at++;
        }
    }
    record->bytes = slice_of(reader->bytes, to);
    return text_is_utf8(record->bytes) ? true : fail(reader, "bytes that are not UTF-8");
}

enum csv_step csv_read(struct csv_reader *reader, struct csv_record *ret_record)
{
    reader->problem = NULL;
    if (!gather(reader, &ret_record->line_number)) {
        return reader->problem != NULL ? CSV_FAILED : CSV_END;
    }
    return split(reader, ret_record) ? CSV_RECORD : CSV_FAILED;
}
