/*
 * erase.c: see erase.h. One stream: each message is progress, the last one the report.
 */
#include "tools/errata/admin/erase.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/stream_call.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/terminal/wrap.h"

#define ERASE_PATH "/errata.v1.AdminService/EraseContent"

struct slice cell_nonzero(struct cli *cli, struct json_value object, const char *name)
{
    return reply_integer(cli, object, name) > 0 ? reply_count(cli, object, name)
                                                : slice_of(NULL, 0);
}

/* The options that select the content to erase. */
static const char *const subjects[] = {"document", "customer", "session", "user", "event"};

static bool has_subject(struct cli *cli)
{
    bool has_one = false;

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        has_one = has_one || options_has(&cli->options, subjects[i]);
    }
    return has_one;
}

/* Reports all missing options at once. Erased content cannot be restored, so an erasure needs --yes, unless it is a dry
 * run. */
static enum cli_exit check(struct cli *cli)
{
    bool dry_run = options_has(&cli->options, "dry-run");
    bool confirmed = options_has(&cli->options, "yes");
    struct buffer text;

    if (dry_run && confirmed) {
        return cli_usage(cli, "--yes: given together with --dry-run; expected one of them");
    }
    buffer_init(&text, &cli->arena, 256);
    if (!has_subject(cli)) {
        buffer_append(&text, SLICE("; --document, --customer, --session, --user or --event, which "
                                   "select the events"));
    }
    if (!options_has(&cli->options, "reason")) {
        buffer_append(&text, SLICE("; --reason TEXT: why"));
    }
    if (!dry_run && !confirmed) {
        buffer_append(&text, SLICE("; --dry-run, which shows what would be erased, or --yes: what "
                                   "is erased cannot be restored"));
    }
    return text.size == 0 ? CLI_OK
                          : cli_usage(cli, "options are missing; expected %.*s", (int)text.size - 2,
                                      (const char *)text.data + 2);
}

/* Prints the subject of the report: the selection as given. */
static void print_selection(struct cli *cli)
{
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        const char *value = NULL;

        for (size_t at = 0; (value = options_next(&cli->options, subjects[i], &at)) != NULL;) {
            reply_print_member(cli, subjects[i], print_clean(&cli->arena, slice_text(value)));
        }
    }
}

/* Returns `3 events`. */
static struct slice events_text(struct cli *cli, struct json_value report, const char *name)
{
    return arena_printf(&cli->arena, "%.*s event%s", SLICE_ARGS(reply_count(cli, report, name)),
                        reply_integer(cli, report, name) == 1 ? "" : "s");
}

/* Prints the number of events that are not erased, with the reasons. */
static void print_kept(struct cli *cli, struct json_value report)
{
    struct reply_walk walk = reply_walk(report, "kinds");
    bool has_artifacts = false;
    bool has_formats = false;

    while (reply_next(&walk)) {
        has_artifacts = has_artifacts || reply_integer(cli, walk.row, "keptArtifactCount") > 0;
        has_formats = has_formats || reply_integer(cli, walk.row, "keptFormatCount") > 0;
    }
    reply_print_member(cli, "not erased",
                       arena_printf(&cli->arena, "content of %.*s: %s%s%s",
                                    SLICE_ARGS(events_text(cli, report, "keptCount")),
                                    has_artifacts
                                        ? "texts of rules, proposals, templates and guidance, and "
                                          "reasons of changes (ARTIFACT)"
                                        : "",
                                    has_artifacts && has_formats ? "; " : "",
                                    has_formats ? "corrections of an old store (FORMAT)" : ""));
}

static enum cli_exit print_report(struct cli *cli, struct json_value report)
{
    bool dry_run = slice_equal(reply_text(cli, report, "dryRun"), SLICE("true"));
    bool is_found = reply_integer(cli, report, "factsRemainCount") > 0;
    enum cli_exit result = CLI_OK;

    reply_align_members(cli, "facts remain");
    print_selection(cli);
    reply_print_member(cli, dry_run ? "would erase" : "erased",
                       arena_printf(&cli->arena, "content of %.*s, %.*s bytes",
                                    SLICE_ARGS(events_text(cli, report, "erasedCount")),
                                    SLICE_ARGS(reply_count(cli, report, "erasedBytes"))));
    reply_print_member(
        cli, "facts remain",
        !is_found
            ? SLICE("none: no event matches")
            : arena_printf(&cli->arena, "of %.*s: ids, times, statuses, names of fields, hashes",
                           SLICE_ARGS(events_text(cli, report, "factsRemainCount"))));
    if (reply_integer(cli, report, "keptCount") > 0) {
        print_kept(cli, report);
    }
    reply_print_member(cli, dry_run ? "examined" : "completed",
                       reply_full_time(cli, report, "completedAt"));
    if (is_found) {
        result = view_print_table(cli, "ErasedKind", report, "kinds", NULL);
    }
    if (result == CLI_OK && !dry_run) {
        wrap_message(&cli->out, 0, 0,
                     SLICE("Backups that were made before keep their copy of the content; delete "
                           "or replace them."));
    }
    if (result == CLI_OK && dry_run && reply_integer(cli, report, "erasedCount") > 0) {
        cli_note(cli, "nothing is erased yet; --yes instead of --dry-run erases it");
    }
    return result;
}

static void show_progress(struct cli *cli, struct json_value progress)
{
    struct progress_state state = {
        .unit = "events",
        .detail = reply_word(cli, progress, "step", "ERASE_STEP_"),
        .done = reply_integer(cli, progress, "examinedCount"),
        .total = reply_integer(cli, progress, "examinedTotal"),
    };

    progress_show(&cli->progress, &state);
}

static enum cli_exit take(struct cli *cli, struct slice message, void *user)
{
    bool *reported = user;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_value report = {JSON_NULL, {NULL, 0}};
    struct slice json = {NULL, 0};
    enum cli_exit result = cli_decode(cli, cli_method(ERASE_PATH), message, &cli->arena, &json);

    if (result == CLI_OK) {
        result = reply_parse(cli, json, &reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (!json_member(reply, SLICE("report"), &report)) {
        if (!cli->json) {
            show_progress(cli, reply_member(reply, "progress"));
        }
        return CLI_OK;
    }
    *reported = true;
    return cli->json ? CLI_OK : print_report(cli, report);
}

enum cli_exit erase_run(struct cli *cli)
{
    bool reported = false;
    const struct stream_call call = {.path = ERASE_PATH, .take = take, .user = &reported};
    enum cli_exit result = check(cli);

    if (result != CLI_OK) {
        return result;
    }
    cli_progress(cli);
    result = stream_call_run(cli, &call);
    return result == CLI_OK && !reported
               ? cli_local(cli, "the server ended without a report; run the command again to go on")
               : result;
}
