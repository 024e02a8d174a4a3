/*
 * import.c: see import.h. The file is read twice: all of it is checked before any of it is sent; what
 * comes from standard input is kept in a temporary file meanwhile. Each batch has an idempotency key made of its place in the file and its
 * bytes, so that repeating an interrupted import stores nothing twice.
 */
#include "tools/errata/corrections/import.h"

#include "store/base/json.h"
#include "store/base/sha256.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/import_report.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* `import-` and a digest in hex. */
#define KEY_BYTES (7 + 2 * SHA256_BYTES)

struct import {
    struct cli *cli;
    struct import_report report;
    FILE *file; /* owned unless it is standard input */
    const char *path;
    char *line; /* owned: getline's */
    size_t line_capacity;
    size_t pending_bytes; /* of `line`: read, but left for the next batch */
    uint64_t line_number;
    int64_t batch_events;
    uint64_t read_bytes;
    uint64_t file_bytes; /* 0: not known */
    int64_t start_us;
    bool closed; /* the reader of the output is gone */
};

/* One batch, in the cli's arena, which is emptied between batches. */
struct batch {
    struct buffer json;
    int64_t count;
    uint64_t first_line;
    uint64_t last_line;
};

/* Reads the next line that is not blank; 0 bytes at the end. */
static enum cli_exit next_line(struct import *import, size_t *ret_bytes)
{
    while (import->pending_bytes == 0) {
        ssize_t size = 0;

        errno = 0;
        size = getline(&import->line, &import->line_capacity, import->file);
        if (size < 0) {
            *ret_bytes = 0;
            return feof(import->file) != 0 ? CLI_OK
                                           : cli_local(import->cli, "%s can't be read: %s",
                                                       import->path, strerror(errno));
        }
        import->line_number++;
        import->read_bytes += (uint64_t)size;
        if ((size_t)size > IMPORT_LINE_BYTES_MAX) {
            return cli_local(import->cli, "%s line %llu is larger than %zu bytes", import->path,
                             (unsigned long long)import->line_number, IMPORT_LINE_BYTES_MAX);
        }
        if (strspn(import->line, " \t\r\n") < (size_t)size) {
            import->pending_bytes = (size_t)size;
        }
    }
    *ret_bytes = import->pending_bytes;
    return CLI_OK;
}

/* Converts the line at hand into an event whose `_json` members are texts, in the cli's arena; false with
 * cli->fault. A line must be one JSON object, or it could change the batch around it. */
static bool read_line(struct import *import, size_t bytes, struct slice *ret_event)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct cli *cli = import->cli;
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct buffer event;
    enum err err = json_check(&cli->arena, slice_of(import->line, bytes), &rules, &value, &problem);

    fault_init(&cli->fault, &cli->arena);
    if (err == OK && value.kind == JSON_OBJECT) {
        buffer_init(&event, &cli->arena, bytes + 64);
        request_objects_to_texts(value, &event);
        *ret_event = buffer_slice(&event);
        return buffer_ok(&event);
    }
    (void)fault_say(&cli->fault, ERR_INVALID, "invalid JSON at byte %zu: %s; expected one object",
                    problem.at, err == OK ? "another value" : problem.what);
    return false;
}

/* Checks an event by the contract, as a batch of one; false with cli->fault. */
static bool check_event(struct import *import, struct slice event)
{
    const struct method_info *method =
        cli_method("/errata.v1.FeedbackService/CaptureFeedbackEvent");
    struct cli *cli = import->cli;
    struct slice json =
        arena_printf(&cli->arena, "{\"event\":%.*s}", (int)event.size, (const char *)event.data);
    struct buffer wire;

    fault_init(&cli->fault, &cli->arena);
    return cli_try_encode(cli, method, json, &wire) == OK;
}

/* Reports every line that is not valid. */
static enum cli_exit check_file(struct import *import)
{
    /* The file's end ends the loop. */
    for (;;) {
        struct slice event = {NULL, 0};
        size_t bytes = 0;
        enum cli_exit result = next_line(import, &bytes);

        if (result != CLI_OK || bytes == 0) {
            return result;
        }
        arena_reset(&import->cli->arena);
        import->pending_bytes = 0;
        if (read_line(import, bytes, &event) && check_event(import, event)) {
            import->report.valid++;
        } else {
            import->report.invalid++;
            import_report_fault(&import->report, import->line_number);
        }
    }
}

static enum cli_exit fill_batch(struct import *import, struct batch *batch)
{
    *batch = (struct batch){.count = 0};
    buffer_init(&batch->json, &import->cli->arena, 65536);
    buffer_append(&batch->json, SLICE("{\"events\":["));
    while (batch->count < import->batch_events) {
        struct slice event = {NULL, 0};
        size_t bytes = 0;
        enum cli_exit result = next_line(import, &bytes);

        if (result != CLI_OK) {
            return result;
        }
        if (bytes == 0 || (batch->count > 0 && batch->json.size + bytes > IMPORT_BATCH_BYTES_MAX)) {
            break;
        }
        import->pending_bytes = 0;
        if (!read_line(import, bytes, &event) ||
            (import->report.invalid > 0 && !check_event(import, event))) {
            continue; /* reported by the check */
        }
        buffer_append(&batch->json, batch->count > 0 ? SLICE(",") : SLICE(""));
        buffer_append(&batch->json, event);
        batch->first_line = batch->count == 0 ? import->line_number : batch->first_line;
        batch->last_line = import->line_number;
        batch->count++;
    }
    buffer_append(&batch->json, SLICE("]}"));
    return buffer_ok(&batch->json) ? CLI_OK : cli_local(import->cli, "out of memory");
}

/* The key of a batch: the same for the same lines at the same place. */
static void make_key(const struct batch *batch, char key[KEY_BYTES])
{
    char place[32];
    int size = snprintf(place, sizeof(place), "%llu:", (unsigned long long)batch->first_line);
    const struct slice pieces[] = {slice_of(place, (size_t)size), buffer_slice(&batch->json)};
    struct sha256_digest digest = sha256_pieces(pieces, 2);

    memcpy(key, "import-", 7);
    sha256_format(&digest, key + 7);
}

/* A batch is stored whole: its first event says whether it is new. */
static enum cli_exit count_batch(struct import *import, const struct batch *batch,
                                 struct slice json)
{
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value event = {JSON_NULL, {NULL, 0}};
    struct json_walk walk;
    struct slice key = {NULL, 0};
    enum cli_exit result = reply_parse(import->cli, json, &reply);

    if (result != CLI_OK) {
        return result;
    }
    walk = reply_walk(reply, "events");
    if (json_walk_next(&walk, &key, &event)) {
        import_report_count(&import->report, reply_text(import->cli, event, "id"),
                            (uint64_t)batch->count);
    }
    return CLI_OK;
}

static enum cli_exit send_batch(struct import *import, const struct batch *batch)
{
    struct cli *cli = import->cli;
    char key[KEY_BYTES] = {0};
    const struct client_metadata metadata = {SLICE("idempotency-key"), slice_of(key, KEY_BYTES)};
    struct client_options options = {.timeout_ms =
                                         cli->timeout_ms > 0 ? cli->timeout_ms : CONNECT_TIMEOUT_MS,
                                     .metadata = &metadata,
                                     .metadata_count = import->report.again ? 0 : 1};
    struct client_request request = {
        .method = cli_method("/errata.v1.FeedbackService/BatchCaptureFeedbackEvents"),
        .options = &options};
    struct slice reply = {NULL, 0};
    enum cli_exit result = CLI_OK;

    fault_init(&cli->fault, &cli->arena); /* without what skipped lines have */
    result = cli_encode(cli, request.method, buffer_slice(&batch->json), &request.message);

    make_key(batch, key);
    if (result == CLI_OK) {
        result = cli_call_with(cli, &request, &cli->arena, &reply);
    }
    if (result != CLI_OK) {
        cli_note(cli,
                 "nothing of lines %llu to %llu was stored; events[0] is line %llu; %llu events "
                 "before them are stored",
                 (unsigned long long)batch->first_line, (unsigned long long)batch->last_line,
                 (unsigned long long)batch->first_line,
                 (unsigned long long)import->report.created + import->report.repeated);
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, reply);
        import->closed = fflush(cli->out.stream) != 0;
    }
    return count_batch(import, batch, reply);
}

static void show_progress(const struct import *import)
{
    const struct progress_state state = {.unit = "events",
                                         .done = import->report.created + import->report.repeated,
                                         .done_steps = import->read_bytes,
                                         .total_steps = import->file_bytes};

    progress_show(&import->cli->progress, &state);
}

static enum cli_exit import_all(struct import *import)
{
    /* The file's end ends the loop: each turn takes at least one line. */
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

static enum cli_exit open_file(struct import *import)
{
    struct stat status;
    enum cli_exit result = csv_input_file(import->cli, import->path, &import->file);

    if (result == CLI_OK) {
        result = csv_input_keep(import->cli, &import->file);
    }
    if (result == CLI_OK && fstat(fileno(import->file), &status) == 0 && S_ISREG(status.st_mode)) {
        import->file_bytes = (uint64_t)status.st_size;
    }
    return result;
}

/* Checks the file, then sends it from its beginning. */
static enum cli_exit import_file(struct import *import)
{
    enum cli_exit result = check_file(import);

    if (result == CLI_OK && import->report.valid + import->report.invalid == 0) {
        cli_note(import->cli, "%s holds no events", import->path);
        return CLI_OK;
    }
    if (result != CLI_OK || !import_report_may_send(&import->report, &result)) {
        return result;
    }
    /* The connection's settings live in the arena, which is emptied between batches. */
    result = cli_connect(import->cli);
    if (result == CLI_OK) {
        result = import_report_start(&import->report);
    }
    if (result != CLI_OK) {
        return result;
    }
    rewind(import->file);
    import->line_number = 0;
    import->read_bytes = 0;
    cli_progress(import->cli);
    import->start_us = clock_monotonic_us(import->cli->ctx.clock);
    result = import_all(import);
    return import_report_end(&import->report, result,
                             clock_monotonic_us(import->cli->ctx.clock) - import->start_us);
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
    import_report_init(&import.report, cli, "events");
    result = open_file(&import);
    if (result == CLI_OK) {
        result = import_file(&import);
    }
    free(import.line);
    if (import.file != NULL && import.file != stdin) {
        (void)fclose(import.file);
    }
    return result;
}
