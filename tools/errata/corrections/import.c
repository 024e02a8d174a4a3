/*
 * import.c: see import.h. The file is read twice, since it is checked completely before anything is
 * sent; standard input is copied to a temporary file for that. The idempotency key of a batch is a
 * digest of the number of its first line and its bytes, so that a repeat of an interrupted import
 * stores nothing twice. A batch is stored completely or not at all: with --skip-invalid, events
 * that the server refuses are removed, and the rest of the batch is sent again.
 */
#include "tools/errata/corrections/import.h"

#include "client/details.h"
#include "client/header.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/import_report.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/import/record_reader.h"

#include <stdio.h>

#define BATCH_METHOD "/errata.v1.FeedbackService/BatchCaptureFeedbackEvents"

struct import {
    struct cli *cli;
    struct import_report report;
    FILE *file; /* owned unless it is standard input */
    const char *path;
    struct record_reader reader;
    struct arena record_arena; /* the current record */
    struct json_value record;
    bool has_record; /* the current record was not taken yet */
    bool checking; /* the first pass, which reports problems */
    int64_t batch_events;
    bool closed; /* the reader of the output has closed it */
};

struct batch_event {
    struct slice json;
    uint64_t line;
    bool refused; /* refused by the server */
};

/* Consecutive events of a batch, in the cli's arena, which is emptied between batches. */
struct batch {
    struct batch_event *events;
    size_t count;
    size_t bytes; /* initial size of the events */
};

/* Reads the next record, which stays the current one until it is taken. Damaged ones are reported by the check, and
 * passed over when sending. */
static enum cli_exit next_record(struct import *import)
{
    enum record_step step = RECORD_DAMAGED;

    while (!import->has_record && step == RECORD_DAMAGED) {
        arena_reset(&import->record_arena);
        step = record_reader_read(&import->reader, &import->record_arena, &import->record);
        if (step == RECORD_FAILED && ferror(import->file) != 0) {
            return cli_local(import->cli, "%s can't be read: %s", import->path,
                             import->reader.json.problem);
        }
        if ((step == RECORD_DAMAGED || step == RECORD_FAILED) && import->checking) {
            import->report.invalid++;
            import_report_problem(&import->report, import->reader.line, "%s",
                                  import->reader.problem);
        }
        import->has_record = step == RECORD_READ;
    }
    return CLI_OK;
}

/* Takes the current record as an event whose `_json` members are texts, in the cli's arena; false without memory. */
static bool take_event(struct import *import, struct slice *ret_event)
{
    struct buffer event;

    buffer_init(&event, &import->cli->arena, import->record.text.size + 64);
    request_objects_to_texts(import->record, &event);
    import->has_record = false;
    *ret_event = buffer_slice(&event);
    return buffer_ok(&event);
}

/* Checks an event by the contract; false with cli->fault. */
static bool check_event(struct import *import, struct slice event)
{
    const struct method_info *method =
        cli_method("/errata.v1.FeedbackService/CaptureFeedbackEvent");
    struct cli *cli = import->cli;
    struct slice json = arena_printf(&cli->arena, "{\"event\":%.*s}", SLICE_ARGS(event));
    struct buffer wire;

    fault_init(&cli->fault, &cli->arena);
    return cli_try_encode(cli, method, json, &wire) == OK;
}

/* Reports every invalid record. */
static enum cli_exit check_records(struct import *import)
{
    enum cli_exit result = CLI_OK;

    import->checking = true;
    result = next_record(import);
    /* The loop is bounded by the file: each turn takes a record. */
    while (result == CLI_OK && import->has_record) {
        struct slice event = {NULL, 0};

        arena_reset(&import->cli->arena);
        if (!take_event(import, &event)) {
            return cli_local(import->cli, "out of memory");
        }
        if (check_event(import, event)) {
            import->report.valid++;
        } else {
            import->report.invalid++;
            import_report_fault(&import->report, import->reader.line);
        }
        result = next_record(import);
    }
    import->checking = false;
    return result;
}

static enum cli_exit fill_batch(struct import *import, struct batch *batch)
{
    enum cli_exit result = next_record(import);

    *batch = (struct batch){.count = 0};
    batch->events =
        arena_calloc(&import->cli->arena, (size_t)import->batch_events, sizeof(*batch->events));
    if (batch->events == NULL) {
        return cli_local(import->cli, "out of memory");
    }
    while (result == CLI_OK && import->has_record && batch->count < (size_t)import->batch_events) {
        struct slice event = {NULL, 0};

        if (batch->count > 0 && batch->bytes + import->record.text.size > IMPORT_BATCH_BYTES_MAX) {
            break;
        }
        if (!take_event(import, &event)) {
            return cli_local(import->cli, "out of memory");
        }
        /* The check has reported an invalid one. */
        if (import->report.invalid == 0 || check_event(import, event)) {
            batch->events[batch->count++] = (struct batch_event){event, import->reader.line, false};
            batch->bytes += event.size;
        }
        result = next_record(import);
    }
    return result;
}

/* Builds the request that stores the events of a batch. */
static struct slice batch_json(struct import *import, const struct batch *batch)
{
    struct buffer json;

    buffer_init(&json, &import->cli->arena, batch->bytes + batch->count + 16);
    buffer_append(&json, SLICE("{\"events\":["));
    for (size_t i = 0; i < batch->count; i++) {
        buffer_append(&json, i > 0 ? SLICE(",") : SLICE(""));
        buffer_append(&json, batch->events[i].json);
    }
    buffer_append(&json, SLICE("]}"));
    return buffer_ok(&json) ? buffer_slice(&json) : slice_of(NULL, 0);
}

/* Counts a stored batch. All of its events are new, or none is. */
static enum cli_exit count_batch(struct import *import, const struct batch *batch,
                                 struct slice wire)
{
    struct cli *cli = import->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct reply_walk walk;
    struct slice json = {NULL, 0};
    enum cli_exit result = cli_decode(cli, cli_method(BATCH_METHOD), wire, &cli->arena, &json);

    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, json);
        import->closed = fflush(cli->out.stream) != 0;
    }
    walk = reply_walk(reply, "events");
    if (reply_next(&walk)) {
        import_report_count(&import->report, reply_text(cli, walk.row, "id"), batch->count);
    }
    return CLI_OK;
}

static enum cli_exit call_server(struct import *import, const struct batch *batch,
                                 struct client_result *ret_result)
{
    struct cli *cli = import->cli;
    char key[IMPORT_KEY_BYTES] = {0};
    struct slice json = batch_json(import, batch);
    const struct client_metadata metadata = {
        SLICE("idempotency-key"),
        import_report_key(&import->report, batch->events[0].line, SLICE(""), json, key)};
    struct client_options options = {.timeout_ms =
                                         cli->timeout_ms > 0 ? cli->timeout_ms : CONNECT_TIMEOUT_MS,
                                     .metadata = &metadata,
                                     .metadata_count = metadata.value.size > 0 ? 1 : 0};
    struct client_request request = {.method = cli_method(BATCH_METHOD), .options = &options};
    enum cli_exit result = CLI_OK;

    fault_init(&cli->fault, &cli->arena); /* discards the faults of skipped lines */
    result = json.size > 0 ? cli_encode(cli, request.method, json, &request.message)
                           : cli_local(cli, "out of memory");
    return result == CLI_OK ? cli_call_status(cli, &request, &cli->arena, ret_result) : result;
}

/* --- events that the server refuses --- */

/* Splits `events[3].after_json` into the index and the rest; false for a path of another form. */
static bool split_path(struct slice path, size_t *ret_index, struct slice *ret_rest)
{
    const struct slice start = SLICE("events[");
    size_t at = start.size;
    size_t index = 0;

    if (!slice_starts_with(path, start)) {
        return false;
    }
    for (; at < path.size && path.data[at] >= '0' && path.data[at] <= '9'; at++) {
        index = index * 10 + (size_t)(path.data[at] - '0');
        if (index >= IMPORT_BATCH_EVENTS_MAX) {
            return false;
        }
    }
    if (at == start.size || at == path.size || path.data[at] != ']') {
        return false;
    }
    at += at + 1 < path.size && path.data[at + 1] == '.' ? 2 : 1;
    *ret_index = index;
    *ret_rest = slice_after(path, at);
    return true;
}

/* Reports the events that the status names, by their lines, and marks them. Returns their number. */
static size_t mark_refused(struct import *import, const struct batch *batch,
                           const struct client_status *status)
{
    struct client_details details = {.retry_ms = -1};
    size_t count = 0;

    if (status->code != CLIENT_CODE_INVALID_ARGUMENT ||
        client_details_read(status->details, &details) != OK) {
        return 0;
    }
    for (size_t i = 0; i < details.violation_count; i++) {
        const struct client_violation *violation = &details.violations[i];
        struct slice field = {NULL, 0};
        size_t index = 0;

        if (!split_path(violation->field, &index, &field) || index >= batch->count) {
            continue;
        }
        count += batch->events[index].refused ? 0 : 1;
        batch->events[index].refused = true;
        import_report_problem(&import->report, batch->events[index].line, "%.*s%s%.*s",
                              SLICE_ARGS(field), field.size > 0 ? ": " : "",
                              SLICE_ARGS(violation->description));
    }
    return count;
}

/* Removes the marked events. */
static void remove_refused(struct import *import, struct batch *batch)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->events[i].refused) {
            import->report.refused++;
        } else {
            batch->events[kept++] = batch->events[i];
        }
    }
    batch->count = kept;
}

/* Reports a batch that was not stored. */
static enum cli_exit stop_at(struct import *import, const struct batch *batch, enum cli_exit result)
{
    cli_note(import->cli, "lines %llu to %llu were not stored; %llu events before them are stored",
             (unsigned long long)batch->events[0].line,
             (unsigned long long)batch->events[batch->count - 1].line,
             (unsigned long long)import->report.created + import->report.repeated);
    return result;
}

/* Sends a batch until it is stored. Each turn removes at least one event. */
static enum cli_exit send_batch(struct import *import, struct batch *batch)
{
    while (batch->count > 0) {
        struct client_result answer = {.reply = {NULL, 0}};
        enum cli_exit result = call_server(import, batch, &answer);
        size_t marked = 0;

        if (result != CLI_OK) {
            return stop_at(import, batch, result);
        }
        if (answer.status.code == CLIENT_CODE_OK) {
            return count_batch(import, batch, answer.reply);
        }
        marked = mark_refused(import, batch, &answer.status);
        if (marked == 0) {
            return stop_at(import, batch, failure_print_status(import->cli, &answer.status));
        }
        if (!import->report.skip_invalid) {
            return stop_at(import, batch, CLI_CALL_FAILED);
        }
        remove_refused(import, batch);
    }
    return CLI_OK;
}

static void show_progress(const struct import *import)
{
    const struct progress_state state = {.unit = "events",
                                         .done = import->report.created + import->report.repeated,
                                         .done_steps = record_reader_bytes(&import->reader),
                                         .total_steps = import->report.file_bytes};

    progress_show(&import->cli->progress, &state);
}

static enum cli_exit import_all(struct import *import)
{
    /* The loop is bounded by the end of the file: each turn takes at least one line. */
    while (!import->closed) {
        struct batch batch;
        enum cli_exit result = CLI_OK;

        arena_reset(&import->cli->arena);
        result = fill_batch(import, &batch);
        if (result != CLI_OK || batch.count == 0) {
            return result;
        }
        result = send_batch(import, &batch);
        if (result != CLI_OK) {
            return result;
        }
        show_progress(import);
    }
    return CLI_OK;
}

/* Begins with the first line. */
static enum cli_exit open_records(struct import *import)
{
    record_reader_close(&import->reader);
    return record_reader_open(&import->reader, import->file, NULL, NULL)
               ? CLI_OK
               : cli_usage(import->cli, "%s: %s", import->path, import->reader.problem);
}

/* Checks the file, then sends it from its beginning. */
static enum cli_exit import_file(struct import *import)
{
    enum cli_exit result = open_records(import);

    if (result == CLI_OK) {
        result = check_records(import);
    }
    if (result == CLI_OK && import->report.valid + import->report.invalid == 0) {
        cli_note(import->cli, "%s holds no events", import->path);
        return CLI_OK;
    }
    if (result != CLI_OK || !import_report_may_send(&import->report, &result)) {
        return result;
    }
    /* Connecting uses the arena, which is emptied between batches. */
    result = cli_connect(import->cli);
    if (result == CLI_OK) {
        result = import_report_start(&import->report);
    }
    if (result == CLI_OK) {
        result = open_records(import);
    }
    return result == CLI_OK ? import_report_end(&import->report, import_all(import)) : result;
}

enum cli_exit import_run(struct cli *cli)
{
    const char *batch = options_get(&cli->options, "batch");
    struct import import = {
        .cli = cli, .path = cli->options.words[0], .batch_events = IMPORT_BATCH_EVENTS_MAX};
    enum cli_exit result = CLI_OK;

    if (batch != NULL && (!input_number(batch, &import.batch_events) || import.batch_events < 1 ||
                          import.batch_events > IMPORT_BATCH_EVENTS_MAX)) {
        return cli_usage(cli, "--batch \"%s\": invalid number; expected 1 to %d", batch,
                         IMPORT_BATCH_EVENTS_MAX);
    }
    arena_init(&import.record_arena, CLI_ARENA_BYTES_MAX);
    import_report_init(&import.report, cli, "events");
    result = import_report_open(&import.report, &import.file);
    if (result == CLI_OK) {
        result = import_file(&import);
    }
    record_reader_close(&import.reader);
    arena_deinit(&import.record_arena);
    if (import.file != NULL && import.file != stdin) {
        (void)fclose(import.file);
    }
    return result;
}
