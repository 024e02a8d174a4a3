/*
 * record_reader.c: see record_reader.h.
 */
#include "tools/errata/import/record_reader.h"

#include <stdarg.h>
#include <stdlib.h>

#define FRONT_BYTES 8

/* File formats by their first bytes. */
static const struct front {
    const char *bytes;
    size_t size;
    const char *refusal;
} fronts[] = {
    {"PAR1", 4,
     "Parquet, which this program does not read; expected JSON lines, JSON or CSV "
     "(`python3 -c 'import pandas,sys; pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], "
     "orient=\"records\", lines=True, date_format=\"iso\")' IN OUT.jsonl`)"},
    {"\x1f\x8b", 2, "compressed with gzip; expected the text (`gzip -dc FILE`)"},
    {"PK\x03\x04", 4, "a ZIP archive; expected the files in it (`unzip FILE`)"},
    {"\x28\xb5\x2f\xfd", 4, "compressed with zstd; expected the text (`zstd -dc FILE`)"},
    {"\xff\xfe", 2, "UTF-16; expected UTF-8 (`iconv -f UTF-16 -t UTF-8 FILE`)"},
    {"\xfe\xff", 2, "UTF-16; expected UTF-8 (`iconv -f UTF-16 -t UTF-8 FILE`)"}};

static void PRINTF_LIKE(2, 3) set_problem(struct record_reader *reader, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)vsnprintf(reader->problem, sizeof(reader->problem), format, values);
    va_end(values);
}

static bool refuse_front(struct record_reader *reader, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
        if (size >= fronts[i].size && memcmp(bytes, fronts[i].bytes, fronts[i].size) == 0) {
            set_problem(reader, "%s", fronts[i].refusal);
            return true;
        }
    }
    if (memchr(bytes, 0, size) != NULL) {
        set_problem(reader, "a binary file or UTF-16; expected UTF-8 text");
        return true;
    }
    return false;
}

static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path);
    size_t ending_size = strlen(ending);

    return size >= ending_size && strcmp(path + size - ending_size, ending) == 0;
}

static bool is_json_lines(const char *path)
{
    return ends_with(path, ".jsonl") || ends_with(path, ".ndjson");
}

/* Returns the first byte that is not blank, after a byte order mark; 0 for an empty file. */
static uint8_t first_byte(FILE *file)
{
    int byte = fgetc(file);

    if (byte == 0xef) {
        (void)fseek(file, 3, SEEK_SET);
        byte = fgetc(file);
    }
    while (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') {
        byte = fgetc(file);
    }
    return byte == EOF ? 0 : (uint8_t)byte;
}

static bool refuse_csv(struct record_reader *reader, const struct csv_record *record,
                       const char *problem)
{
    reader->line = record->line_number;
    set_problem(reader, "%s", problem);
    return false;
}

/* Copies the names of the columns. */
static bool read_names(struct record_reader *reader)
{
    struct csv_record record;
    enum csv_step step = csv_read(&reader->csv, &record);

    if (step == CSV_END) {
        return true;
    }
    if (step == CSV_FAILED) {
        return refuse_csv(reader, &record, reader->csv.problem);
    }
    for (size_t i = 0; i < record.count; i++) {
        reader->names[i] = strndup((const char *)record.fields[i].data, record.fields[i].size);
        if (reader->names[i] == NULL) {
            return refuse_csv(reader, &record, "out of memory");
        }
        reader->name_count++;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(reader->names[i], reader->names[j]) == 0) {
                return refuse_csv(reader, &record, "two columns have the same name");
            }
        }
    }
    return true;
}

bool record_reader_open(struct record_reader *reader, FILE *file, const char *path,
                        const char *const *lists)
{
    uint8_t bytes[FRONT_BYTES];
    size_t size = 0;
    uint8_t first = 0;

    *reader = (struct record_reader){.line = 1};
    rewind(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    if (refuse_front(reader, bytes, size)) {
        return false;
    }
    rewind(file);
    first = first_byte(file);
    rewind(file);
    reader->is_csv = path != NULL && first != '{' && first != '[' && first != 0 &&
                     !is_json_lines(path) && !ends_with(path, ".json");
    if (reader->is_csv) {
        csv_reader_init(&reader->csv, file);
        return read_names(reader);
    }
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        (void)fseek(file, 3, SEEK_SET);
    }
    if (path == NULL) {
        json_stream_init(&reader->json, file, lists, JSON_STREAM_WHOLE_LINES);
    } else {
        json_stream_init(&reader->json, file, lists,
                         is_json_lines(path) ? JSON_STREAM_LINES : JSON_STREAM_UNKNOWN);
    }
    return true;
}

/* Checks the text of a record, and copies it to the arena. */
static enum record_step check_record(struct record_reader *reader, struct arena *arena,
                                     struct slice text, struct json_value *ret_record)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_problem problem = {NULL, 0};
    struct slice copy = {NULL, 0};
    enum err err = arena_copy(arena, text, &copy) ? OK : ERR_MEMORY;

    if (err == OK) {
        err = json_check(arena, copy, &rules, ret_record, &problem);
    }
    if (err != OK) {
        set_problem(reader, "invalid JSON at byte %zu of the record: %s", problem.at,
                    problem.what != NULL ? problem.what : err_text(err));
        return RECORD_DAMAGED;
    }
    if (ret_record->kind != JSON_OBJECT) {
        set_problem(reader, "the record is not an object; expected one object per record");
        return RECORD_DAMAGED;
    }
    return RECORD_READ;
}

static enum record_step read_json(struct record_reader *reader, struct arena *arena,
                                  struct json_value *ret_record)
{
    struct slice text = {NULL, 0};
    enum json_stream_step step = json_stream_read(&reader->json, &text);

    reader->line = reader->json.record_line;
    switch (step) {
    case JSON_STREAM_RECORD:
        return check_record(reader, arena, text, ret_record);
    case JSON_STREAM_END:
        return RECORD_END;
    case JSON_STREAM_DAMAGED:
        set_problem(reader, "%s", reader->json.problem);
        return RECORD_DAMAGED;
    case JSON_STREAM_FAILED:
        break;
    }
    set_problem(reader, "%s; the rest of the file is not read", reader->json.problem);
    return RECORD_FAILED;
}

/* Makes the object of a row; empty fields are absent. */
static enum record_step read_row(struct record_reader *reader, struct arena *arena,
                                 struct json_value *ret_record)
{
    struct csv_record record;
    struct buffer json;
    enum csv_step step = csv_read(&reader->csv, &record);

    reader->line = record.line_number;
    if (step == CSV_END) {
        return RECORD_END;
    }
    if (step == CSV_FAILED) {
        set_problem(reader, "invalid CSV: %s", reader->csv.problem);
        return ferror(reader->csv.stream) != 0 ? RECORD_FAILED : RECORD_DAMAGED;
    }
    if (record.count != reader->name_count) {
        set_problem(reader, "%zu fields; expected %zu, as many as the first line names",
                    record.count, reader->name_count);
        return RECORD_DAMAGED;
    }
    buffer_init(&json, arena, record.bytes.size + 64);
    buffer_append_byte(&json, '{');
    for (size_t i = 0; i < record.count; i++) {
        if (record.fields[i].size > 0) {
            buffer_append(&json, json.size > 1 ? SLICE(",") : SLICE(""));
            json_write_string(&json, slice_text(reader->names[i]), false);
            buffer_append_byte(&json, ':');
            json_write_string(&json, record.fields[i], false);
        }
    }
    buffer_append_byte(&json, '}');
    if (!buffer_ok(&json)) {
        set_problem(reader, "out of memory");
        return RECORD_FAILED;
    }
    return check_record(reader, arena, buffer_slice(&json), ret_record);
}

enum record_step record_reader_read(struct record_reader *reader, struct arena *arena,
                                    struct json_value *ret_record)
{
    return reader->is_csv ? read_row(reader, arena, ret_record)
                          : read_json(reader, arena, ret_record);
}

uint64_t record_reader_bytes(const struct record_reader *reader)
{
    return reader->is_csv ? reader->csv.read_bytes : reader->json.read_bytes;
}

void record_reader_close(struct record_reader *reader)
{
    json_stream_deinit(&reader->json);
    csv_reader_deinit(&reader->csv);
    for (size_t i = 0; i < reader->name_count; i++) {
        free(reader->names[i]);
    }
    reader->name_count = 0;
}
