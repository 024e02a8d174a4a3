/*
 * export_file.c: see export_file.h.
 */
#include "tools/errata/admin/export_file.h"

#include "server/codec/proto_json.h"
#include "store/base/wire.h"

#include <errata/contract_messages.h>
#include <errata/v1/organization_transfer.fields.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* The version that this program reads. */
#define VERSION 1

static enum cli_exit refuse(const struct export_file *file, const char *what)
{
    return cli_local(file->cli, "%s:%" PRIu64 ": %s", file->path, file->line, what);
}

enum cli_exit export_file_open(struct export_file *file, struct cli *cli, const char *path)
{
    *file = (struct export_file){.cli = cli, .path = path, .stream = fopen(path, "rbe")};
    if (file->stream == NULL) {
        return cli_local(cli, "%s: cannot be read: %s", path, strerror(errno));
    }
    if (fseek(file->stream, 0, SEEK_END) != 0) {
        return cli_local(cli, "%s: is read twice; expected a file, not a pipe", path);
    }
    return export_file_rewind(file);
}

enum cli_exit export_file_rewind(struct export_file *file)
{
    file->line = 0;
    file->event_count = 0;
    file->has_ended = false;
    sha256_begin(&file->sha256);
    return fseek(file->stream, 0, SEEK_SET) == 0
               ? CLI_OK
               : cli_local(file->cli, "%s: cannot be read again: %s", file->path, strerror(errno));
}

void export_file_close(struct export_file *file)
{
    if (file->stream != NULL) {
        (void)fclose(file->stream);
    }
    free(file->text);
}

/* Reads a line with its line feed, within the limit; 0 bytes at the end of the file. */
static enum cli_exit read_text(struct export_file *file, struct slice *ret_text)
{
    size_t size = 0;
    int byte = 0;

    file->line++;
    while ((byte = getc_unlocked(file->stream)) != EOF) {
        if (size == file->text_capacity) {
            size_t capacity = size == 0 ? 4096 : size * 2;
            char *grown = capacity <= EXPORT_LINE_BYTES_MAX ? realloc(file->text, capacity) : NULL;

            if (grown == NULL) {
                return refuse(file, "longer than 32 MiB; expected a line of an export");
            }
            file->text = grown;
            file->text_capacity = capacity;
        }
        file->text[size++] = (char)byte;
        if (byte == '\n') {
            break;
        }
    }
    if (ferror(file->stream) != 0) {
        return cli_local(file->cli, "%s: cannot be read: %s", file->path, strerror(errno));
    }
    if (size > 0 && file->text[size - 1] != '\n') {
        return refuse(file, "cut off; expected a whole line: the file is incomplete");
    }
    *ret_text = slice_of(file->text, size);
    return CLI_OK;
}

/* Reports the first faults that the codec found. */
static enum cli_exit refuse_json(const struct export_file *file)
{
    struct slice message = file->cli->fault.message;

    return message.size > 0 ? cli_local(file->cli, "%s:%" PRIu64 ": %.*s", file->path, file->line,
                                        SLICE_ARGS(message))
                            : refuse(file, "not a line of an export that this version reads");
}

static enum cli_exit decode(struct export_file *file, struct slice text,
                            struct wire_field *ret_field)
{
    struct cli *cli = file->cli;
    struct wire_reader reader;
    struct buffer wire;

    buffer_init(&wire, &cli->arena, text.size);
    fault_init(&cli->fault, &cli->arena);
    if (proto_json_read(&cli->ctx, &contract_errata_v1_export_line, text, true, &wire) != OK ||
        !buffer_ok(&wire)) {
        return refuse_json(file);
    }
    reader = wire_reader_of(buffer_slice(&wire));
    if (wire_next(&reader, ret_field) != OK || ret_field->type != WIRE_BYTES) {
        return refuse(file, "empty; expected header, event or end");
    }
    return CLI_OK;
}

/* Returns the number of a varint field of a message; 0 if it is absent. */
static uint64_t number_of(struct slice message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    uint64_t value = 0;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == number && field.type == WIRE_VARINT) {
            value = field.value;
        }
    }
    return value;
}

/* Returns a bytes field of a message; empty if it is absent. */
static struct slice bytes_of(struct slice message, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    struct slice bytes = {NULL, 0};

    while (wire_next(&reader, &field) == OK) {
        if (field.number == number && field.type == WIRE_BYTES) {
            bytes = field.bytes;
        }
    }
    return bytes;
}

static enum cli_exit check_header(const struct export_file *file, struct slice header)
{
    uint64_t version = number_of(header, EXPORT_HEADER_VERSION_FIELD);

    if (file->line != 1) {
        return refuse(file, "a second header; expected one export in a file");
    }
    return version == VERSION
               ? CLI_OK
               : cli_local(file->cli,
                           "%s:1: version %" PRIu64 " of exports; expected %d, or a newer errata",
                           file->path, version, VERSION);
}

static enum cli_exit check_event(struct export_file *file, struct slice exported)
{
    uint64_t seq = number_of(exported, EXPORTED_EVENT_SEQ_FIELD);

    file->event_count++;
    return seq == file->event_count
               ? CLI_OK
               : cli_local(file->cli,
                           "%s:%" PRIu64 ": event %" PRIu64 "; expected event %" PRIu64
                           ": lines are missing, or in another order",
                           file->path, file->line, seq, file->event_count);
}

static enum cli_exit check_end(struct export_file *file, struct slice end)
{
    struct sha256_state state = file->sha256;
    struct sha256_digest digest = sha256_read(&state);
    char text[2 * SHA256_BYTES];

    sha256_format(&digest, text);
    file->has_ended = true;
    if (number_of(end, EXPORT_END_EVENT_COUNT_FIELD) != file->event_count) {
        return refuse(file, "another number of events; expected that of the lines before");
    }
    return slice_equal(bytes_of(end, EXPORT_END_FILE_SHA256_FIELD), slice_of(text, sizeof(text)))
               ? CLI_OK
               : refuse(file, "the checksum is not that of the lines before; expected a file as "
                              "`errata org export` wrote it");
}

static enum cli_exit check(struct export_file *file, const struct wire_field *field)
{
    if (file->has_ended) {
        return refuse(file, "a line after the end; expected one export in a file");
    }
    if (file->line == 1 && field->number != EXPORT_LINE_HEADER_FIELD) {
        return refuse(file, "not a header; expected a file of `errata org export`");
    }
    switch (field->number) {
    case EXPORT_LINE_HEADER_FIELD:
        return check_header(file, field->bytes);
    case EXPORT_LINE_EVENT_FIELD:
        return check_event(file, field->bytes);
    default:
        return check_end(file, field->bytes);
    }
}

enum cli_exit export_file_read(struct export_file *file, struct export_file_line *ret_line)
{
    struct slice text = {NULL, 0};
    struct wire_field field;
    enum cli_exit result = read_text(file, &text);

    if (result == CLI_OK && text.size == 0 && !file->has_ended) {
        return refuse(file, "missing; expected more lines: the file is incomplete");
    }
    if (result != CLI_OK || text.size == 0) {
        *ret_line = (struct export_file_line){.field = 0};
        return result;
    }
    result = decode(file, text, &field);
    if (result == CLI_OK) {
        result = check(file, &field);
    }
    if (result != CLI_OK) {
        return result;
    }
    sha256_add(&file->sha256, text);
    ret_line->field = field.number;
    ret_line->bytes = field.bytes;
    return CLI_OK;
}
