/*
 * mapping_import.c: see mapping_import.h. Each row has an idempotency key made of its line and its
 * request, so that repeating an interrupted import stores nothing twice. Rows of one customer's SKU
 * are sent one after the other, since the last confirmation decides.
 */
#include "tools/errata/mappings/mapping_import.h"

#include "client/header.h"
#include "store/base/sha256.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/import_report.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/terminal/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

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

/* The action for a row's status. */
static const struct action {
    const char *status;
    const char *path; /* NULL: determined by another row */
    bool suggests;
} actions[] = {{"CONFIRMED", "/errata.v1.MappingService/ConfirmMapping", false},
               {"SUGGESTED", "/errata.v1.MappingService/SuggestMapping", true},
               {"REJECTED", "/errata.v1.MappingService/RejectMapping", false},
               {"SUPERSEDED", NULL, false}};

/* A row whose call is running. */
struct sent {
    uint64_t line_number; /* 0: the place is free */
    struct sha256_digest sku; /* digest of the customer and the folded SKU */
};

struct mapping_import {
    struct cli *cli;
    struct csv_input csv;
    const char *path;
    const char *actor; /* actor of rows without one; NULL: the token's user */
    struct import_report report;
    bool checking; /* the first pass, which reports problems */
    bool reported[COLUMN_COUNT]; /* the missing column has been reported */
    bool has_row; /* the current record was not sent yet */
    bool ended; /* no more rows are read */
    struct sent sent[CALLS_MAX];
    char key[IMPORT_KEY_BYTES]; /* idempotency key of the last sent row */
    enum cli_exit exit; /* exit code of the error that stopped the import */
};

/* --- problems of a row --- */

/* Reports a problem in the first pass. */
static void PRINTF_LIKE(2, 3) fail_row(struct mapping_import *import, const char *format, ...)
{
    char text[256];
    va_list values;

    if (!import->checking) {
        return;
    }
    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    import->report.invalid++;
    import_report_problem(&import->report, csv_input_line(&import->csv), "%s", text);
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

/* A day means its first moment. */
static struct slice time_text(struct mapping_import *import)
{
    struct slice given = csv_input_field(&import->csv, COLUMN_CREATED);

    return given.size == strlen("2026-11-22")
               ? arena_printf(&import->cli->arena, "%.*sT00:00:00Z", SLICE_ARGS(given))
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

/* Reports an empty required field; returns false if there is none. */
/* A column that the file lacks is reported once, not for every row. */
static void report_empty(struct mapping_import *import, size_t column)
{
    const char *name = columns[column].name;

    if (csv_input_has(&import->csv, column)) {
        fail_row(import, "%s: empty; expected a value", name);
    } else if (!import->checking || import->reported[column]) {
        import->report.invalid += import->checking ? 1 : 0;
    } else {
        import->reported[column] = true;
        fail_row(import, "%s: missing column; expected a value in each SUGGESTED row", name);
    }
}

static bool lacks_field(struct mapping_import *import, const struct action *action)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        bool needed = columns[i].required || (i == COLUMN_CONFIDENCE && action->suggests);

        if (needed && csv_input_field(&import->csv, i).size == 0) {
            report_empty(import, i);
            return true;
        }
    }
    return false;
}

/* Makes the call of the current row; returns false if the row cannot be sent, which is reported. */
static bool make_call(struct mapping_import *import, struct calls_item *item)
{
    struct cli *cli = import->cli;
    struct slice status = csv_input_field(&import->csv, COLUMN_STATUS);
    const struct action *action = find_action(status);
    struct buffer wire;
    enum err err = OK;

    if (action == NULL) {
        fail_row(import, "status: unknown value '%.*s'; expected CONFIRMED, SUGGESTED or REJECTED",
                 (int)(status.size < 64 ? status.size : 64), (const char *)status.data);
        return false;
    }
    if (action->path == NULL) {
        import->report.passed_over += import->checking == import->report.dry_run ? 1 : 0;
        return false;
    }
    if (lacks_field(import, action)) {
        return false;
    }
    fault_init(&cli->fault, &cli->arena);
    item->method = cli_method(action->path);
    err = cli_try_encode(cli, item->method, make_json(import, action), &wire);
    if (err != OK) {
        if (import->checking) {
            import->report.invalid++;
            import_report_fault(&import->report, csv_input_line(&import->csv));
        }
        return false;
    }
    item->message = buffer_slice(&wire);
    return true;
}

/* --- running rows --- */

/* Digest of a customer and a SKU, folded at least as coarsely as the server folds them. */
static struct sha256_digest sku_digest(const struct mapping_import *import)
{
    const struct slice pieces[] = {
        csv_input_field(&import->csv, COLUMN_CUSTOMER), SLICE("/"),
        fold_text(&import->cli->arena, csv_input_field(&import->csv, COLUMN_SKU))};

    return sha256_pieces(pieces, 3);
}

/* Marks the row as running; returns false if one of the same SKU is running. */
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
                                         .done = import->report.created + import->report.repeated +
                                                 import->report.passed_over +
                                                 import->report.refused,
                                         .done_steps = import->csv.reader.read_bytes,
                                         .total_steps = import->report.file_bytes};

    progress_show(&import->cli->progress, &state);
}

/* Reads the next row that can be sent; returns false at the end, or if the file cannot be read
 * further. */
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
    ret_item->key = import_report_key(&import->report, ret_item->tag, ret_item->method->path,
                                      ret_item->message, import->key);
    import->has_row = false;
    return CALLS_ITEM;
}

/* Confirmations and rejections have the same response; of a suggestion the mapping suffices, whose
 * id is that of its first event. */
static void take_reply(struct mapping_import *import, uint64_t line_number, struct slice reply)
{
    struct cli *cli = import->cli;
    const struct method_info *method = cli_method("/errata.v1.MappingService/ConfirmMapping");
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    struct slice id = {NULL, 0};
    struct arena arena;

    arena_init(&arena, CLI_ARENA_BYTES_MAX);
    if (cli_decode(cli, method, reply, &arena, &json) == CLI_OK &&
        reply_parse(cli, json, &value) == CLI_OK) {
        id = reply_text(cli, value, "eventId");
        id = id.size > 0 ? id : reply_text(cli, reply_member(value, "mapping"), "id");
        import_report_count(&import->report, id, 1);
        if (cli->json) {
            print_text(&cli->out, "{\"line\":%llu%s%.*s\n", (unsigned long long)line_number,
                       json.size > 2 ? "," : "", (int)json.size - 1, (const char *)json.data + 1);
        }
    }
    arena_deinit(&arena);
}

static bool done(void *user, uint64_t tag, const struct client_status *status, struct slice reply)
{
    struct mapping_import *import = user;

    leave_place(import, tag);
    if (status->code == CLIENT_CODE_OK) {
        take_reply(import, tag, reply);
    } else if (calls_is_everyones(status)) {
        import->ended = true;
        if (import->exit == CLI_OK) {
            import->exit = failure_print_status(import->cli, status);
        }
        return false;
    } else if (status->from_server || status->code != CLIENT_CODE_CANCELLED) {
        import->report.refused++;
        import_report_problem(&import->report, tag, "%s: %.*s", client_code_name(status->code),
                              SLICE_ARGS(status->message));
        import->ended = import->ended || !import->report.skip_invalid;
    }
    show_progress(import);
    return true;
}

/* --- the command --- */

/* Reads all rows, and reports the invalid ones. */
static enum cli_exit check_rows(struct mapping_import *import)
{
    struct calls_item item = {0};

    import->checking = true;
    while (next_row(import, &item)) {
        import->report.valid++;
        import->has_row = false;
    }
    import->checking = false;
    import->ended = false;
    return import->exit;
}

static enum cli_exit read_jobs(struct cli *cli, unsigned *ret_jobs)
{
    const char *jobs = options_get(&cli->options, "jobs");
    int64_t count = MAPPING_IMPORT_JOBS_DEFAULT;

    if (jobs != NULL && (!input_number(jobs, &count) || count < 1 || count > CALLS_MAX)) {
        return cli_usage(cli, "--jobs \"%s\": invalid number; expected 1 to %d", jobs, CALLS_MAX);
    }
    *ret_jobs = (unsigned)count;
    return CLI_OK;
}

static enum cli_exit open_rows(struct mapping_import *import)
{
    struct cli *cli = import->cli;
    FILE *file = NULL;
    enum cli_exit result = import_report_open(&import->report, &file);

    if (result != CLI_OK) {
        return result;
    }
    result = csv_input_open(&import->csv, cli, import->path, file);
    return result == CLI_OK ? csv_input_find(&import->csv, columns, COLUMN_COUNT) : result;
}

static enum cli_exit send_rows(struct mapping_import *import, unsigned jobs)
{
    const struct calls_handlers handlers = {import, next, done};
    struct cli *cli = import->cli;
    enum cli_exit result = import_report_start(&import->report);

    if (result == CLI_OK) {
        result = csv_input_rewind(&import->csv);
    }
    if (result != CLI_OK) {
        return result;
    }
    result = calls_run(cli, jobs, &handlers);
    import->exit = result != CLI_OK ? result : import->exit;
    return import_report_end(&import->report, import->exit);
}

static enum cli_exit import_rows(struct mapping_import *import)
{
    unsigned jobs = 0;
    enum cli_exit result = read_jobs(import->cli, &jobs);

    if (result == CLI_OK) {
        result = open_rows(import);
    }
    if (result == CLI_OK) {
        result = check_rows(import);
    }
    return result == CLI_OK && import_report_may_send(&import->report, &result)
               ? send_rows(import, jobs)
               : result;
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
    import_report_init(&import->report, cli, "rows");
    result = import_rows(import);
    csv_input_close(&import->csv);
    free(import);
    return result;
}

const struct option_spec mapping_import_options[] = {
    {"actor", "USER", "the user who judged, for rows without an actor; default: the token's user"},
    {"jobs", "N", "number of rows to send concurrently, 1 to 64 (default 64)"},
    IMPORT_OPTIONS,
    {NULL, NULL, NULL}};
