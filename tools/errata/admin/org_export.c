/*
 * org_export.c: `errata org export`: writes the lines of the stream to standard output, and puts the checksum of the file
 * into the last one. A file without it is not complete, and is refused by the import.
 */
#include "tools/errata/admin/org_transfer.h"

#include "tools/errata/engine/stream_call.h"

#include "server/codec/proto_json.h"
#include "store/base/sha256.h"
#include "store/base/wire.h"

#include <errata/contract_messages.h>
#include <errata/v1/organization_transfer.fields.h>
#include <inttypes.h>

struct exporting {
    struct sha256_state sha256; /* of all lines written so far */
    uint64_t event_count;
    bool has_ended;
};

/* Adds the file's checksum to the last line. */
static void add_checksum(const struct exporting *exporting, struct cli *cli, struct slice *line)
{
    struct sha256_state state = exporting->sha256;
    struct sha256_digest digest = sha256_read(&state);
    char text[2 * SHA256_BYTES];
    struct wire_reader reader = wire_reader_of(*line);
    struct wire_field field;
    struct buffer end;
    struct buffer whole;

    buffer_init(&end, &cli->arena, 256);
    buffer_init(&whole, &cli->arena, 256);
    sha256_format(&digest, text);
    if (wire_next(&reader, &field) == OK) {
        buffer_append(&end, field.bytes);
    }
    wire_put_bytes(&end, EXPORT_END_FILE_SHA256_FIELD, slice_of(text, sizeof(text)));
    wire_put_bytes(&whole, EXPORT_LINE_END_FIELD, buffer_slice(&end));
    *line = buffer_slice(&whole);
}

/* Writes one line. */
static enum cli_exit write_line(struct cli *cli, struct exporting *exporting, struct slice line)
{
    const struct proto_json_style style = {.indent = 0};
    struct progress_state state = {.unit = "events"};
    struct wire_reader reader = wire_reader_of(line);
    struct wire_field field;
    struct slice text = {NULL, 0};
    struct buffer json;

    if (wire_next(&reader, &field) != OK || field.type != WIRE_BYTES) {
        return cli_local(cli, "the server sent a line that does not decode");
    }
    exporting->event_count += field.number == EXPORT_LINE_EVENT_FIELD;
    exporting->has_ended = field.number == EXPORT_LINE_END_FIELD;
    if (exporting->has_ended) {
        add_checksum(exporting, cli, &line);
    }
    buffer_init(&json, &cli->arena, line.size * 2 + 64);
    if (proto_json_write(&cli->ctx, &contract_errata_v1_export_line, line, &style, &json) != OK) {
        return cli_local(cli, "the server sent a line that does not decode; it may have another "
                              "version");
    }
    buffer_append(&json, SLICE("\n"));
    text = buffer_slice(&json);
    sha256_add(&exporting->sha256, text);
    if (!buffer_ok(&json) || fwrite(text.data, 1, text.size, cli->out.stream) != text.size) {
        return cli_local(cli, "standard output: cannot be written");
    }
    state.done = exporting->event_count;
    progress_show(&cli->progress, &state);
    return CLI_OK;
}

/* Writes the lines of a message. */
static enum cli_exit take(struct cli *cli, struct slice message, void *user)
{
    struct exporting *exporting = (struct exporting *)user;
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum cli_exit result = CLI_OK;
    enum err err = OK;

    while (result == CLI_OK && (err = wire_next(&reader, &field)) == OK) {
        if (field.number == EXPORT_ORGANIZATION_RESPONSE_LINES_FIELD) {
            result = write_line(cli, exporting, field.bytes);
        }
    }
    return result != CLI_OK || err == ERR_NOT_FOUND
               ? result
               : cli_local(cli, "the server sent a reply that does not decode");
}

enum cli_exit org_export_run(struct cli *cli)
{
    struct exporting exporting = {.event_count = 0};
    const struct stream_call call = {
        .path = "/errata.v1.AdminService/ExportOrganization", .take = take, .user = &exporting};
    enum cli_exit result = CLI_OK;

    sha256_begin(&exporting.sha256);
    cli->json = false; /* the lines are JSON */
    cli_progress(cli);
    result = stream_call_run(cli, &call);
    if (result == CLI_OK && !exporting.has_ended) {
        return cli_local(cli, "the server ended the export early; expected another attempt");
    }
    if (result == CLI_OK) {
        cli_note(cli, "exported %" PRIu64 " events", exporting.event_count);
    }
    return result;
}
