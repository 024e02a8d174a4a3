/*
 * org.c: `errata org`: organisations of a server.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/ask.h"
#include "tools/errata/engine/paging.h"

static enum cli_exit fill_create(struct request *request, struct cli *cli)
{
    request_open(request, "organization");
    request_text(request, "name", slice_text(cli->options.words[0]));
    request_close(request);
    return CLI_OK;
}

static enum cli_exit print_created(struct cli *cli, struct json_value reply)
{
    print_line(&cli->out, reply_text(cli, reply_member(reply, "organization"), "id"));
    return CLI_OK;
}

static enum cli_exit run_create(struct cli *cli)
{
    static const struct ask ask = {"/errata.v1.AdminService/CreateOrganization", fill_create,
                                   print_created};

    return ask_run(cli, &ask);
}

static void org_cells(struct cli *cli, struct json_value row, struct slice *cells)
{
    cells[0] = reply_text(cli, row, "id");
    cells[1] = reply_text(cli, row, "name");
    cells[2] = reply_moment(cli, row, "createdAt");
}

static enum cli_exit run_list(struct cli *cli)
{
    static const struct request_member none[] = {{NULL, NULL, REQUEST_TEXT}};
    static const struct table_column columns[] = {{.title = "ID", .cut = TABLE_NEVER_CUT},
                                                  {.title = "NAME"},
                                                  {.title = "CREATED", .cut = TABLE_NEVER_CUT}};
    static const struct paging paging = {
        .path = "/errata.v1.AdminService/ListOrganizations",
        .rows = {.name = "organizations",
                 .columns = columns,
                 .column_count = sizeof(columns) / sizeof(columns[0]),
                 .cells = org_cells},
        .members = none,
        .nothing = "no organisations"};

    return paging_run(cli, &paging);
}

/* --- settings --- */

static enum cli_exit fill_settings(struct request *request, struct cli *cli)
{
    static const struct request_member members[] = {{"holdout", "holdout_percent", REQUEST_TEXT},
                                                    {"match-mode", "match_mode", REQUEST_TEXT},
                                                    {NULL, NULL, REQUEST_TEXT}};
    enum cli_exit result = CLI_OK;

    if (cli->options.word_count > 0) {
        request_text(request, "org_id", slice_text(cli->options.words[0]));
    }
    if (options_has(&cli->options, "holdout") || options_has(&cli->options, "match-mode")) {
        request_open(request, "settings");
        result = request_add_options(request, cli, members);
        request_close(request);
    }
    return result;
}

static enum cli_exit print_settings(struct cli *cli, struct json_value reply)
{
    struct json_value settings = reply_member(reply, "settings");
    struct slice holdout = reply_text(cli, settings, "holdoutPercent");

    reply_print_member(cli, "holdout",
                       arena_printf(&cli->arena, "%.*s%% of documents get no examples, to compare",
                                    holdout.size > 0 ? (int)holdout.size : 1,
                                    holdout.size > 0 ? (const char *)holdout.data : "0"));
    reply_print_member(cli, "match mode", reply_word(cli, settings, "matchMode", "MATCH_MODE_"));
    return CLI_OK;
}

/* Shows the settings, or changes those that are given. */
static enum cli_exit run_settings(struct cli *cli)
{
    static const struct ask show = {"/errata.v1.AdminService/GetSettings", fill_settings,
                                    print_settings};
    static const struct ask change = {"/errata.v1.AdminService/UpdateSettings", fill_settings,
                                      print_settings};
    bool changes =
        options_has(&cli->options, "holdout") || options_has(&cli->options, "match-mode");

    return ask_run(cli, changes ? &change : &show);
}

static const struct option_spec settings_options[] = {
    {"holdout", "PERCENT", "so many percent of documents get no examples, 0 to 100"},
    {"match-mode", "MODE", "how layouts have to match where a call does not say"},
    {"idempotency-key", "KEY", "makes the write safe to repeat for 24 hours"},
    {NULL, NULL, NULL}};
static const struct option_spec create_options[] = {
    {"idempotency-key", "KEY", "makes the write safe to repeat for 24 hours"}, {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {PAGING_OPTIONS, {NULL, NULL, NULL}};

const struct command org_commands[] = {
    {.group = "org",
     .name = "create",
     .arguments = "NAME",
     .summary = "create an organisation and print its id",
     .help =
         "Creates an organisation and prints its id, with which its first token is made. Needs an "
         "ADMIN token with the server flag, such as the first one of a server.",
     .examples = {{"org=$(errata org create \"Acme Ltd\")\n"
                   "errata token create --org \"$org\" --role ADMIN --file acme-admin.token",
                   "an organisation, and its administrator"}},
     .options = create_options,
     .words_min = 1,
     .words_max = 1,
     .run = run_create},
    {.group = "org",
     .name = "list",
     .summary = "list organisations",
     .help = "Lists organisations, oldest first; with a token that has no server flag, its own "
             "alone.",
     .examples = {{"errata org list", NULL},
                  {"errata org list --all --json | jq -r .organizations[].id", "ids alone"}},
     .options = list_options,
     .run = run_list},
    {.group = "org",
     .name = "settings",
     .arguments = "[ORG]",
     .summary = "show an organisation's settings, or change some",
     .help =
         "Shows the settings of the token's own organisation, or of ORG; with options it changes "
         "those that are given and shows all. A document that is held out gets no examples, so "
         "that `errata analytics experiment` can tell whether they help; a document falls on the "
         "same side each time, and a larger share holds out more of them. Needs an ADMIN token.",
     .examples = {{"errata org settings", NULL},
                  {"errata org settings --holdout 10 --match-mode exact", NULL}},
     .options = settings_options,
     .words_max = 1,
     .run = run_settings},
    {.name = NULL}};
