/*
 * import_history.c: see import_history.h. All files are read twice: first for the outputs that corrections need as
 * their value before, and with --strict for damage, so that nothing is stored if there is any; then for the rows.
 * Memory does not grow with the files.
 */
#include "tools/errata/transfer/import_history.h"

#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/import_report.h"
#include "tools/errata/import/mapping.h"
#include "tools/errata/import/outputs.h"
#include "tools/errata/import/record_reader.h"
#include "tools/errata/transfer/import_choices.h"
#include "tools/errata/transfer/sender.h"

#include <stdio.h>
#include <stdlib.h>

/* A longer reason is cut. */
#define FAULT_BYTES_MAX 256

struct history_file {
    const char *path;
    FILE *file; /* owned unless it is standard input */
    bool only_joins; /* --join: its outputs complete the rows of the others */
};

struct history {
    struct cli *cli;
    const struct import_source *source;
    struct import_options options;
    struct history_file *files; /* owned */
    size_t file_count;
    const struct history_file *file; /* the file that is being read */
    struct tally_place place;
    struct tally tally;
    struct outputs *outputs;
    struct sender sender;
    bool collects; /* the first pass */
    bool is_strict;
    bool is_dry;
    uint64_t damaged_count; /* reported in this pass */
    enum cli_exit exit;
};

/* --- rows --- */

static void report_damaged(void *user, struct slice problem)
{
    struct history *history = user;

    if (history->collects && !history->is_strict) {
        return; /* the second pass reports it */
    }
    tally_count(&history->tally.damaged, &history->place, slice_of(NULL, 0));
    history->damaged_count++;
    if (history->damaged_count <= IMPORT_PROBLEMS_MAX || history->cli->json) {
        cli_note(history->cli, "%s line %llu: %.*s", history->place.path,
                 (unsigned long long)history->place.line, SLICE_ARGS(problem));
    }
    if (history->is_strict) {
        history->exit = CLI_USAGE;
    }
}

static void take_skip(void *user, const char *reason, struct slice id)
{
    struct history *history = user;

    if (!history->collects && !history->file->only_joins) {
        tally_skip(&history->tally, reason, &history->place, id);
    }
}

static void take_loss(void *user, size_t loss)
{
    struct history *history = user;

    history->tally.lost[loss] = true;
}

static void fail(struct history *history, const char *what)
{
    if (history->exit == CLI_OK) {
        history->exit = cli_local(history->cli, "%s", what);
    }
}

/* A correction that changes nothing is the acceptance of the model's output. */
static void accept_unchanged(struct history *history, struct import_row *row)
{
    struct arena *arena = &history->sender.arena;
    bool equal = false;

    if (row->kind != IMPORT_CORRECTION || row->raw.kind != JSON_NULL ||
        row->before.kind == JSON_NULL || row->text[IMPORT_SUBJECT].size == 0) {
        return;
    }
    if (json_equal(arena, import_request_object(arena, row->before),
                   import_request_object(arena, row->after), &equal) == OK &&
        equal) {
        row->kind = IMPORT_REVIEW;
        row->text[IMPORT_DECISION] = SLICE("REVIEWED");
        row->text[IMPORT_VALUE] = SLICE("unchanged");
    }
}

static void report_fault(struct history *history)
{
    const struct fault *fault = &history->cli->fault;

    if (fault->count > 0) {
        char text[FAULT_BYTES_MAX];

        (void)snprintf(text, sizeof(text), "%.*s: %.*s", SLICE_ARGS(fault->entries[0].field),
                       SLICE_ARGS(fault->entries[0].description));
        report_damaged(history, slice_text(text));
    } else {
        report_damaged(history, fault->message);
    }
}

static void complete(struct history *history, struct import_row *row)
{
    bool found = false;

    if (row->raw.kind != JSON_NULL) {
        return;
    }
    if (outputs_join(history->outputs, &history->sender.arena, row, &found) != OK) {
        fail(history, "the temporary file can't be read");
    }
    if (row->kind == IMPORT_CORRECTION && row->before.kind == JSON_NULL && !row->has_no_before) {
        tally_count(&history->tally.missing, &history->place, row->text[IMPORT_ID]);
        if (history->source->losses != NULL) {
            history->tally.lost[0] = true; /* the first loss of a source is the missing half */
        }
    }
    accept_unchanged(history, row);
}

static void store_row(struct history *history, const struct import_row *given)
{
    const struct import_choices *choices = &history->options.choices;
    struct import_row row = *given;
    bool valid = false;

    complete(history, &row);
    valid = history->is_dry
                ? sender_check(&history->sender, history->source, choices, &row)
                : sender_add(&history->sender, history->source, choices, &row, &history->place);
    if (!valid) {
        report_fault(history);
        return;
    }
    tally_count(&history->tally.mapped[row.kind], &history->place, row.text[IMPORT_ID]);
}

static void take_row(void *user, const struct import_row *row)
{
    struct history *history = user;

    if (history->exit != CLI_OK) {
        return;
    }
    if (!history->collects) {
        if (row->kind == IMPORT_OUTPUT) {
            tally_count(&history->tally.mapped[IMPORT_OUTPUT], &history->place,
                        row->text[IMPORT_ID]);
        } else if (!history->file->only_joins) {
            store_row(history, row);
        }
        return;
    }
    if (row->kind == IMPORT_OUTPUT) {
        if (outputs_add(history->outputs, &history->sender.arena, row) != OK) {
            fail(history,
                 "the outputs to join can't be kept: no memory, or no room for a temporary file");
        }
    } else if (history->is_strict && !history->file->only_joins &&
               !sender_check(&history->sender, history->source, &history->options.choices, row)) {
        report_fault(history);
    }
}

/* --- reading --- */

static void show_progress(const struct history *history, const struct record_reader *reader,
                          uint64_t records)
{
    const struct progress_state state = {.unit = history->collects ? "records read" : "records",
                                         .done = records,
                                         .done_steps = record_reader_bytes(reader),
                                         .detail = slice_text(history->file->path)};

    progress_show(&history->cli->progress, &state);
}

/* Reads one record; returns false at the end of the file. */
static bool read_record(struct history *history, struct record_reader *reader,
                        const struct import_sink *sink)
{
    struct import_call call = {&history->sender.arena, &history->options.choices, sink,
                               history->source};
    struct json_value record = {JSON_NULL, {NULL, 0}};
    enum record_step step = record_reader_read(reader, &history->sender.arena, &record);

    history->place.line = reader->line;
    switch (step) {
    case RECORD_READ:
        import_source_read(&call, record);
        return true;
    case RECORD_DAMAGED:
        report_damaged(history, slice_text(reader->problem));
        return true;
    case RECORD_FAILED:
        report_damaged(history, slice_text(reader->problem));
        return false;
    case RECORD_END:
        break;
    }
    return false;
}

static void read_file(struct history *history, const struct import_sink *sink)
{
    struct record_reader reader;
    uint64_t records = 0;
    bool more = record_reader_open(&reader, history->file->file, history->file->path,
                                   history->source->lists);

    if (!more) {
        cli_note(history->cli, "%s: %s", history->file->path, reader.problem);
        history->exit = CLI_USAGE;
    }
    /* The loop is bounded by the file: each turn takes a record. */
    while (more && history->exit == CLI_OK) {
        enum cli_exit result = CLI_OK;

        more = read_record(history, &reader, sink);
        records++;
        result = sender_step(&history->sender, false);
        history->exit = history->exit == CLI_OK ? result : history->exit;
        show_progress(history, &reader, records);
    }
    record_reader_close(&reader);
}

static void read_files(struct history *history, bool collects)
{
    const struct import_sink sink = {history, take_row, take_skip, report_damaged, take_loss};

    history->collects = collects;
    history->damaged_count = 0;
    for (size_t i = 0; i < history->file_count && history->exit == CLI_OK; i++) {
        history->file = &history->files[i];
        history->place = (struct tally_place){history->file->path, 1};
        read_file(history, &sink);
    }
    if (!collects && history->exit == CLI_OK) {
        history->exit = sender_step(&history->sender, true);
    }
}

/* --- the command --- */

static enum cli_exit find_source(struct cli *cli, const struct import_source **ret_source)
{
    struct buffer names;

    *ret_source = import_source_find(cli->options.words[0]);
    if (*ret_source != NULL) {
        return CLI_OK;
    }
    buffer_init(&names, &cli->arena, 128);
    for (size_t i = 0; import_sources[i] != NULL; i++) {
        buffer_printf(&names, "%s%s", i > 0 ? ", " : "", import_sources[i]->name);
    }
    return cli_usage(cli, "SOURCE \"%s\": unknown; expected one of: %.*s", cli->options.words[0],
                     SLICE_ARGS(buffer_slice(&names)));
}

static enum cli_exit open_file(struct history *history, const char *path, bool only_joins)
{
    struct history_file *file = &history->files[history->file_count];
    enum cli_exit result = csv_input_file(history->cli, path, &file->file);

    if (result == CLI_OK) {
        result = csv_input_keep(history->cli, &file->file);
    }
    file->path = path;
    file->only_joins = only_joins;
    history->file_count += file->file != NULL ? 1 : 0;
    return result;
}

static enum cli_exit open_files(struct history *history)
{
    const struct options *options = &history->cli->options;
    const char *join = NULL;
    enum cli_exit result = CLI_OK;

    history->files = calloc(options->word_count + options->given_count, sizeof(*history->files));
    if (history->files == NULL) {
        return cli_local(history->cli, "out of memory");
    }
    for (size_t i = 1; i < options->word_count && result == CLI_OK; i++) {
        result = open_file(history, options->words[i], false);
    }
    for (size_t at = 0; result == CLI_OK && (join = options_next(options, "join", &at)) != NULL;) {
        result = open_file(history, join, true);
    }
    return result;
}

/* Reads all files; the exit code of a complete import is that of its worst record. */
static enum cli_exit import_files(struct history *history)
{
    struct cli *cli = history->cli;

    cli_progress(cli);
    read_files(history, true);
    if (history->exit == CLI_OK) {
        read_files(history, false);
    }
    progress_hide(&cli->progress);
    if (history->exit == CLI_OK || history->tally.created + history->tally.repeated > 0) {
        tally_print(&history->tally, cli, history->source, !history->is_dry);
    }
    if (history->exit != CLI_OK) {
        cli_note(cli, history->tally.created > 0
                          ? "stored data is kept; repeat the command to continue"
                          : "nothing was stored");
        return history->exit;
    }
    if (history->is_dry) {
        cli_note(cli, "nothing was sent");
    }
    if (history->tally.refused > 0) {
        return CLI_CALL_FAILED;
    }
    return history->tally.damaged.count > 0 ? CLI_USAGE : CLI_OK;
}

static enum cli_exit prepare(struct history *history)
{
    enum cli_exit result = import_options_read(history->cli, history->source, &history->options);

    if (result == CLI_OK) {
        result = open_files(history);
    }
    if (result == CLI_OK && outputs_open(&history->outputs) != OK) {
        result = cli_local(history->cli, "no temporary file can be created");
    }
    if (result == CLI_OK && !sender_init(&history->sender, history->cli, &history->tally)) {
        result = cli_local(history->cli, "out of memory");
    }
    return result;
}

static void close_all(struct history *history)
{
    for (size_t i = 0; i < history->file_count; i++) {
        if (history->files[i].file != stdin) {
            (void)fclose(history->files[i].file);
        }
    }
    free(history->files);
    outputs_close(history->outputs);
    sender_deinit(&history->sender);
}

enum cli_exit import_history_run(struct cli *cli)
{
    struct history *history = calloc(1, sizeof(*history));
    enum cli_exit result = CLI_OK;

    if (history == NULL) {
        return cli_local(cli, "out of memory");
    }
    history->cli = cli;
    history->is_strict = options_has(&cli->options, "strict");
    history->is_dry = options_has(&cli->options, "dry-run");
    tally_init(&history->tally);
    result = find_source(cli, &history->source);
    if (result == CLI_OK) {
        result = prepare(history);
    }
    if (result == CLI_OK) {
        result = import_files(history);
    }
    close_all(history);
    free(history);
    return result;
}
