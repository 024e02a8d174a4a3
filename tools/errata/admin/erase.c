/*
 * erase.c: see erase.h. One stream: each message is progress, the last one the report.
 */
#include "tools/errata/admin/erase.h"

#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/stream_call.h"
#include "tools/errata/engine/view.h"

#define ERASE_PATH "/errata.v1.AdminService/EraseContent"

/* What was erased cannot be restored, so a command needs --yes, unless it only shows. */
static enum cli_exit confirm(struct request *request, struct cli *cli)
{
    bool dry_run = options_has(&cli->options, "dry-run");

    (void)request;
    if (dry_run == options_has(&cli->options, "yes")) {
        return cli_usage(cli,
                         "%s; expected --dry-run, which shows what would be erased, or --yes: "
                         "what is erased cannot be restored",
                         dry_run ? "--yes: given together with --dry-run" : "--yes: missing");
    }
    return CLI_OK;
}

/* Prints for whom the report is: the selection as it was given. */
static void print_selection(struct cli *cli)
{
    static const char *const names[] = {"document", "customer", "session", "user"};
    const char *event = NULL;
    size_t at = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = options_get(&cli->options, names[i]);

        if (value != NULL) {
            reply_print_member(cli, names[i], print_clean(&cli->arena, slice_text(value)));
        }
    }
    while ((event = options_next(&cli->options, "event", &at)) != NULL) {
        reply_print_member(cli, "event", print_clean(&cli->arena, slice_text(event)));
    }
}

static bool is_zero(struct slice count)
{
    return count.size == 0 || slice_equal(count, SLICE("0"));
}

static enum cli_exit print_report(struct cli *cli, struct json_value report)
{
    bool dry_run = slice_equal(reply_text(cli, report, "dryRun"), SLICE("true"));
    struct slice count = reply_count(cli, report, "erasedCount");
    struct slice bytes = reply_count(cli, report, "erasedBytes");
    struct slice facts = reply_count(cli, report, "factsRemainCount");
    struct slice kept = reply_count(cli, report, "keptCount");
    enum cli_exit result = CLI_OK;

    print_selection(cli);
    reply_print_member(cli, dry_run ? "would erase" : "erased",
                       arena_printf(&cli->arena, "content of %.*s events, %.*s bytes",
                                    SLICE_ARGS(count), SLICE_ARGS(bytes)));
    reply_print_member(cli, "facts remain",
                       arena_printf(&cli->arena,
                                    "of %.*s events: ids, times, statuses, names of fields, hashes",
                                    SLICE_ARGS(facts)));
    if (!is_zero(kept)) {
        reply_print_member(cli, "not erased",
                           arena_printf(&cli->arena,
                                        "content of %.*s events: texts of rules, proposals, "
                                        "templates and guidance and reasons of changes (ARTIFACT), "
                                        "and corrections of an old store (FORMAT)",
                                        SLICE_ARGS(kept)));
    }
    reply_print_member(cli, dry_run ? "examined" : "completed",
                       reply_time(cli, report, "completedAt"));
    if (!is_zero(facts)) {
        result = view_print_table(cli, "ErasedKind", report, "kinds", NULL);
    }
    if (result == CLI_OK && !dry_run) {
        print_text(&cli->out,
                   "Backups that were made before keep their copy of the content; delete "
                   "or replace them.\n");
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
    const struct stream_call call = {
        .path = ERASE_PATH, .fill = confirm, .take = take, .user = &reported};
    enum cli_exit result = CLI_OK;

    cli_progress(cli);
    result = stream_call_run(cli, &call);
    return result == CLI_OK && !reported
               ? cli_local(cli, "the server ended without a report; run the command again to go on")
               : result;
}
