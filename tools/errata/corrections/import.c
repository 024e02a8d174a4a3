/*
 * import.c: see import.h. Each batch has an idempotency key made of its place in the file and its
 * bytes, so that repeating an interrupted import stores nothing twice.
 */
#include "tools/errata/corrections/import.h"

#include "store/base/json.h"
#include "store/base/sha256.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* `import-` and a digest in hex. */
#define KEY_BYTES (7 + 2 * SHA256_BYTES)

struct import {
    struct cli *cli;
    FILE *file; /* owned unless it is standard input */
    const char *path;
    char *line; /* owned: getline's */
    size_t line_capacity;
    size_t pending_bytes; /* of `line`: read, but left for the next batch */
    uint64_t line_number;
    uint64_t stored;
    int64_t batch_events;
    bool again;
    uint64_t read_bytes;
    uint64_t file_bytes; /* 0: not known */
    bool closed; /* nobody reads the output any more */
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

/* A line must be one JSON object, or it could change the batch around it. */
static enum cli_exit check_line(struct import *import, struct slice line)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct arena arena;
    enum err err = OK;
    const char *what = NULL;
    bool object = false;

    arena_init(&arena, CLI_ARENA_BYTES_MAX);
    err = json_check(&arena, line, &rules, &value, &problem);
    object = err == OK && value.kind == JSON_OBJECT;
    what = problem.what;
    arena_deinit(&arena);
    if (object) {
        return CLI_OK;
    }
    if (err == OK) {
        what = "it is another value";
    } else if (what == NULL) {
        what = err_text(err);
    }
    return cli_usage(import->cli, "%s line %llu is no JSON object: %s (at byte %zu)", import->path,
                     (unsigned long long)import->line_number, what, problem.at);
}

static enum cli_exit fill_batch(struct import *import, struct batch *batch)
{
    *batch = (struct batch){.count = 0};
    buffer_init(&batch->json, &import->cli->arena, 65536);
    buffer_append(&batch->json, SLICE("{\"events\":["));
    while (batch->count < import->batch_events) {
        size_t bytes = 0;
        enum cli_exit result = next_line(import, &bytes);

        if (result != CLI_OK) {
            return result;
        }
        if (bytes == 0 || (batch->count > 0 && batch->json.size + bytes > IMPORT_BATCH_BYTES_MAX)) {
            break;
        }
        result = check_line(import, slice_of(import->line, bytes));
        if (result != CLI_OK) {
            return result;
        }
        buffer_append(&batch->json, batch->count > 0 ? SLICE(",") : SLICE(""));
        buffer_append(&batch->json, slice_of(import->line, bytes));
        import->pending_bytes = 0;
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

static enum cli_exit send_batch(struct import *import, const struct batch *batch)
{
    struct cli *cli = import->cli;
    char key[KEY_BYTES] = {0};
    const struct client_metadata metadata = {SLICE("idempotency-key"), slice_of(key, KEY_BYTES)};
    struct client_options options = {.timeout_ms =
                                         cli->timeout_ms > 0 ? cli->timeout_ms : CONNECT_TIMEOUT_MS,
                                     .metadata = &metadata,
                                     .metadata_count = import->again ? 0 : 1};
    struct client_request request = {
        .method = cli_method("/errata.v1.FeedbackService/BatchCaptureFeedbackEvents"),
        .options = &options};
    struct slice reply = {NULL, 0};
    enum cli_exit result =
        cli_encode(cli, request.method, buffer_slice(&batch->json), &request.message);

    make_key(batch, key);
    if (result == CLI_OK) {
        result = cli_call_with(cli, &request, &cli->arena, &reply);
    }
    if (result != CLI_OK) {
        cli_note(cli,
                 "nothing of lines %llu to %llu was stored; events[0] is line %llu; %llu events "
                 "before them are stored",
                 (unsigned long long)batch->first_line, (unsigned long long)batch->last_line,
                 (unsigned long long)batch->first_line, (unsigned long long)import->stored);
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, reply);
        import->closed = fflush(cli->out.stream) != 0;
    }
    return CLI_OK;
}

static void show_progress(const struct import *import)
{
    const struct progress_state state = {.unit = "events",
                                         .done = import->stored,
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
        import->stored += (uint64_t)batch.count;
        show_progress(import);
    }
    return CLI_OK;
}

static enum cli_exit open_file(struct import *import)
{
    struct stat status;

    import->file = strcmp(import->path, "-") == 0 ? stdin : fopen(import->path, "rbe");
    if (import->file == NULL) {
        return cli_local(import->cli, "%s can't be read: %s", import->path, strerror(errno));
    }
    if (fstat(fileno(import->file), &status) == 0 && S_ISREG(status.st_mode)) {
        import->file_bytes = (uint64_t)status.st_size;
    }
    return CLI_OK;
}

/* How it went: the arena is empty by then. */
static void conclude(struct import *import, enum cli_exit result, int64_t took_us)
{
    struct cli *cli = import->cli;
    struct slice span = progress_span(&cli->arena, took_us);

    progress_hide(&cli->progress);
    if (result == CLI_OK && import->stored == 0) {
        cli_note(cli, "%s holds no events", import->path);
    } else if (result == CLI_OK) {
        cli_note(cli, "%llu events are stored, in %.*s", (unsigned long long)import->stored,
                 (int)span.size, (const char *)span.data);
    }
}

enum cli_exit import_run(struct cli *cli)
{
    const char *batch = options_get(&cli->options, "batch");
    struct import import = {.cli = cli,
                            .path = cli->options.words[0],
                            .batch_events = IMPORT_BATCH_EVENTS_MAX,
                            .again = options_has(&cli->options, "again")};
    int64_t start_us = 0;
    enum cli_exit result = CLI_OK;

    if (batch != NULL && (!input_number(batch, &import.batch_events) || import.batch_events < 1 ||
                          import.batch_events > IMPORT_BATCH_EVENTS_MAX)) {
        return cli_usage(cli, "--batch \"%s\": give a number from 1 to %d", batch,
                         IMPORT_BATCH_EVENTS_MAX);
    }
    /* The connection's settings live in the arena, which is emptied between batches. */
    result = cli_connect(cli);
    if (result != CLI_OK) {
        return result;
    }
    result = open_file(&import);
    if (result != CLI_OK) {
        return result;
    }
    start_us = clock_monotonic_us(cli->ctx.clock);
    cli_progress(cli);
    result = import_all(&import);
    conclude(&import, result, clock_monotonic_us(cli->ctx.clock) - start_us);
    free(import.line);
    if (import.file != stdin) {
        (void)fclose(import.file);
    }
    return result;
}
