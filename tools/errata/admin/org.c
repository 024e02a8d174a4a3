/*
 * org.c: `errata org`: organisations of a server.
 */
#include "tools/errata/admin/org_delete.h"
#include "tools/errata/admin/org_settings.h"
#include "tools/errata/admin/org_transfer.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/paging.h"

static const struct option_spec create_options[] = {IDEMPOTENCY_OPTION, {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {PAGING_OPTIONS, {NULL, NULL, NULL}};

static const struct option_spec state_options[] = {
    {"reason", "TEXT", "why; shown by `errata admin audit`"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

static const struct option_spec delete_options[] = {
    {"confirm-name", "NAME", "name of the organisation, as a confirmation"},
    {"reason", "TEXT", "why; shown by `errata admin audit`"},
    {"no-wait", NULL, "only begin the deletion"},
    IDEMPOTENCY_OPTION,
    {NULL, NULL, NULL}};

static const struct option_spec export_options[] = {
    {"reason", "TEXT", "why; shown by `errata admin audit`"}, {NULL, NULL, NULL}};

static const struct option_spec import_options[] = {
    {"as", "NAME", "name of the organisation to make of the file"}, {NULL, NULL, NULL}};

/* Dims organisations whose tokens are refused. */
static void colour_organization(struct cli *cli, struct json_value row, struct table *table)
{
    if (!slice_equal(reply_word(cli, row, "state", "ORGANIZATION_STATE_"), SLICE("ACTIVE"))) {
        table_colour(table, TABLE_COLUMNS_MAX, COLOUR_DIM);
    }
}

static enum cli_exit print_state(struct cli *cli, struct json_value reply)
{
    struct json_value organization = reply_member(reply, "organization");

    print_text(&cli->out, "organisation %.*s (%.*s) is %.*s\n",
               SLICE_ARGS(print_clean(&cli->arena, reply_text(cli, organization, "name"))),
               SLICE_ARGS(reply_text(cli, organization, "id")),
               SLICE_ARGS(reply_word(cli, organization, "state", "ORGANIZATION_STATE_")));
    return CLI_OK;
}

const struct command org_commands[] = {
    {.group = "org",
     .name = "create",
     .arguments = "NAME",
     .summary = "create an organisation and print its id",
     .help = "Creates an organisation and prints its id, which is needed to create its first "
             "token. Needs an ADMIN token with the server flag, such as the first one of a server.",
     .examples = {{"org=$(errata org create \"Acme Ltd\")\n"
                   "errata token create --org \"$org\" --role ADMIN --file acme-admin.token",
                   "an organisation, and its administrator"}},
     .options = create_options,
     COMMAND_CALL("AdminService/CreateOrganization")},
    {.group = "org",
     .name = "list",
     .summary = "list organisations",
     .help = "Lists organisations, oldest first. With a token without the server flag, lists only "
             "the token's own organisation.",
     .examples = {{"errata org list", NULL},
                  {"errata org list --all --json | jq -r .organizations[].id", "only the ids"}},
     .options = list_options,
     COMMAND_CALL("AdminService/ListOrganizations", .colour = colour_organization,
                  .nothing = "no organisations")},
    {.group = "org",
     .name = "suspend",
     .arguments = "ORG --reason TEXT",
     .summary = "refuse all tokens of an organisation, and keep its data",
     .help = "Suspends an organisation, given by its id or name: calls with its tokens get "
             "PERMISSION_DENIED until `errata "
             "org resume`, and its streams end. Its data stay. The organisation of your own token, "
             "and `default`, cannot be suspended. Needs an ADMIN token with the server flag.",
     .examples = {{"errata org suspend \"Acme Ltd\" --reason \"contract ended\"", NULL}},
     .options = state_options,
     COMMAND_CALL("AdminService/SuspendOrganization", .print = print_state)},
    {.group = "org",
     .name = "resume",
     .arguments = "ORG --reason TEXT",
     .summary = "accept the tokens of a suspended organisation again",
     .help = "Resumes a suspended organisation: its tokens work as before. Needs an ADMIN token "
             "with the server flag.",
     .examples = {{"errata org resume \"Acme Ltd\" --reason \"contract renewed\"", NULL}},
     .options = state_options,
     COMMAND_CALL("AdminService/ResumeOrganization", .print = print_state)},
    {.group = "org",
     .name = "export",
     .arguments = "[ORG]",
     .summary = "write everything of an organisation as JSON lines",
     .help =
         "Writes all events of the token's own organisation, or of ORG, an id or a name, to "
         "standard output: one JSON object per line, from which `errata org import` makes the "
         "organisation again, on any server. Secrets of tokens are not exported. The export is "
         "consistent while writes continue, and is itself recorded (`errata admin audit`). A file "
         "of an interrupted export is refused by the import. Another organisation needs an ADMIN "
         "token with the server flag.",
     .examples = {{"errata org export --reason \"request 17\" > export.jsonl", NULL},
                  {"errata org export | jq -r 'select(.event).event.kind' | sort | uniq -c",
                   "count the events of your own organisation by kind"}},
     .options = export_options,
     .run = org_export_run},
    {.group = "org",
     .name = "import",
     .arguments = "FILE --as NAME",
     .summary = "make an organisation of an export",
     .help =
         "Makes an organisation of a file of `errata org export`, with the same events, ids, times "
         "and settings, and prints its id. Tokens are not imported: create new ones. The file is "
         "checked before anything is sent; the organisation cannot be used until it is complete. "
         "After an interruption the same command goes on. Needs an ADMIN token with the server "
         "flag.",
     .examples = {{"org=$(errata org import export.jsonl --as \"Copy\")\n"
                   "errata token create --org \"$org\" --role ADMIN --file copy-admin.token",
                   NULL}},
     .options = import_options,
     .run = org_import_run},
    {.group = "org",
     .name = "delete",
     .arguments = "ORG --confirm-name NAME --reason TEXT",
     .summary = "delete a suspended organisation with all of its data",
     .help =
         "Deletes an organisation that is suspended: its tokens, its events and everything that "
         "was made of them. It cannot be undone; backups keep their copy. Waits until nothing "
         "is left; the server goes on if the command is interrupted, and after a restart. "
         "`errata admin audit` of `default` shows who began it and how much it removed. Needs "
         "an ADMIN token with the server flag.",
     .examples = {{"errata org delete 0192f0c0-5d1e-7c3a-9b1a-2f6d8e4c7a10 \\\n"
                   "  --confirm-name \"Acme Ltd\" --reason \"request 17\"",
                   NULL}},
     .options = delete_options,
     .run = org_delete_run},
    {.group = "org",
     .name = "settings",
     .arguments = "[ORG]",
     .summary = "show or change the settings of an organisation",
     .help = "Shows the settings of the token's own organisation, or of ORG, by id or name. "
             "Options change the "
             "given settings; then all settings are shown. Held-out documents get no examples, so "
             "that `errata analytics experiment` can measure the effect of examples. The choice "
             "for a document is stable, and a larger percentage only adds held-out documents. "
             "Needs an ADMIN token.",
     .examples = {{"errata org settings", NULL},
                  {"errata org settings --holdout 10 --match-mode exact", NULL},
                  {"errata org settings --redact email --redact serial_number",
                   "which members of example items prompts never show"},
                  {"errata org settings --corrections-days 30",
                   "remove the content of corrections after 30 days; counts and mappings stay"},
                  {"errata org settings --corrections-days 30 --dry-run",
                   "how much that would remove now"}},
     .options = org_settings_options,
     .run = org_settings_run},
    {.name = NULL}};
