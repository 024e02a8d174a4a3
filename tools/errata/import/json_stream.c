/*
 * json_stream.c: see json_stream.h. Each byte is an input of a state machine: between records, within one, or
 * within the members of a page around its array.
 */
#include "tools/errata/import/json_stream.h"

#include <errno.h>
#include <stdlib.h>

/* The element that a byte ends. */
enum ending {
    ENDS_NOTHING,
    ENDS_RECORD,
    ENDS_DAMAGED,
    ENDS_FILE
};

void json_stream_init(struct json_stream *stream, FILE *file, const char *const *lists,
                      enum json_stream_mode mode)
{
    *stream = (struct json_stream){
        .file = file, .lists = lists, .line = 1, .record_line = 1, .mode = mode};
}

void json_stream_deinit(struct json_stream *stream)
{
    free(stream->bytes);
    free(stream->input);
    *stream = (struct json_stream){.file = NULL};
}

/* Discards the record and, at a line that cannot be read further, the open containers around it. */
static enum ending fail(struct json_stream *stream, const char *problem)
{
    stream->problem = problem;
    stream->in_record = false;
    stream->in_string = false;
    stream->discards = false;
    stream->open_count = 0;
    return ENDS_DAMAGED;
}

static void keep_byte(struct json_stream *stream, uint8_t byte)
{
    if (stream->discards || stream->is_too_long) {
        return;
    }
    if (stream->size == JSON_STREAM_RECORD_BYTES_MAX) {
        stream->is_too_long = true;
        return;
    }
    if (stream->size == stream->capacity) {
        size_t capacity = stream->capacity == 0 ? 4096 : stream->capacity * 2;
        uint8_t *grown = realloc(stream->bytes, capacity);

        if (grown == NULL) {
            stream->is_too_long = true;
            return;
        }
        stream->bytes = grown;
        stream->capacity = capacity;
    }
    stream->bytes[stream->size++] = byte;
}

static enum ending end_record(struct json_stream *stream)
{
    stream->in_record = false;
    stream->record_count++;
    if (stream->discards) {
        stream->discards = false;
        return ENDS_NOTHING;
    }
    if (stream->is_too_long) {
        stream->problem = "a record larger than 16 MiB";
        return ENDS_DAMAGED;
    }
    return ENDS_RECORD;
}

static void begin_record(struct json_stream *stream, uint8_t byte)
{
    stream->in_record = true;
    stream->is_scalar = byte != '{' && byte != '[';
    stream->is_too_long = false;
    stream->in_string = byte == '"';
    stream->is_escaped = false;
    stream->depth = stream->is_scalar ? 0 : 1;
    stream->key_place = 0;
    stream->key_size = 0;
    stream->size = 0;
    stream->record_line = stream->line;
    keep_byte(stream, byte);
}

static bool is_in_array(const struct json_stream *stream)
{
    return stream->open_count > 0 && stream->open[stream->open_count - 1] == '[';
}

/* Ends the array of records; the page around it continues, without its bytes. */
static void close_array(struct json_stream *stream)
{
    stream->open_count--;
    if (stream->open_count > 0 && stream->open[stream->open_count - 1] == '{') {
        stream->open_count--;
        stream->in_record = true;
        stream->is_scalar = false;
        stream->discards = true;
        stream->in_string = false;
        stream->depth = 1;
        stream->key_place = 0;
    }
}

static enum ending take_between(struct json_stream *stream, uint8_t byte)
{
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' ||
        (byte == ',' && is_in_array(stream))) {
        return ENDS_NOTHING;
    }
    if (byte == ']' && is_in_array(stream)) {
        close_array(stream);
        return ENDS_NOTHING;
    }
    if (byte == '[' && stream->open_count == 0) {
        stream->open[stream->open_count++] = '[';
        return ENDS_NOTHING;
    }
    begin_record(stream, byte);
    return ENDS_NOTHING;
}

static void take_in_string(struct json_stream *stream, uint8_t byte)
{
    if (stream->is_escaped) {
        stream->is_escaped = false;
    } else if (byte == '\\') {
        stream->is_escaped = true;
    } else if (byte == '"') {
        stream->in_string = false;
        stream->key_place = stream->depth == 1 ? 1 : 0;
        return;
    }
    if (stream->depth == 1 && stream->key_size < JSON_STREAM_KEY_BYTES_MAX) {
        stream->key[stream->key_size++] = (char)byte;
    }
}

/* Returns whether the current bracket opens the array of a page. */
static bool opens_list(const struct json_stream *stream)
{
    if (stream->depth != 1 || stream->key_place != 2 || stream->open_count > 1) {
        return false;
    }
    for (size_t i = 0; stream->lists != NULL && stream->lists[i] != NULL; i++) {
        if (strlen(stream->lists[i]) == stream->key_size &&
            memcmp(stream->lists[i], stream->key, stream->key_size) == 0) {
            return true;
        }
    }
    return false;
}

static void open_list(struct json_stream *stream)
{
    stream->in_record = false;
    stream->discards = false;
    stream->open[stream->open_count++] = '{';
    stream->open[stream->open_count++] = '[';
}

/* A byte of a record outside of its strings. */
static enum ending take_structure(struct json_stream *stream, uint8_t byte)
{
    switch (byte) {
    case '"':
        stream->in_string = true;
        stream->key_size = 0;
        stream->key_place = 0;
        return ENDS_NOTHING;
    case '{':
    case '[':
        if (byte == '[' && opens_list(stream)) {
            open_list(stream);
            return ENDS_NOTHING;
        }
        stream->depth++;
        stream->key_place = 0;
        return ENDS_NOTHING;
    case '}':
    case ']':
        stream->depth--;
        stream->key_place = 0;
        return stream->depth == 0 ? end_record(stream) : ENDS_NOTHING;
    case ':':
        stream->key_place = stream->key_place == 1 ? 2 : 0;
        return ENDS_NOTHING;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        return ENDS_NOTHING;
    default:
        stream->key_place = 0;
        return ENDS_NOTHING;
    }
}

/* A number, a word or a string as a record: it ends where the array continues, or with the line. */
static enum ending take_scalar(struct json_stream *stream, uint8_t byte)
{
    bool ends = byte == '\n' || (is_in_array(stream) && (byte == ',' || byte == ']'));

    if (stream->in_string) {
        keep_byte(stream, byte);
        take_in_string(stream, byte);
        return ENDS_NOTHING;
    }
    if (!ends) {
        keep_byte(stream, byte);
        stream->in_string = byte == '"';
        return ENDS_NOTHING;
    }
    stream->input_at -=
        byte == '\n' ? 0 : 1; /* the comma or bracket is read again, between records */
    return end_record(stream);
}

/* Handles a line feed, whose meaning depends on the form of the file, which the first line feeds
 * determine. */
static enum ending take_line_feed(struct json_stream *stream)
{
    bool inside = stream->in_record || stream->open_count > 0;
    bool is_first = stream->mode == JSON_STREAM_UNKNOWN;

    stream->line++;
    if (is_first && inside && !stream->is_scalar) {
        stream->mode = JSON_STREAM_DOCUMENT;
    } else if (is_first && !inside && stream->record_count > 0) {
        stream->mode = JSON_STREAM_LINES;
    }
    if (stream->in_record && stream->in_string) {
        bool resumes = stream->mode == JSON_STREAM_LINES || stream->open_count == 0;

        (void)fail(stream, "a line break within a string");
        return resumes ? ENDS_DAMAGED : ENDS_FILE;
    }
    if (stream->mode == JSON_STREAM_LINES && inside && !stream->is_scalar) {
        return fail(stream, "the line ends within the record");
    }
    if (stream->in_record && stream->is_scalar) {
        return take_scalar(stream, '\n');
    }
    if (stream->in_record) {
        keep_byte(stream, '\n'); /* it separates: 1 and 2 on two lines are not 12 */
    }
    return ENDS_NOTHING;
}

/* A byte of a line that is a record: json_check finds what is wrong in it. */
static enum ending take_in_line(struct json_stream *stream, uint8_t byte)
{
    if (byte == '\n') {
        stream->line++;
        return stream->in_record ? end_record(stream) : ENDS_NOTHING;
    }
    if (stream->in_record) {
        keep_byte(stream, byte);
    } else if (byte != ' ' && byte != '\t' && byte != '\r') {
        begin_record(stream, byte);
        stream->is_scalar = true; /* the line ends it, or the file */
        stream->in_string = false;
    }
    return ENDS_NOTHING;
}

static enum ending take_byte(struct json_stream *stream, uint8_t byte)
{
    if (stream->mode == JSON_STREAM_WHOLE_LINES) {
        return take_in_line(stream, byte);
    }
    if (byte == '\n') {
        return take_line_feed(stream);
    }
    if (!stream->in_record) {
        return take_between(stream, byte);
    }
    if (stream->is_scalar) {
        return take_scalar(stream, byte);
    }
    keep_byte(stream, byte);
    if (stream->in_string) {
        take_in_string(stream, byte);
        return ENDS_NOTHING;
    }
    return take_structure(stream, byte);
}

/* Fills the input; false at the end of the file, or with `problem`. */
static bool fill(struct json_stream *stream)
{
    stream->input = stream->input != NULL ? stream->input : malloc(JSON_STREAM_INPUT_BYTES);
    if (stream->input == NULL) {
        stream->problem = "out of memory";
        return false;
    }
    errno = 0;
    stream->input_at = 0;
    stream->input_end = fread(stream->input, 1, JSON_STREAM_INPUT_BYTES, stream->file);
    if (stream->input_end == 0 && ferror(stream->file) != 0) {
        stream->problem = strerror(errno);
    }
    stream->read_bytes += stream->input_end;
    return stream->input_end > 0;
}

static enum json_stream_step end_file(struct json_stream *stream)
{
    bool inside = (stream->in_record && !stream->is_scalar) || stream->open_count > 0 ||
                  (stream->in_record && stream->in_string);

    stream->ended = true;
    if (stream->problem != NULL) {
        return JSON_STREAM_FAILED;
    }
    if (inside) {
        stream->record_line =
            stream->in_record && !stream->discards ? stream->record_line : stream->line;
        (void)fail(stream, "the file ends within a record or a list");
        return JSON_STREAM_FAILED;
    }
    if (!stream->in_record) {
        return JSON_STREAM_END;
    }
    return end_record(stream) == ENDS_RECORD ? JSON_STREAM_RECORD : JSON_STREAM_DAMAGED;
}

enum json_stream_step json_stream_read(struct json_stream *stream, struct slice *ret_record)
{
    enum json_stream_step step = JSON_STREAM_END;

    stream->problem = NULL;
    /* The loop is bounded by the file: each turn takes a byte. */
    while (!stream->ended) {
        enum ending ending = ENDS_NOTHING;

        if (stream->input_at == stream->input_end && !fill(stream)) {
            step = end_file(stream);
            *ret_record = slice_of(stream->bytes, stream->size);
            return step;
        }
        ending = take_byte(stream, stream->input[stream->input_at++]);
        if (ending == ENDS_FILE) {
            stream->ended = true;
            return JSON_STREAM_FAILED;
        }
        if (ending != ENDS_NOTHING) {
            *ret_record = slice_of(stream->bytes, stream->size);
            return ending == ENDS_RECORD ? JSON_STREAM_RECORD : JSON_STREAM_DAMAGED;
        }
    }
    return JSON_STREAM_END;
}
