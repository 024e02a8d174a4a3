/*
 * admin.c: `errata admin` and `errata health`: the server itself.
 */
#include "tools/errata/admin/backup.h"
#include "tools/errata/admin/erase.h"
#include "tools/errata/admin/quota.h"
#include "tools/errata/admin/verify.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/engine/where.h"
#include "tools/errata/layouts/measures.h"

#include <time.h>

struct slice cell_method(struct cli *cli, struct json_value object, const char *name)
{
    struct slice own = SLICE("errata.v1.");
    struct slice method = reply_text(cli, object, name);

    return slice_starts_with(method, own) ? slice_after(method, own.size) : method;
}

struct slice cell_code(struct cli *cli, struct json_value object, const char *name)
{
    struct slice code = reply_text(cli, object, name);

    return code.size > 0 ? code : SLICE("OK");
}

static void colour_method(struct cli *cli, struct json_value row, struct table *table)
{
    if (reply_text(cli, row, "code").size > 0) {
        table_colour(table, 1, COLOUR_YELLOW);
    }
}

static bool ends_with(struct slice text, const char *end)
{
    size_t size = strlen(end);

    return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

/* Formats counters of bytes and microseconds, whose names end in their units. */
struct slice cell_counter_meaning(struct cli *cli, struct json_value object, const char *empty)
{
    struct slice name = reply_text(cli, object, "name");
    struct slice copy = {NULL, 0};
    int64_t number = 0;

    (void)empty;
    if (!cli->out.terminal || !arena_copy(&cli->arena, reply_text(cli, object, "value"), &copy) ||
        !input_number((const char *)copy.data, &number)) {
        return slice_of(NULL, 0);
    }
    if (number >= 1024 && (ends_with(name, "_bytes") || ends_with(name, "_bytes_total"))) {
        return measures_bytes(cli, (uint64_t)number);
    }
    if (number >= 100000 && (ends_with(name, "_us") || ends_with(name, "_us_total"))) {
        return progress_span(&cli->arena, number);
    }
    return slice_of(NULL, 0);
}

/* Prints the warning about the clock, if there is one. */
static void print_log_ahead(struct cli *cli, struct json_value reply)
{
    struct slice ahead = reply_text(cli, reply, "logAheadUs");
    struct slice copy = {NULL, 0};
    int64_t ahead_us = 0;

    if (ahead.size > 0 && arena_copy(&cli->arena, ahead, &copy) &&
        input_number((const char *)copy.data, &ahead_us)) {
        reply_print_member(cli, "log ahead", progress_span(&cli->arena, ahead_us));
        print_text(
            &cli->out,
            "  The newest event is later than the current time of the server's clock: the\n  clock "
            "was ahead once, or is late now. New events get the clock's time as created_at.\n");
    }
}

static enum cli_exit print_info(struct cli *cli, struct json_value reply)
{
    enum cli_exit result = CLI_OK;

    view_print_fields(cli, view_message("GetServerInfoResponse"), reply);
    print_log_ahead(cli, reply);
    result = view_print_table(cli, "MethodCount", reply, "methods", colour_method);
    return result == CLI_OK ? view_print_table(cli, "ServerCounter", reply, "counters", NULL)
                            : result;
}

#define PDF_PART "errata.pdf"
/* Time that health waits for the PDF worker, and the pause between two checks. */
#define PDF_WAIT_US 2000000
#define PDF_PAUSE_MS 50

/* Parts of health that warn; nothing else depends on them. */
#define ADMIN_PART "errata.admin"
#define TOKENS_PART "errata.tokens"
#define CLOCK_PART "errata.clock"

/* Returns the warning of a service that is not serving; NULL if the service is not only a
 * warning. */
static const char *warning_of(const char *part)
{
    if (strcmp(part, ADMIN_PART) == 0) {
        return "the last usable ADMIN token with the server flag expires within 14 days, or there "
               "is "
               "none; create another one with errata token create";
    }
    if (strcmp(part, TOKENS_PART) == 0) {
        return "a token expires within 14 days; the server's log names it; replace it with errata "
               "token rotate";
    }
    if (strcmp(part, CLOCK_PART) == 0) {
        return "the server's log is ahead of its clock; see errata admin info";
    }
    return NULL;
}

/* Requests the health of one part; returns whether it serves. */
static enum cli_exit check_part(struct cli *cli, const char *part, struct slice *ret_json,
                                struct slice *ret_word)
{
    struct request request;
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_text(&request, "service", slice_text(part));
    result = cli_call(cli, "/grpc.health.v1.Health/Check", request_end(&request), ret_json);
    if (result == CLI_OK) {
        result = reply_parse(cli, *ret_json, &reply);
    }
    if (result == CLI_OK) {
        *ret_word = reply_text(cli, reply, "status");
    }
    return result;
}

/* Waits for the PDF worker, which may still be starting if the server was just started. */
static enum cli_exit check_patiently(struct cli *cli, const char *part, struct slice *ret_json,
                                     struct slice *ret_word)
{
    int64_t end_us = clock_monotonic_us(cli->ctx.clock) + PDF_WAIT_US;
    enum cli_exit result = check_part(cli, part, ret_json, ret_word);

    while (result == CLI_OK && strcmp(part, PDF_PART) == 0 &&
           slice_equal(*ret_word, SLICE("NOT_SERVING")) &&
           clock_monotonic_us(cli->ctx.clock) < end_us) {
        const struct timespec pause = {0, PDF_PAUSE_MS * 1000000L};

        (void)nanosleep(&pause, NULL); /* a signal may end the sleep early */
        result = check_part(cli, part, ret_json, ret_word);
    }
    return result;
}

/* Requests the health of one part and prints it, or appends it to the JSON list. */
static enum cli_exit report_part(struct cli *cli, const char *part, struct buffer *json,
                                 bool *ret_serves)
{
    struct slice reply = {NULL, 0};
    struct slice word = {NULL, 0};
    enum cli_exit result = check_patiently(cli, part, &reply, &word);
    bool serves = slice_equal(word, SLICE("SERVING"));

    if (result != CLI_OK) {
        return result;
    }
    *ret_serves = serves;
    if (cli->json) {
        buffer_printf(json, "%s{\"part\":\"%s\",\"status\":\"%.*s\"}",
                      json->data[json->size - 1] == '[' ? "" : ",", part, SLICE_ARGS(word));
    } else {
        print_text(&cli->out, "%-14s ", part[0] != '\0' ? part : "server");
        print_coloured(&cli->out, serves ? COLOUR_GREEN : COLOUR_RED, word);
        if (!serves && warning_of(part) != NULL) {
            print_text(&cli->out, "  warning: %s", warning_of(part));
        }
        print_text(&cli->out, "\n");
    }
    return CLI_OK;
}

/* Adds the server's address to the report. */
static void report_to_server(struct cli *cli, struct buffer *json)
{
    const char *source =
        where_source(cli, cli->settings.server_source, "--server", "ERRATA_SERVER");

    if (cli->json) {
        buffer_append(json, SLICE("{\"server\":"));
        json_write_string(json, cli->settings.server, false);
        buffer_printf(json, ",\"serverFrom\":\"%s\",\"parts\":[", source);
    } else {
        print_text(&cli->out, "%-14s ", "address");
        print_coloured(&cli->out, COLOUR_BOLD, cli->settings.server);
        print_text(&cli->out, "  %s(%s)%s\n", print_colour_start(&cli->out, COLOUR_DIM),
                   where_server_phrase(cli), print_colour_end(&cli->out, COLOUR_DIM));
    }
}

static enum cli_exit run_health(struct cli *cli)
{
    static const char *const parts[] = {"",         "errata.write", PDF_PART,
                                        ADMIN_PART, TOKENS_PART,    CLOCK_PART};
    const char *wanted = cli->options.word_count > 0 ? cli->options.words[0] : NULL;
    size_t count = wanted != NULL ? 1 : sizeof(parts) / sizeof(parts[0]);
    bool serving = true;
    struct buffer json;
    enum cli_exit result = cli_connect(cli);

    buffer_init(&json, &cli->arena, 256);
    for (size_t i = 0; i < count && result == CLI_OK; i++) {
        const char *part = wanted != NULL ? wanted : parts[i];
        bool serves = true;

        if (i == 0) {
            report_to_server(cli, &json);
        }
        result = report_part(cli, part, &json, &serves);
        serving = serving && (serves || (wanted == NULL && warning_of(part) != NULL));
    }
    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        buffer_printf(&json, "],\"serving\":%s}", serving ? "true" : "false");
        print_json(&cli->out, buffer_slice(&json));
    }
    return serving ? CLI_OK : CLI_CALL_FAILED;
}

static const struct option_spec backup_options[] = {
    {"since", "PREVIOUS", "write an increment: what was added after this backup or increment"},
    {"force", NULL, "replace FILE if it exists"},
    {NULL, NULL, NULL}};

static const struct option_spec audit_options[] = {
    {"by", "USER", "only changes by this user, or by token:KEYID"},
    {"kind", "KIND", "only changes of this kind, such as SETTINGS_UPDATED"},
    ORG_OPTION,
    PAGING_OPTIONS,
    {NULL, NULL, NULL}};

static const struct option_spec erase_options[] = {
    {"document", "ID", "erase events about this document"},
    {"customer", "ID", "erase selections of this customer, and judgements of its mappings"},
    {"session", "ID", "erase the turns of this session, and what was said of them"},
    {"user", "ID", "erase events by this user"},
    {"event", "EVENT", "erase this event; may be repeated, up to 1,000 times"},
    {"reason", "TEXT", "why, such as the number of the request; recorded"},
    {"dry-run", NULL, "show what would be erased, and change nothing"},
    {"yes", NULL, "confirm: what is erased cannot be restored"},
    ORG_OPTION,
    {NULL, NULL, NULL}};

const struct command admin_commands[] = {
    {.group = "admin",
     .name = "info",
     .summary = "show the server's version, calls and counters",
     .help = "Prints the server's version, its start time, its calls by method and code, and its "
             "counters. Needs an ADMIN token. Calls and counters cover all organisations, so they "
             "need a token with the server flag.",
     .examples =
         {{"errata admin info", NULL},
          {"errata admin info --json |\n  jq '.counters[] | select(.name | startswith(\"pdf\"))'",
           "counters of documents"}},
     COMMAND_CALL("AdminService/GetServerInfo", .print = print_info)},
    {.group = "admin",
     .name = "audit",
     .summary = "list who changed tokens, settings and rules",
     .help =
         "Lists administrative and rule-changing events, newest first: organisations, tokens, "
         "settings, quotas, templates, thresholds, learned rules, layout families, votes, "
         "guidelines and "
         "retractions. `--json` prints them with the values before and after. They are events of "
         "the log, and cannot be removed. Needs an ADMIN token.",
     .examples = {{"errata admin audit", NULL},
                  {"errata admin audit --by ada --all --json | jq '.events[]?.settingsUpdated'",
                   "settings that ada changed"}},
     .options = audit_options,
     COMMAND_CALL("AdminService/ListAudit", .nothing = "no changes")},
    {.group = "admin",
     .name = "quota",
     .summary = "show or change the quotas of an organisation and its tokens",
     .help = "Lists the limits of the organisation and of its tokens that have some, with what is "
             "in use of them. Given limits are changed first, those of the organisation or, with "
             "--key-id, of a token; then they are shown. A call counts for both. Beyond a limit "
             "it fails with RESOURCE_EXHAUSTED, and says when another attempt may succeed. Needs "
             "an ADMIN token; one with the server flag to change the limits of an organisation.",
     .examples = {{"errata admin quota", NULL},
                  {"errata admin quota --requests-per-second 200 --request-burst 1000",
                   "200 calls per second on average, 1,000 at once after a pause"},
                  {"errata admin quota --key-id 1a2b3c4d --concurrent-streams 10 --pdf-jobs 2",
                   "limits of one token"},
                  {"errata admin quota --stored-bytes 20GiB", "what the organisation may store"},
                  {"errata admin quota --stored-bytes 0", "end a limit"}},
     .options = quota_options,
     .run = quota_run,
     .call = &(const struct command_call){.method = "/errata.v1.AdminService/ListQuotas"}},
    {.group = "admin",
     .name = "verify",
     .summary = "verify the store of a running server",
     .help = "Makes the server copy its store, check every page and the hash chain of every log, "
             "rebuild all tables from the logs, and compare every row. This takes seconds per "
             "100,000 events and needs free disk space of twice the size of the store. A terminal "
             "shows the progress. Needs an ADMIN token with the server flag. Only one verification "
             "runs at a time; interrupting this program ends it. At most 100 rows that differ are "
             "listed; `erratad --rebuild`, run while the server is stopped, repairs them. A "
             "damaged log or file must be replaced from a backup of `errata admin backup`, by "
             "`erratad --restore FILE --data DIR`.",
     .examples = {{"errata admin verify", NULL},
                  {"errata admin verify --json | tail -1 | jq .report",
                   "the report, for a script"}},
     .exits = "0 if the store is intact, 5 if it is damaged, 1 if the server returned an error, 3 "
              "if there was no response.",
     .run = verify_run},
    {.group = "admin",
     .name = "backup",
     .arguments = "FILE|-",
     .summary = "back up the store of a running server",
     .help = "Writes a snapshot of the server's store to FILE, which only you can read. It "
             "contains all writes that were acknowledged before the command. Writes continue "
             "during the backup, and the server needs no extra disk space. The data is first "
             "written to FILE.part, which is renamed to FILE after its size and SHA-256 match "
             "those that the server reports and it is on disk; `-` writes to standard output. Only "
             "one backup runs at a time. The server aborts a backup if the client reads nothing "
             "for 30 s, or takes longer than 10 minutes plus 1 s per 4 MiB, because the store's "
             "file grows during a backup. Needs an ADMIN token with the server flag.\n\nWith "
             "--since the file has only the events after an earlier backup or increment, and is "
             "small. Keep all files from the last whole backup on.\n\n`erratad "
             "--restore FILE --data DIR` checks the whole file and creates a data folder from it; "
             "DIR must be empty or missing. The same command with an increment applies it to the "
             "store in DIR, which the backup before it must have been restored to; run it for "
             "each increment in order, before the server starts. The restored store has the tokens "
             "of the time of the last file; `erratad --new-admin-token --data DIR` writes a new "
             "one.",
     .examples = {{"errata admin backup errata.backup --force", NULL},
                  {"errata admin backup tuesday.inc --since errata.backup", "an increment"},
                  {"errata admin backup - | gzip >errata.backup.gz",
                   "the checksum is in the file"}},
     .options = backup_options,
     .exits = "0 if FILE is complete and on disk.",
     .run = backup_run},
    {.group = "admin",
     .name = "erase",
     .arguments = "--reason TEXT",
     .summary = "erase the content of events for a person's request",
     .help = "Removes the content (values before and after, notes, messages, comments) of the "
             "events of one document, customer, session or user, or of given events, at once and "
             "permanently, with the examples and vectors that were made of it. Facts stay: ids, "
             "times, statuses, names of fields, hashes and counts. Prints a report for the person: "
             "what was erased, what remains, and what was not erased and why. It is printed after "
             "the server's files no longer hold the content, except for unused parts of its "
             "database file, which are overwritten in time. Backups that were made before keep "
             "their copy. Interrupted, the command can be run again, and goes on. Only one erasure "
             "runs at a time. Needs an ADMIN token.",
     .examples = {{"errata admin erase --user ada --reason 'request 17' --dry-run",
                   "what would be erased"},
                  {"errata admin erase --user ada --reason 'request 17' --yes >report.txt",
                   "erase it, and keep the report"},
                  {"errata admin erase --document d1 --reason 'request 17' --yes --json |\n"
                   "  tail -1 | jq .report",
                   "the report, for a script"}},
     .options = erase_options,
     .exits = "0 if everything was erased that can be, 1 if the server returned an error, 3 if "
              "there was no response.",
     .run = erase_run},
    {.name = NULL}};

const struct command health_commands[] = {
    {.name = "health",
     .arguments = "[PART]",
     .summary = "check server health",
     .help = "Checks the health of the server and of its services, or of one service: writes "
             "(`errata.write`), reading of PDFs (`errata.pdf`), administration (`errata.admin`: "
             "not serving if the last usable ADMIN token with the server flag expires within 14 "
             "days), tokens (`errata.tokens`: not serving if one that was made for longer, and is "
             "not replaced, expires within 14 days) and the clock (`errata.clock`: not serving if "
             "the newest event is later than "
             "the current time). A server that has just started gets up to 2 s to start its PDF "
             "worker. Needs no token.",
     .examples = {{"errata health", NULL},
                  {"until errata health errata.pdf --timeout 1s >/dev/null 2>&1; do sleep 1; done",
                   "in a script that has just started a server"}},
     .exits = "0 if all checked services are serving, 1 if one is not (the clock only if no other "
              "part was requested), 3 if there was no response.",
     .run = run_health},
    {.name = NULL}};
