/*
 * org_import.c: `errata org import`: reads the whole file once to check it, then again to send it, some events in a
 * call. The server reports the next event, so the same command continues after an interruption. Events before one that
 * the server refuses are kept.
 */
#include "tools/errata/admin/export_file.h"
#include "tools/errata/admin/org_transfer.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/reply.h"

#include "store/base/uuid.h"
#include "store/base/wire.h"

#include "client/header.h"

#include <errata/v1/organization_transfer.fields.h>
#include <inttypes.h>
#include <stdlib.h>

#define IMPORT_PATH "/errata.v1.AdminService/ImportOrganization"
/* Maximum events of one call, and their approximate bytes: a write of some milliseconds. */
#define CALL_EVENTS_MAX 64
#define CALL_BYTES_MAX ((size_t)128 << 10)
/* The beginnings of messages about lines; an event has its index in the call. */
#define EVENT_PATH "events["
#define HEADER_PATH "header."
#define END_PATH "end."

struct importing {
    struct cli *cli;
    struct export_file file;
    const char *name; /* name of the organisation to create */
    struct slice header; /* wire bytes, in the memory of the program */
    struct buffer message; /* the next call's request */
    size_t event_count; /* number of events in it */
    uint64_t first_line; /* line of its first event */
    bool has_end; /* the request contains the end line */
    uint64_t imported_seq; /* as the server returned it */
    char org_id[UUID_TEXT_BYTES + 1]; /* likewise; empty: none yet */
    bool completed;
};

/* --- calls --- */

static void begin_message(struct importing *importing)
{
    arena_reset(&importing->cli->arena);
    buffer_init(&importing->message, &importing->cli->arena, CALL_BYTES_MAX * 2);
    wire_put_bytes(&importing->message, IMPORT_ORGANIZATION_REQUEST_NAME_FIELD,
                   slice_text(importing->name));
    wire_put_bytes(&importing->message, IMPORT_ORGANIZATION_REQUEST_HEADER_FIELD,
                   importing->header);
    importing->event_count = 0;
    importing->has_end = false;
}

/* Reads the state of the import on the server. */
static enum cli_exit read_reply(struct importing *importing, struct slice reply)
{
    struct wire_reader reader = wire_reader_of(reply);
    struct wire_field field;
    enum err err = OK;

    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == IMPORT_ORGANIZATION_RESPONSE_IMPORTED_SEQ_FIELD) {
            importing->imported_seq = field.value;
        } else if (field.number == IMPORT_ORGANIZATION_RESPONSE_COMPLETED_FIELD) {
            importing->completed = field.value != 0;
        } else if (field.number == IMPORT_ORGANIZATION_RESPONSE_ORG_ID_FIELD) {
            (void)snprintf(importing->org_id, sizeof(importing->org_id), "%.*s",
                           SLICE_ARGS(field.bytes));
        }
    }
    return err == ERR_NOT_FOUND
               ? CLI_OK
               : cli_local(importing->cli, "the server sent a reply that does not decode");
}

/* Returns the number of the line of a message that begins with `events[N]`, `header` or `end`; 0 for other
 * messages. */
static uint64_t refused_line(const struct importing *importing, struct slice message)
{
    char digits[24];
    struct slice rest = {NULL, 0};

    if (slice_starts_with(message, SLICE(HEADER_PATH))) {
        return 1;
    }
    if (slice_starts_with(message, SLICE(END_PATH))) {
        return importing->file.line;
    }
    if (!slice_starts_with(message, SLICE(EVENT_PATH))) {
        return 0;
    }
    rest = slice_after(message, strlen(EVENT_PATH));
    (void)snprintf(digits, sizeof(digits), "%.*s", SLICE_ARGS(rest));
    return importing->first_line + strtoull(digits, NULL, 10);
}

static enum cli_exit report(struct importing *importing, const struct client_status *status)
{
    struct cli *cli = importing->cli;
    uint64_t line = refused_line(importing, status->message);
    enum cli_exit result = failure_print_status(cli, status);

    if (line > 0) {
        cli_note(cli, "%s:%" PRIu64 ": refused by the server", importing->file.path, line);
    }
    if (importing->org_id[0] != '\0') {
        cli_note(cli,
                 "organisation %s has %" PRIu64 " events of it: the same command goes on, `errata "
                 "org delete %s --confirm-name NAME --reason TEXT` removes them",
                 importing->org_id, importing->imported_seq, importing->org_id);
    }
    return result;
}

/* Makes the call, and begins the next request. */
static enum cli_exit send(struct importing *importing)
{
    struct cli *cli = importing->cli;
    struct client_options options = {.timeout_ms = 0};
    struct client_request request = {.method = cli_method(IMPORT_PATH), .options = &options};
    struct client_result answer = {.reply = {NULL, 0}};
    struct progress_state state = {.unit = "events"};
    enum cli_exit result = cli_call_options(cli, request.method, &options);

    if (!buffer_ok(&importing->message)) {
        return cli_local(cli, "out of memory");
    }
    request.message = buffer_slice(&importing->message);
    if (result == CLI_OK) {
        result = cli_call_status(cli, &request, &cli->arena, &answer);
    }
    if (result == CLI_OK && answer.status.code != CLIENT_CODE_OK) {
        return report(importing, &answer.status);
    }
    if (result == CLI_OK) {
        result = read_reply(importing, answer.reply);
    }
    state.done = importing->imported_seq;
    progress_show(&cli->progress, &state);
    begin_message(importing);
    return result;
}

/* --- the file --- */

/* Checks the whole file before anything is sent. */
static enum cli_exit check_file(struct importing *importing)
{
    struct cli *cli = importing->cli;
    struct export_file_line line = {.field = 0};
    enum cli_exit result = CLI_OK;

    do {
        arena_reset(&cli->arena);
        result = export_file_read(&importing->file, &line);
        if (result == CLI_OK && line.field == EXPORT_LINE_HEADER_FIELD &&
            !arena_copy(&cli->kept, line.bytes, &importing->header)) {
            result = cli_local(cli, "out of memory");
        }
    } while (result == CLI_OK && line.field != 0);
    return result == CLI_OK ? export_file_rewind(&importing->file) : result;
}

/* Adds a line to the next call, unless the server has it. */
static void add(struct importing *importing, const struct export_file_line *line)
{
    if (line->field == EXPORT_LINE_EVENT_FIELD &&
        importing->file.event_count > importing->imported_seq) {
        if (importing->event_count == 0) {
            importing->first_line = importing->file.line;
        }
        wire_put_bytes(&importing->message, IMPORT_ORGANIZATION_REQUEST_EVENTS_FIELD, line->bytes);
        importing->event_count++;
    } else if (line->field == EXPORT_LINE_END_FIELD) {
        wire_put_bytes(&importing->message, IMPORT_ORGANIZATION_REQUEST_END_FIELD, line->bytes);
        importing->has_end = true;
    }
}

static enum cli_exit send_file(struct importing *importing)
{
    struct export_file_line line = {.field = 0};
    enum cli_exit result = CLI_OK;

    do {
        if (importing->event_count == 0) {
            begin_message(importing); /* lines that the server has are not kept in memory */
        }
        result = export_file_read(&importing->file, &line);
        if (result == CLI_OK) {
            add(importing, &line);
        }
        if (result == CLI_OK && (importing->has_end || importing->event_count == CALL_EVENTS_MAX ||
                                 importing->message.size >= CALL_BYTES_MAX)) {
            result = send(importing);
        }
    } while (result == CLI_OK && !importing->completed && line.field != 0);
    return result;
}

static enum cli_exit import(struct importing *importing)
{
    enum cli_exit result = check_file(importing);

    if (result != CLI_OK) {
        return result;
    }
    cli_progress(importing->cli);
    begin_message(importing);
    result = send(importing); /* a call without events, which returns the state of the import */
    if (result == CLI_OK && importing->imported_seq > 0 && !importing->completed) {
        cli_note(importing->cli, "going on after event %" PRIu64, importing->imported_seq);
    }
    if (result == CLI_OK && !importing->completed) {
        result = send_file(importing);
    }
    progress_hide(&importing->cli->progress);
    if (result == CLI_OK && !importing->completed) {
        return cli_local(importing->cli, "the server has not completed the import");
    }
    return result;
}

enum cli_exit org_import_run(struct cli *cli)
{
    struct importing importing = {.cli = cli, .name = options_get(&cli->options, "as")};
    enum cli_exit result = CLI_OK;

    if (importing.name == NULL) {
        return cli_usage(cli, "--as: missing; expected the name of the organisation to make");
    }
    result = export_file_open(&importing.file, cli, cli->options.words[0]);
    if (result == CLI_OK) {
        result = import(&importing);
    }
    export_file_close(&importing.file);
    if (result == CLI_OK && cli->json) {
        print_text(&cli->out, "{\"orgId\":\"%s\",\"importedSeq\":\"%" PRIu64 "\"}\n",
                   importing.org_id, importing.imported_seq);
    } else if (result == CLI_OK) {
        print_text(&cli->out, "%s\n", importing.org_id);
        cli_note(cli,
                 "imported %" PRIu64 " events; its tokens were not: `errata token create --org %s "
                 "--role ADMIN` creates one",
                 importing.imported_seq, importing.org_id);
    }
    return result;
}
