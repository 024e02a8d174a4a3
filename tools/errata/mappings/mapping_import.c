/*
 * mapping_import.c: see mapping_import.h. Each row has an idempotency key made of its line and its
 * request, so that repeating an interrupted import stores nothing twice. Rows of one customer's SKU
 * follow each other: which one was confirmed last decides.
 */
#include "tools/errata/mappings/mapping_import.h"

#include "client/header.h"
#include "store/base/sha256.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/terminal/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

/* `import-` and a digest in hex. */
#define KEY_BYTES (7 + 2 * SHA256_BYTES)

enum {
    COLUMN_CUSTOMER,
    COLUMN_SKU,
    COLUMN_INTERNAL,
    COLUMN_STATUS,
    COLUMN_CONFIDENCE,
    COLUMN_CREATED,
    COLUMN_ACTOR,
    COLUMN_COUNT
};

static const struct csv_input_column columns[COLUMN_COUNT] = {
    [COLUMN_CUSTOMER] = {"customer_id", true},   [COLUMN_SKU] = {"customer_sku", true},
    [COLUMN_INTERNAL] = {"internal_sku", true},  [COLUMN_STATUS] = {"status", false},
    [COLUMN_CONFIDENCE] = {"confidence", false}, [COLUMN_CREATED] = {"created_at", false},
    [COLUMN_ACTOR] = {"actor_user_id", false}};

/* What a row's status asks for. */
static const struct action {
    const char *status;
    const char *path; /* NULL: it follows from another row */
    bool suggests;
} actions[] = {{"CONFIRMED", "/errata.v1.MappingService/ConfirmMapping", false},
               {"SUGGESTED", "/errata.v1.MappingService/SuggestMapping", true},
               {"REJECTED", "/errata.v1.MappingService/RejectMapping", false},
               {"SUPERSEDED", NULL, false}};

/* A row that is under way. */
struct sent {
    uint64_t line_number; /* 0: the place is free */
    struct sha256_digest sku; /* of customer and folded SKU */
};

struct mapping_import {
    struct cli *cli;
    struct csv_input csv;
    const char *path;
    const char *actor; /* of rows that name none; NULL: the token's user */
    bool again;
    bool dry_run;
    bool has_row; /* the record at hand was not sent yet */
    bool ended; /* no more rows are read */
    struct sent sent[CALLS_MAX];
    char key[KEY_BYTES]; /* of the row that was given last */
    uint64_t file_bytes; /* 0: not known */
    uint64_t stored;
    uint64_t passed; /* rows that follow from others */
    uint64_t refused; /* by the server */
    uint64_t unreadable;
    enum cli_exit exit; /* of what stopped all */
};

/* --- what is wrong with a row --- */

/* Whether this one is told, too. */
static bool is_told(const struct mapping_import *import)
{
    return import->cli->json || import->refused + import->unreadable <= MAPPING_IMPORT_REPORTED_MAX;
}

static void PRINTF_LIKE(2, 3) note_row(struct mapping_import *import, const char *format, ...)
{
    char text[1024];
    va_list values;

    import->unreadable++;
    if (is_told(import)) {
        va_start(values, format);
        (void)vsnprintf(text, sizeof(text), format, values);
        va_end(values);
        cli_note(import->cli, "%s line %llu: %s", import->path,
                 (unsigned long long)csv_input_line(&import->csv), text);
    }
}

/* The codec's words on what the contract does not allow. */
static void note_fault(struct mapping_import *import)
{
    const struct fault *fault = &import->cli->fault;

    if (fault->count > 0) {
        note_row(import, "%.*s: %.*s", (int)fault->entries[0].field.size,
                 (const char *)fault->entries[0].field.data,
                 (int)fault->entries[0].description.size,
                 (const char *)fault->entries[0].description.data);
    } else {
        note_row(import, "%.*s", (int)fault->message.size, (const char *)fault->message.data);
    }
}

/* --- a row's request --- */

static const struct action *find_action(struct slice status)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (status.size == strlen(actions[i].status) &&
            strncasecmp((const char *)status.data, actions[i].status, status.size) == 0) {
            return &actions[i];
        }
    }
    return status.size == 0 ? &actions[0] : NULL;
}

/* A day stands for its first moment. */
static struct slice time_text(struct mapping_import *import)
{
    struct slice given = csv_input_field(&import->csv, COLUMN_CREATED);

    return given.size == strlen("2026-11-22")
               ? arena_printf(&import->cli->arena, "%.*sT00:00:00Z", (int)given.size,
                              (const char *)given.data)
               : given;
}

static struct slice make_json(struct mapping_import *import, const struct action *action)
{
    static const struct {
        size_t column;
        const char *member;
    } names[] = {{COLUMN_CUSTOMER, "customer_id"},
                 {COLUMN_SKU, "customer_sku"},
                 {COLUMN_INTERNAL, "internal_sku"}};
    struct slice confidence = csv_input_field(&import->csv, COLUMN_CONFIDENCE);
    struct slice actor = csv_input_field(&import->csv, COLUMN_ACTOR);
    struct slice created = time_text(import);
    struct request request;

    request_begin(&request, import->cli);
    if (action->suggests) {
        request_open(&request, "mapping");
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        request_text(&request, names[i].member, csv_input_field(&import->csv, names[i].column));
    }
    if (created.size > 0) {
        request_text(&request, "created_at", created);
    }
    if (action->suggests) {
        request_text(&request, "confidence", confidence);
        request_close(&request);
    } else if (actor.size > 0 || import->actor != NULL) {
        request_text(&request, "actor_user_id", actor.size > 0 ? actor : slice_text(import->actor));
    }
    return request_end(&request);
}

/* Says which field is empty; false where none is. */
static bool lacks_field(struct mapping_import *import, const struct action *action)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        bool needed = columns[i].required || (i == COLUMN_CONFIDENCE && action->suggests);

        if (needed && csv_input_field(&import->csv, i).size == 0) {
            note_row(import, "%s is empty", columns[i].name);
            return true;
        }
    }
    return false;
}

/* Makes the call of the row at hand; false where the row can't be sent, which was noted. */
static bool make_call(struct mapping_import *import, struct calls_item *item)
{
    struct cli *cli = import->cli;
    struct slice status = csv_input_field(&import->csv, COLUMN_STATUS);
    const struct action *action = find_action(status);
    struct buffer wire;
    enum err err = OK;

    if (action == NULL) {
        note_row(import, "there is no status \"%.*s\": it is one of CONFIRMED, SUGGESTED, REJECTED",
                 (int)(status.size < 64 ? status.size : 64), (const char *)status.data);
        return false;
    }
    if (action->path == NULL) {
        import->passed++;
        return false;
    }
    if (lacks_field(import, action)) {
        return false;
    }
    fault_init(&cli->fault, &cli->arena);
    item->method = cli_method(action->path);
    err = cli_try_encode(cli, item->method, make_json(import, action), &wire);
    if (err != OK) {
        note_fault(import);
        return false;
    }
    item->message = buffer_slice(&wire);
    return true;
}

/* The key of a row: the same for the same request at the same line. */
static void make_key(struct mapping_import *import, struct calls_item *item)
{
    char place[32];
    int size = snprintf(place, sizeof(place), "%llu:", (unsigned long long)item->tag);
    const struct slice pieces[] = {slice_of(place, (size_t)size), item->method->path,
                                   item->message};
    struct sha256_digest digest = sha256_pieces(pieces, 3);

    memcpy(import->key, "import-", 7);
    sha256_format(&digest, import->key + 7);
    item->key = import->again ? slice_of(NULL, 0) : slice_of(import->key, KEY_BYTES);
}

/* --- rows under way --- */

/* Of a customer and a SKU, as a server compares them or more coarsely. */
static struct sha256_digest sku_digest(const struct mapping_import *import)
{
    const struct slice pieces[] = {
        csv_input_field(&import->csv, COLUMN_CUSTOMER), SLICE("/"),
        fold_text(&import->cli->arena, csv_input_field(&import->csv, COLUMN_SKU))};

    return sha256_pieces(pieces, 3);
}

/* Notes that the row is under way; false where one of the same SKU is. */
static bool take_place(struct mapping_import *import, uint64_t line_number)
{
    struct sha256_digest sku = sku_digest(import);
    struct sent *place = NULL;

    for (size_t i = 0; i < CALLS_MAX; i++) {
        struct sent *sent = &import->sent[i];

        if (sent->line_number == 0) {
            place = sent;
        } else if (memcmp(&sent->sku, &sku, sizeof(sku)) == 0) {
            return false;
        }
    }
    if (place == NULL) {
        return false;
    }
    *place = (struct sent){line_number, sku};
    return true;
}

static void leave_place(struct mapping_import *import, uint64_t line_number)
{
    for (size_t i = 0; i < CALLS_MAX; i++) {
        if (import->sent[i].line_number == line_number) {
            import->sent[i].line_number = 0;
        }
    }
}

/* --- the calls --- */

static void show_progress(const struct mapping_import *import)
{
    const struct progress_state state = {.unit = "rows",
                                         .done = import->stored + import->passed + import->refused +
                                                 import->unreadable,
                                         .done_steps = import->csv.reader.read_bytes,
                                         .total_steps = import->file_bytes};

    progress_show(&import->cli->progress, &state);
}

/* Reads the next row that can be sent; false at the end, or where the file can't be read on. */
static bool next_row(struct mapping_import *import, struct calls_item *item)
{
    while (!import->ended) {
        bool row = true;
        enum cli_exit result = CLI_OK;

        if (!import->has_row) {
            result = csv_input_next(&import->csv, &row);
        }
        import->has_row = result == CLI_OK && row;
        if (!import->has_row) {
            import->exit = result;
            import->ended = true;
            return false;
        }
        arena_reset(&import->cli->arena);
        if (make_call(import, item)) {
            item->tag = csv_input_line(&import->csv);
            return true;
        }
        import->has_row = false;
    }
    return false;
}

static enum calls_step next(void *user, struct calls_item *ret_item)
{
    struct mapping_import *import = user;

    if (!next_row(import, ret_item)) {
        return CALLS_END;
    }
    if (!take_place(import, ret_item->tag)) {
        return CALLS_WAIT;
    }
    make_key(import, ret_item);
    import->has_row = false;
    return CALLS_ITEM;
}

/* What one row was told will be told to every other. */
static bool is_everyones(const struct client_status *status)
{
    return status->code == CLIENT_CODE_UNAUTHENTICATED ||
           status->code == CLIENT_CODE_PERMISSION_DENIED ||
           status->code == CLIENT_CODE_UNIMPLEMENTED ||
           (status->code == CLIENT_CODE_UNAVAILABLE && !status->from_server);
}

static void print_stored(struct mapping_import *import, uint64_t line_number, struct slice reply)
{
    struct cli *cli = import->cli;
    /* Confirmations and rejections answer alike; of a suggestion the mapping is enough. */
    const struct method_info *method = cli_method("/errata.v1.MappingService/ConfirmMapping");
    struct slice json = {NULL, 0};
    struct arena arena;

    arena_init(&arena, CLI_ARENA_BYTES_MAX);
    if (cli_decode(cli, method, reply, &arena, &json) == CLI_OK) {
        print_text(&cli->out, "{\"line\":%llu%s%.*s\n", (unsigned long long)line_number,
                   json.size > 2 ? "," : "", (int)json.size - 1, (const char *)json.data + 1);
    }
    arena_deinit(&arena);
}

static bool done(void *user, uint64_t tag, const struct client_status *status, struct slice reply)
{
    struct mapping_import *import = user;

    leave_place(import, tag);
    if (status->code == CLIENT_CODE_OK) {
        import->stored++;
        if (import->cli->json) {
            print_stored(import, tag, reply);
        }
    } else if (is_everyones(status)) {
        import->ended = true;
        if (import->exit == CLI_OK) {
            import->exit = failure_print_status(import->cli, status);
        }
        return false;
    } else if (status->from_server || status->code != CLIENT_CODE_CANCELLED) {
        import->refused++;
        if (is_told(import)) {
            cli_note(import->cli, "%s line %llu: %s: %.*s", import->path, (unsigned long long)tag,
                     client_code_name(status->code), (int)status->message.size,
                     (const char *)status->message.data);
        }
    }
    show_progress(import);
    return true;
}

/* --- the command --- */

/* All rows without a server. */
static void read_all(struct mapping_import *import)
{
    struct calls_item item = {0};

    while (next_row(import, &item)) {
        import->stored++;
        import->has_row = false;
        show_progress(import);
    }
}

static enum cli_exit conclude(struct mapping_import *import, int64_t took_us)
{
    struct cli *cli = import->cli;
    uint64_t failed = import->refused + import->unreadable;
    struct slice span = {NULL, 0};
    char not_stored[48] = "";
    char passed[64] = "";

    arena_reset(&cli->arena);
    span = progress_span(&cli->arena, took_us);
    progress_hide(&cli->progress);
    if (failed > MAPPING_IMPORT_REPORTED_MAX && !cli->json) {
        cli_note(cli, "and %llu more", (unsigned long long)(failed - MAPPING_IMPORT_REPORTED_MAX));
    }
    if (failed > 0) {
        (void)snprintf(not_stored, sizeof(not_stored), ", %llu not", (unsigned long long)failed);
    }
    if (import->passed > 0) {
        (void)snprintf(passed, sizeof(passed), ", %llu superseded ones passed over",
                       (unsigned long long)import->passed);
    }
    cli_note(cli, "%llu rows %s%s%s, in %.*s", (unsigned long long)import->stored,
             import->dry_run ? "could be sent" : "are stored", not_stored, passed, (int)span.size,
             (const char *)span.data);
    if (import->exit != CLI_OK) {
        cli_note(cli, "%s", "what is stored stays: the same command again goes on");
        return import->exit;
    }
    if (import->unreadable > 0) {
        return CLI_USAGE;
    }
    return import->refused > 0 ? CLI_CALL_FAILED : CLI_OK;
}

static enum cli_exit read_jobs(struct cli *cli, unsigned *ret_jobs)
{
    const char *jobs = options_get(&cli->options, "jobs");
    int64_t count = MAPPING_IMPORT_JOBS_DEFAULT;

    if (jobs != NULL && (!input_number(jobs, &count) || count < 1 || count > CALLS_MAX)) {
        return cli_usage(cli, "--jobs \"%s\": give a number from 1 to %d", jobs, CALLS_MAX);
    }
    *ret_jobs = (unsigned)count;
    return CLI_OK;
}

static enum cli_exit open_rows(struct mapping_import *import)
{
    struct cli *cli = import->cli;
    struct stat status;
    FILE *file = NULL;
    enum cli_exit result = csv_input_file(cli, import->path, &file);

    if (result != CLI_OK) {
        return result;
    }
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)) {
        import->file_bytes = (uint64_t)status.st_size;
    }
    result = csv_input_open(&import->csv, cli, import->path, file);
    return result == CLI_OK ? csv_input_find(&import->csv, columns, COLUMN_COUNT) : result;
}

static enum cli_exit run(struct mapping_import *import)
{
    const struct calls_handlers handlers = {import, next, done};
    struct cli *cli = import->cli;
    int64_t start_us = clock_monotonic_us(cli->ctx.clock);
    unsigned jobs = 0;
    enum cli_exit result = read_jobs(cli, &jobs);

    if (result == CLI_OK) {
        result = open_rows(import);
    }
    if (result != CLI_OK) {
        return result;
    }
    cli_progress(cli);
    if (import->dry_run) {
        read_all(import);
    } else {
        result = calls_run(cli, jobs, &handlers);
        import->exit = result != CLI_OK ? result : import->exit;
    }
    return conclude(import, clock_monotonic_us(cli->ctx.clock) - start_us);
}

enum cli_exit mapping_import_run(struct cli *cli)
{
    struct mapping_import *import = calloc(1, sizeof(*import));
    enum cli_exit result = CLI_OK;

    if (import == NULL) {
        return cli_local(cli, "out of memory");
    }
    import->cli = cli;
    import->path = cli->options.words[0];
    import->actor = options_get(&cli->options, "actor");
    import->again = options_has(&cli->options, "again");
    import->dry_run = options_has(&cli->options, "dry-run");
    result = run(import);
    csv_input_close(&import->csv);
    free(import);
    return result;
}

const struct option_spec mapping_import_options[] = {
    {"actor", "USER", "who judged, in rows that name nobody; else the token's user"},
    {"dry-run", NULL, "read the file and say what is wrong with it, without a server"},
    {"jobs", "N", "rows on their way at a time, 1 to 64 (default 64)"},
    {"again", NULL, "store rows even where this import was done within 24 hours"},
    {NULL, NULL, NULL}};
