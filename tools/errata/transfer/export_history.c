/*
 * export_history.c: see export_history.h. Reads the list page by page, newest first.
 */
#include "tools/errata/transfer/export_history.h"

#include "tools/errata/corrections/corrections.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/reply.h"
#include "tools/errata/import/export_format.h"
#include "tools/errata/transfer/corrected_fields.h"
#include "tools/errata/transfer/tally.h"

#include <stdio.h>

#define PAGE_ROWS 1000

struct export
{
    struct cli *cli;
    const struct export_format *format;
    struct export_choices choices;
    struct corrected_fields corrected;
    struct tally tally; /* number of omitted corrections, by reason */
    uint64_t written;
    bool closed; /* the reader of the output has closed it */
};

static const char *write_event(struct export *export, struct json_value event, struct buffer *line)
{
    struct cli *cli = export->cli;
    bool superseded = false;

    if (reply_text(cli, event, "retractedAt").size > 0) {
        return "retracted";
    }
    if (export->format->is_for_training) {
        if (corrected_fields_add(&export->corrected, &cli->arena, event, &superseded) != OK) {
            return "too many to know whether they were corrected again";
        }
        if (superseded) {
            return "corrected again later";
        }
    }
    return export->format->write(&cli->arena, event, &export->choices, line);
}

static enum cli_exit write_page(struct export *export, struct json_value reply)
{
    const struct tally_place nowhere = {"", 0};
    struct cli *cli = export->cli;
    struct reply_walk walk = reply_walk(reply, "events");

    while (reply_next(&walk)) {
        struct buffer line;
        const char *reason = NULL;

        buffer_init(&line, &cli->arena, walk.row.text.size + 512);
        reason = write_event(export, walk.row, &line);
        if (reason != NULL) {
            tally_skip(&export->tally, reason, &nowhere, slice_of(NULL, 0));
            continue;
        }
        if (!buffer_ok(&line)) {
            return cli_local(cli, "out of memory");
        }
        buffer_append_byte(&line, '\n');
        print_bytes(&cli->out, buffer_slice(&line));
        export->written++;
    }
    export->closed = fflush(cli->out.stream) != 0;
    return CLI_OK;
}

static void note_totals(const struct export *export)
{
    for (size_t i = 0; i < export->tally.skipped_count; i++) {
        cli_note(export->cli, "%llu left out: %s",
                 (unsigned long long)export->tally.skipped[i].count,
                 export->tally.skipped[i].reason);
    }
    cli_note(export->cli, "%llu corrections exported", (unsigned long long)export->written);
}

static enum cli_exit write_all(struct export *export)
{
    const struct command_call call = {.method = "/errata.v1.FeedbackService/ListFeedbackEvents",
                                      .fill = corrections_fill_list};
    struct cli *cli = export->cli;
    struct paging_filter filter;
    enum cli_exit result = paging_filter_make(cli, &call, &filter);
    bool more = true;

    /* The loop is bounded by the list: each page is after the one before. */
    while (result == CLI_OK && more && !export->closed) {
        struct json_value reply = {JSON_NULL, {NULL, 0}};
        struct slice json = {NULL, 0};

        result = paging_fetch(cli, &call, &filter, PAGE_ROWS, &json);
        if (result == CLI_OK) {
            result = reply_parse(cli, json, &reply);
        }
        if (result == CLI_OK) {
            result = write_page(export, reply);
            more = paging_advance(cli, &filter, reply);
        }
    }
    arena_deinit(&filter.arena);
    return result;
}

enum cli_exit export_history_run(struct cli *cli)
{
    const char *name = cli->options.words[0];
    struct export export = {.cli = cli, .format = export_format_find(name)};
    enum cli_exit result = CLI_OK;

    if (export.format == NULL) {
        return cli_usage(cli, "FORMAT \"%s\": unknown; expected jsonl, chat or otlp", name);
    }
    export.choices.system = slice_text(options_get(&cli->options, "system"));
    if (export.choices.system.size > 0 && !export.format->is_for_training) {
        return cli_usage(cli, "--system: only for chat; expected no option with %s", name);
    }
    tally_init(&export.tally);
    result = write_all(&export);
    corrected_fields_deinit(&export.corrected);
    if (result == CLI_OK) {
        note_totals(&export);
    }
    return result;
}
