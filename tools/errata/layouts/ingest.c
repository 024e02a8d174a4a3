/*
 * ingest.c: see ingest.h. Files are found by files.h and sent by uploads.h; this file prints the
 * results. Rows of the table are kept for a thousand files at a time.
 */
#include "tools/errata/layouts/ingest.h"

#include "client/header.h"
#include "store/base/text.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/failure.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/layouts/ingest_progress.h"
#include "tools/errata/layouts/ingest_text.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/layouts/uploads.h"
#include "tools/errata/terminal/files.h"
#include "tools/errata/terminal/wrap.h"

#include <stdlib.h>

/* Maximum rows of one table; the next thousand follow without a heading. */
#define ROWS_MAX 1000
/* Maximum refusals that are printed in full below the table. */
#define REFUSALS_MAX 20
/* Files at once by default: one is measured while the next one is sent. */
#define AT_ONCE_DEFAULT 2
/* Maximum size of a document_id in the contract. */
#define DOCUMENT_ID_BYTES_MAX 128

enum column {
    COLUMN_FILE,
    COLUMN_PAGES,
    COLUMN_SIZE,
    COLUMN_TABLES,
    COLUMN_COVERAGE,
    COLUMN_LAYOUT,
    COLUMN_SEEN,
    COLUMN_NOTE,
    COLUMN_COUNT
};

struct row {
    size_t index;
    struct slice cells[COLUMN_COUNT];
    bool failed;
};

/* Reasons for files that were not stored. */
struct refusal {
    struct slice path; /* path of the first one; allocated in report_arena */
    struct slice message;
    size_t files;
};

struct ingest {
    struct cli *cli;
    struct files *files; /* owned */
    const char *only_id; /* --document; NULL: ids are derived from file names */
    const char *prefix;
    size_t total; /* number of files */
    size_t found; /* number of files sent or reported */
    size_t stored;
    size_t refused; /* files refused by the server */
    size_t unreadable;
    struct ingest_text text;
    size_t unwritten; /* stored, but their text could not be written */
    struct ingest_progress progress;
    struct table_layout layout; /* layout of all tables, so that there is one heading */
    struct row rows[ROWS_MAX];
    size_t row_count;
    struct arena rows_arena;
    bool encrypted; /* a file was refused for its password */
    bool taken; /* a file was refused for its id */
    struct refusal refusals[REFUSALS_MAX];
    size_t reported_count;
    size_t reported_files; /* number of files covered by the reports */
    struct arena report_arena;
    struct slice id; /* id of the current file, stored with a NUL in id_bytes */
    char id_bytes[DOCUMENT_ID_BYTES_MAX + 1];
};

/* --- rows --- */

static int compare_rows(const void *a, const void *b)
{
    const struct row *left = a;
    const struct row *right = b;

    return (left->index > right->index) - (left->index < right->index);
}

static void print_rows(struct ingest *ingest)
{
    static const struct table_column columns[COLUMN_COUNT] = {
        [COLUMN_FILE] = {.title = "FILE", .cut = TABLE_CUT_FRONT, .min = 28},
        [COLUMN_PAGES] = {.title = "PAGES", .right = true, .cut = TABLE_NEVER_CUT, .extra = 2},
        [COLUMN_SIZE] = {.title = "PAGE 1", .right = true, .cut = TABLE_NEVER_CUT, .extra = 4},
        [COLUMN_TABLES] = {.title = "TABLES", .right = true, .cut = TABLE_NEVER_CUT, .extra = 1},
        [COLUMN_COVERAGE] = {.title = "COVERAGE",
                             .right = true,
                             .cut = TABLE_NEVER_CUT,
                             .extra = 5},
        [COLUMN_LAYOUT] = {.title = "LAYOUT", .cut = TABLE_NEVER_CUT},
        [COLUMN_SEEN] = {.title = "DOCUMENTS", .right = true, .cut = TABLE_NEVER_CUT, .extra = 3},
        [COLUMN_NOTE] = {.title = "NOTE", .cut = TABLE_NEVER_CUT, .colour = COLOUR_YELLOW}};
    struct table table;
    bool added = true;

    qsort(ingest->rows, ingest->row_count, sizeof(ingest->rows[0]), compare_rows);
    table_init(&table, &ingest->rows_arena, columns, COLUMN_COUNT);
    for (size_t i = 0; i < ingest->row_count && added; i++) {
        added = table_add(&table, ingest->rows[i].cells);
        if (ingest->rows[i].failed) {
            table_colour(&table, COLUMN_NOTE, COLOUR_RED);
        }
    }
    table_print_page(&table, &ingest->cli->out, &ingest->layout);
    (void)fflush(ingest->cli->out.stream);
    ingest->row_count = 0;
    arena_reset(&ingest->rows_arena);
}

/* Adds the row of a file; the cells are copied. Without memory a cell stays empty. */
static void add_row(struct ingest *ingest, size_t index, const struct slice *cells, bool failed)
{
    struct row *row = &ingest->rows[ingest->row_count++];

    row->index = index;
    row->failed = failed;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (!arena_copy(&ingest->rows_arena, cells[i], &row->cells[i])) {
            row->cells[i] = slice_of(NULL, 0);
        }
    }
    if (ingest->row_count == ROWS_MAX) {
        print_rows(ingest);
    }
}

static void print_json_error(struct ingest *ingest, const char *path, const char *code,
                             struct slice reason, struct slice message)
{
    struct cli *cli = ingest->cli;
    struct buffer json;

    buffer_init(&json, &cli->arena, 512);
    buffer_append(&json, SLICE("{\"file\":"));
    json_write_string(&json, slice_text(path), false);
    buffer_printf(&json, ",\"error\":{\"code\":\"%s\",\"reason\":", code);
    json_write_string(&json, reason, false);
    buffer_append(&json, SLICE(",\"message\":"));
    json_write_string(&json, message, false);
    buffer_append(&json, SLICE("}}"));
    print_json(&cli->out, buffer_slice(&json));
}

/* Stores a sentence to be printed below the table, once for all files that it is about. */
static void note_reported(struct ingest *ingest, const char *path, struct slice message)
{
    struct refusal refusal = {.files = 1};

    for (size_t i = 0; i < ingest->reported_count; i++) {
        if (slice_equal(ingest->refusals[i].message, message)) {
            ingest->refusals[i].files++;
            ingest->reported_files++;
            return;
        }
    }
    if (ingest->reported_count < REFUSALS_MAX &&
        arena_copy(&ingest->report_arena, slice_text(path), &refusal.path) &&
        arena_copy(&ingest->report_arena, message, &refusal.message)) {
        ingest->refusals[ingest->reported_count++] = refusal;
        ingest->reported_files++;
    }
}

/* Reports a file that was not stored: a row with the short reason, and a sentence below the
 * table. */
static void add_failure(struct ingest *ingest, const struct upload_file *file, const char *code,
                        struct slice message)
{
    struct cli *cli = ingest->cli;
    bool by_server = strcmp(code, "unreadable") != 0;
    struct slice reason = measures_reason(message);
    struct slice cells[COLUMN_COUNT] = {[COLUMN_FILE] = slice_text(file->path)};

    ingest->encrypted = ingest->encrypted || slice_equal(reason, SLICE("encrypted"));
    ingest->taken = ingest->taken || strcmp(code, "ALREADY_EXISTS") == 0;
    if (cli->json) {
        print_json_error(ingest, file->path, code, reason, message);
        return;
    }
    reason = reason.size > 0 ? reason : slice_text(code);
    cells[COLUMN_NOTE] = arena_printf(&cli->arena, "%s: %.*s", by_server ? "refused" : "not sent",
                                      SLICE_ARGS(reason));
    add_row(ingest, file->index, cells, true);
    note_reported(ingest, file->path, message);
}

/* `text_warning` is the end of the note. */
static void add_stored(struct ingest *ingest, const struct upload_file *file, struct slice json,
                       const char *text_warning)
{
    struct cli *cli = ingest->cli;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value document = {JSON_NULL, {NULL, 0}};
    struct slice cells[COLUMN_COUNT] = {[COLUMN_FILE] = slice_text(file->path)};

    if (reply_parse(cli, json, &reply) != CLI_OK) {
        return;
    }
    document = reply_member(reply, "document");
    cells[COLUMN_PAGES] = measures_number(cli, document, "pageCount");
    cells[COLUMN_SIZE] = measures_first_size(cli, document, "pageDimensions");
    cells[COLUMN_TABLES] = reply_text(cli, document, "tableCount");
    cells[COLUMN_COVERAGE] = measures_number(cli, document, "textCoverageRatio");
    cells[COLUMN_LAYOUT] = measures_short_layout(cli, document);
    cells[COLUMN_SEEN] = reply_text(cli, reply_member(reply, "profile"), "seenCount");
    cells[COLUMN_NOTE] =
        measures_with(cli, measures_warning_codes(cli, document, "warnings"), text_warning);
    add_row(ingest, file->index, cells, false);
}

/* Prints the reply after the file's name, on one line. */
static void print_json_stored(struct ingest *ingest, const char *path, struct slice json)
{
    struct cli *cli = ingest->cli;
    struct buffer line;

    buffer_init(&line, &cli->arena, json.size + 256);
    buffer_append(&line, SLICE("{\"file\":"));
    json_write_string(&line, slice_text(path), false);
    buffer_append(&line, json.size > 2 ? SLICE(",") : SLICE(""));
    buffer_append(&line, slice_after(json, 1));
    print_json(&cli->out, buffer_slice(&line));
}

/* --- reports of uploads --- */

/* Reports a file that was not sent. Sentences of this program begin with "it"; the system's messages
 * need an introduction. */
static void note_unreadable(struct ingest *ingest, const struct upload_file *file,
                            const char *problem)
{
    bool sentence = strncmp(problem, "it", 2) == 0;

    ingest->unreadable++;
    add_failure(ingest, file, "unreadable",
                arena_printf(&ingest->cli->arena, "%s%s",
                             sentence ? "" : "cannot read the file:  ", problem));
}

/* Writes the text of a stored document to the place of --text. */
static void put_text(struct ingest *ingest, const struct upload_file *file, struct slice text)
{
    struct slice problem = {NULL, 0};

    progress_hide(&ingest->cli->progress);
    if (!ingest_text_put(ingest->cli, &ingest->text, file->path, text, &problem)) {
        ingest->unwritten++;
        note_reported(ingest, file->path, problem);
    }
}

/* Prints a stored document, and its text if requested. */
static void put_stored(struct ingest *ingest, const struct upload_file *file, struct slice reply)
{
    struct cli *cli = ingest->cli;
    const bool in_json = cli->json && ingest_text_is_printed(&ingest->text);
    struct slice json = {NULL, 0};
    struct slice text = {NULL, 0};

    ingest->stored++;
    if (ingest_text_is_wanted(&ingest->text) && !in_json) {
        ingest_text_split(&cli->arena, reply, &reply, &text);
        put_text(ingest, file, text);
    }
    if (cli_decode(cli, cli_method("/errata.v1.LayoutService/IngestDocumentStream"), reply,
                   &cli->arena, &json) != CLI_OK) {
        return; /* already reported; the document is stored nevertheless */
    }
    if (cli->json) {
        print_json_stored(ingest, file->path, json);
    } else if (!ingest_text_is_printed(&ingest->text)) {
        add_stored(ingest, file, json, ingest_text_warning(text));
    }
}

static void done(void *user, const struct upload_file *file, const struct upload_end *end)
{
    struct ingest *ingest = user;
    struct cli *cli = ingest->cli;

    arena_reset(&cli->arena);
    fault_init(&cli->fault, &cli->arena);
    ingest_progress_end(&ingest->progress, file);
    switch (end->kind) {
    case UPLOAD_STORED:
        put_stored(ingest, file, end->reply);
        break;
    case UPLOAD_REFUSED:
        ingest->refused++;
        add_failure(ingest, file, client_code_name(end->status->code), end->status->message);
        break;
    case UPLOAD_UNREADABLE:
        note_unreadable(ingest, file, end->problem);
        break;
    case UPLOAD_UNSENT:
        break; /* counted as missing */
    }
    ingest_progress_show(&ingest->progress, cli);
}

static void moved(void *user, const struct upload_file *file, int64_t bytes)
{
    struct ingest *ingest = user;

    ingest_progress_move(&ingest->progress, file, bytes);
    ingest_progress_show(&ingest->progress, ingest->cli);
}

static void ticked(void *user)
{
    const struct ingest *ingest = user;

    ingest_progress_show(&ingest->progress, ingest->cli);
}

/* Makes an id of the prefix and the file's name without folders and `.pdf`. Returns NULL, or the
 * reason why it is not a valid id. */
static const char *make_id(struct ingest *ingest, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name);
    size_t prefix = strlen(ingest->prefix);

    if (ingest->only_id != NULL) {
        name = ingest->only_id;
        size = strlen(name);
        prefix = 0;
    } else if (size > 4 && strcasecmp(name + size - 4, ".pdf") == 0) {
        size -= 4;
    }
    if (size == 0 || prefix + size > DOCUMENT_ID_BYTES_MAX) {
        return "its name is not a valid document id, which has 1 to 128 bytes; use --document";
    }
    memcpy(ingest->id_bytes, ingest->prefix, prefix);
    memcpy(ingest->id_bytes + prefix, name, size);
    ingest->id_bytes[prefix + size] = '\0';
    ingest->id = slice_of(ingest->id_bytes, prefix + size);
    if (!text_is_utf8(ingest->id) || text_has_control(ingest->id)) {
        return "its name is not a valid document id, which is UTF-8 without control characters; "
               "use --document";
    }
    return NULL;
}

/* Returns a local reason to refuse a file without calling the server. */
static const char *check_found(struct ingest *ingest, const struct files_found *found)
{
    if (found->problem != NULL) {
        return found->problem;
    }
    if (found->size_bytes == 0) {
        return "it is empty";
    }
    if (found->size_bytes > PDF_DOCUMENT_BYTES_MAX) {
        return UPLOAD_TOO_LARGE;
    }
    return make_id(ingest, found->path);
}

static bool next(void *user, struct upload_file *ret_file)
{
    struct ingest *ingest = user;
    struct files_found found = {NULL, 0, NULL};

    while (ingest->found < ingest->total && files_next(ingest->files, &found)) {
        struct upload_file file = {ingest->found++, found.path, ingest->id_bytes, found.size_bytes};
        const char *problem = check_found(ingest, &found);

        if (problem == NULL) {
            ingest_progress_start(&ingest->progress, &file);
            *ret_file = file;
            return true;
        }
        arena_reset(&ingest->cli->arena);
        ingest_progress_end(&ingest->progress, &file);
        note_unreadable(ingest, &file, problem);
    }
    return false;
}

/* --- the command --- */

/* Walks over all files once, so that the progress display knows their total. */
static enum cli_exit count_files(struct ingest *ingest, bool recursive)
{
    struct cli *cli = ingest->cli;
    const char *const *words = (const char *const *)cli->options.words;
    struct files_found found = {NULL, 0, NULL};

    if (files_open(words, cli->options.word_count, recursive, &ingest->files) != OK) {
        return cli_local(cli, "out of memory");
    }
    while (ingest->total <= FILES_MAX && files_next(ingest->files, &found)) {
        ingest->total++;
    }
    files_close(ingest->files);
    ingest->files = NULL;
    ingest->progress.total = ingest->total;
    if (ingest->total > FILES_MAX) {
        return cli_usage(cli, "FILE: too many files; expected at most %d in one run", FILES_MAX);
    }
    if (ingest->only_id != NULL && ingest->total != 1) {
        return cli_usage(
            cli, "--document: given with %zu files; expected one file, or --id-prefix for several",
            ingest->total);
    }
    if (files_open(words, cli->options.word_count, recursive, &ingest->files) != OK) {
        return cli_local(cli, "out of memory");
    }
    return CLI_OK;
}

static enum cli_exit read_jobs(struct cli *cli, unsigned *ret_jobs)
{
    const char *jobs = options_get(&cli->options, "jobs");
    int64_t count = AT_ONCE_DEFAULT;

    if (jobs != NULL && (!input_number(jobs, &count) || count < 1 || count > UPLOADS_MAX)) {
        return cli_usage(cli, "--jobs \"%s\": invalid number; expected 1 to %d", jobs, UPLOADS_MAX);
    }
    *ret_jobs = (unsigned)count;
    return CLI_OK;
}

/* Prints each refusal in full, with advice. */
static void print_reported(struct ingest *ingest, size_t failed)
{
    struct cli *cli = ingest->cli;

    for (size_t i = 0; i < ingest->reported_count; i++) {
        const struct refusal *refusal = &ingest->refusals[i];
        struct slice who = refusal->files == 1
                               ? refusal->path
                               : arena_printf(&ingest->report_arena, "%zu files", refusal->files);

        print_coloured(&cli->err, COLOUR_BOLD, who);
        print_text(&cli->err, ":");
        wrap_message(&cli->err, print_width(who) + 1, 2, refusal->message);
    }
    if (failed > ingest->reported_files) {
        cli_note(cli, "and %zu more; --json prints each", failed - ingest->reported_files);
    }
    if (ingest->encrypted) {
        cli_note(cli, "hint: --password-file FILE opens encrypted PDFs");
    }
    if (ingest->taken) {
        cli_note(cli, "hint: another document already has the id of a file's name; --id-prefix "
                      "TEXT or --document ID selects another id");
    }
}

/* Prints `70 of 72 stored, 2 not, in 4.2 s`. */
static void print_summary(struct ingest *ingest, size_t failed, size_t unsent)
{
    struct cli *cli = ingest->cli;
    int64_t took_us = clock_monotonic_us(cli->ctx.clock) - cli->progress.start_us;
    struct slice span = {NULL, 0};
    char not_stored[32] = "";
    char not_sent[32] = "";

    arena_reset(&cli->arena);
    span = progress_span(&cli->arena, took_us);
    if (failed > 0) {
        (void)snprintf(not_stored, sizeof(not_stored), ", %zu not", failed);
    }
    if (unsent > 0) {
        (void)snprintf(not_sent, sizeof(not_sent), ", %zu not sent", unsent);
    }
    cli_note(cli, "%zu of %zu stored%s%s, in %.*s", ingest->stored, ingest->total, not_stored,
             not_sent, SLICE_ARGS(span));
}

static enum cli_exit conclude(struct ingest *ingest, const struct uploads_result *result)
{
    struct cli *cli = ingest->cli;
    size_t failed = ingest->refused + ingest->unreadable;
    enum cli_exit exit = CLI_OK;

    if (ingest->row_count > 0) {
        print_rows(ingest);
    }
    progress_hide(&cli->progress);
    if (!cli->json) {
        print_reported(ingest, failed + ingest->unwritten);
    }
    print_summary(ingest, failed, ingest->total - ingest->stored - failed);
    switch (result->stop) {
    case UPLOADS_RAN:
        break;
    case UPLOADS_INTERRUPTED:
        cli_note(cli, "interrupted; repeat the command to continue");
        return CLI_INTERRUPTED;
    case UPLOADS_FAILED:
        exit = failure_print_status(cli, &result->status);
        if (exit == CLI_NO_CONNECTION && ingest->stored > 0) {
            cli_note(cli, "repeat the command to continue");
        }
        return exit;
    case UPLOADS_LOCAL:
        return result->exit;
    }
    if (ingest->refused > 0) {
        return CLI_CALL_FAILED;
    }
    return ingest->unreadable > 0 || ingest->unwritten > 0 ? CLI_LOCAL : CLI_OK;
}

static enum cli_exit run(struct ingest *ingest, struct arena *kept)
{
    struct cli *cli = ingest->cli;
    struct uploads_result result = {.stop = UPLOADS_RAN};
    struct uploads_config config = {
        .cli = cli,
        .handlers = {.user = ingest, .next = next, .moved = moved, .ticked = ticked, .done = done}};
    const char *password_file = options_get(&cli->options, "password-file");
    enum cli_exit read = read_jobs(cli, &config.at_once);

    if (read == CLI_OK && password_file != NULL) {
        read = input_password(cli, password_file, kept, &config.password);
    }
    if (read == CLI_OK) {
        read = count_files(ingest, options_has(&cli->options, "recursive"));
    }
    if (read == CLI_OK) {
        read = ingest_text_begin(cli, ingest->total, &ingest->text);
    }
    if (read != CLI_OK) {
        return read;
    }
    config.include_text = ingest_text_is_wanted(&ingest->text);
    cli_progress(cli);
    uploads_run(&config, kept, &result);
    return conclude(ingest, &result);
}

enum cli_exit ingest_run(struct cli *cli)
{
    struct ingest *ingest = calloc(1, sizeof(*ingest));
    const char *prefix = options_get(&cli->options, "id-prefix");
    enum cli_exit result = CLI_OK;
    struct arena
        kept; /* memory that must outlive the cli's arena, which is emptied after each file */

    if (ingest == NULL) {
        return cli_local(cli, "out of memory");
    }
    ingest->cli = cli;
    ingest->only_id = options_get(&cli->options, "document");
    ingest->prefix = prefix != NULL ? prefix : "";
    if (ingest->only_id != NULL && prefix != NULL) {
        free(ingest);
        return cli_usage(cli,
                         "--document: given together with --id-prefix; expected only one of them");
    }
    arena_init(&kept, CLI_ARENA_BYTES_MAX);
    arena_init(&ingest->rows_arena, CLI_ARENA_BYTES_MAX);
    arena_init(&ingest->report_arena, CLI_ARENA_BYTES_MAX);
    result = run(ingest, &kept);
    files_close(ingest->files);
    arena_deinit(&ingest->report_arena);
    arena_deinit(&ingest->rows_arena);
    arena_deinit(&kept);
    free(ingest);
    return result;
}
