/*
 * token.c: `errata token`: tokens of an organisation.
 */
#include "tools/errata/ask.h"
#include "tools/errata/commands.h"
#include "tools/errata/paging.h"

static const struct request_member org_member[] = {{"org", "org_id", REQUEST_TEXT},
                                                   {NULL, NULL, REQUEST_TEXT}};

static enum cli_exit fill_create(struct request *request, struct cli *cli)
{
    static const struct request_member members[] = {{"role", "role", REQUEST_TEXT},
                                                    {"user", "user_id", REQUEST_TEXT},
                                                    {"server-flag", "server", REQUEST_TRUE},
                                                    {"expires", "expire_time", REQUEST_TIME_AHEAD},
                                                    {NULL, NULL, REQUEST_TEXT}};
    enum cli_exit result = CLI_OK;

    if (!options_has(&cli->options, "role")) {
        return cli_usage(cli, "--role is missing: VIEWER, OPERATOR, REVIEWER, SERVICE, INTEGRATOR "
                              "or ADMIN");
    }
    result = request_add_options(request, cli, org_member);
    request_open(request, "token");
    if (result == CLI_OK) {
        result = request_add_options(request, cli, members);
    }
    request_close(request);
    return result;
}

static enum cli_exit print_secret(struct cli *cli, struct json_value reply)
{
    print_text(&cli->err,
               "this token is shown once; keep it in a file that only its user reads:\n");
    print_line(&cli->out, reply_text(cli, reply, "secret"));
    return CLI_OK;
}

static enum cli_exit run_create(struct cli *cli)
{
    static const struct ask ask = {"/errata.v1.AdminService/CreateToken", fill_create,
                                   print_secret};

    return ask_run(cli, &ask);
}

static struct slice token_state(struct cli *cli, struct json_value row)
{
    struct slice revoked = reply_time(cli, row, "revokeTime");

    if (revoked.size > 0) {
        return arena_printf(&cli->arena, "revoked %.*s", (int)revoked.size,
                            (const char *)revoked.data);
    }
    return SLICE("");
}

static void token_cells(struct cli *cli, struct json_value row, struct slice *cells)
{
    cells[0] = reply_text(cli, row, "keyId");
    cells[1] = reply_word(cli, row, "role", "ROLE_");
    cells[2] = reply_text(cli, row, "server").size > 0 ? SLICE("yes") : SLICE("");
    cells[3] = reply_text(cli, row, "userId");
    cells[4] = reply_time(cli, row, "createdAt");
    cells[5] = reply_time(cli, row, "expireTime");
    cells[6] = token_state(cli, row);
}

static enum cli_exit run_list(struct cli *cli)
{
    static const struct table_column columns[] = {
        {.title = "KEY ID", .cut = TABLE_NEVER_CUT},
        {.title = "ROLE", .cut = TABLE_NEVER_CUT},
        {.title = "SERVER", .cut = TABLE_NEVER_CUT, .extra = 1},
        {.title = "USER"},
        {.title = "CREATED", .cut = TABLE_NEVER_CUT, .extra = 1},
        {.title = "EXPIRES", .cut = TABLE_NEVER_CUT},
        {.title = "STATE"}};
    static const struct paging paging = {
        .path = "/errata.v1.AdminService/ListTokens",
        .rows = {"tokens", columns, sizeof(columns) / sizeof(columns[0]), token_cells},
        .members = org_member,
        .nothing = "no tokens"};

    return paging_run(cli, &paging);
}

static enum cli_exit fill_revoke(struct request *request, struct cli *cli)
{
    enum cli_exit result = request_add_options(request, cli, org_member);

    request_text(request, "key_id", slice_text(cli->options.words[0]));
    return result;
}

static enum cli_exit print_revoked(struct cli *cli, struct json_value reply)
{
    (void)reply;
    print_text(&cli->out, "token %s is revoked\n", cli->options.words[0]);
    return CLI_OK;
}

static enum cli_exit run_revoke(struct cli *cli)
{
    static const struct ask ask = {"/errata.v1.AdminService/RevokeToken", fill_revoke,
                                   print_revoked};

    return ask_run(cli, &ask);
}

/* Every command of the group takes it. */
#define ORG_OPTION                                                                                 \
    {                                                                                              \
        "org", "ORG", "another organisation's id; needs a token with the server flag"              \
    }

static const struct option_spec create_options[] = {
    {"role", "ROLE", "what it may do"},
    {"user", "USER", "the user it is bound to; OPERATOR and REVIEWER need one"},
    {"expires", "SPAN|TIME", "when it ends: 90d, or a time; never where this is not given"},
    {"file", "FILE", "write it into this new file, that only you can read"},
    ORG_OPTION,
    {"server-flag", NULL, "it may name other organisations in AdminService"},
    {"idempotency-key", "KEY", "a repeat with the same key makes no second token"},
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {ORG_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec revoke_options[] = {ORG_OPTION, {NULL, NULL, NULL}};

const struct command token_commands[] = {
    {.group = "token",
     .name = "create",
     .arguments = "--role ROLE",
     .summary = "create a token and print it, once",
     .help =
         "Creates a token. Its text goes to standard output, or into a file of `--file`, and is "
         "never shown again: the server keeps a hash. Needs an ADMIN token. `errata methods` "
         "lists what each role may call.",
     .examples = {{"errata token create --role SERVICE --expires 90d --file service.token",
                   "for a program"},
                  {"errata token create --role OPERATOR --user ada --file ada.token",
                   "for a person who corrects"}},
     .options = create_options,
     .run = run_create},
    {.group = "token",
     .name = "list",
     .summary = "list tokens, revoked and ended ones too",
     .help = "Lists the tokens of an organisation by key id, without their secrets.",
     .examples =
         {{"errata token list --all", NULL},
          {"errata token list --all --json | jq -r '.tokens[] | select(.revokeTime) | .keyId'",
           "those that were revoked"}},
     .options = list_options,
     .run = run_list},
    {.group = "token",
     .name = "revoke",
     .arguments = "KEYID",
     .summary = "revoke a token at once and for ever",
     .help = "Revokes a token by its key id: the eight hex digits that stand in its text behind "
             "`errata_`, and in `errata token list`.",
     .examples = {{"errata token revoke 0123abcd", NULL}},
     .options = revoke_options,
     .words_min = 1,
     .words_max = 1,
     .run = run_revoke},
    {.name = NULL}};
