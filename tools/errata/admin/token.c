/*
 * token.c: `errata token`: tokens of an organisation.
 */
#include "tools/errata/commands.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/paging.h"
#include "tools/errata/engine/view_cells.h"

#include "store/base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Writes the token into the file that run_create has created. */
static enum cli_exit write_secret(struct cli *cli, const char *path, struct json_value reply)
{
    struct slice secret = reply_text(cli, reply, "secret");
    struct slice key_id = reply_text(cli, reply_member(reply, "token"), "keyId");
    FILE *file = fopen(path, "we");
    bool written = file != NULL && fwrite(secret.data, 1, secret.size, file) == secret.size &&
                   fputc('\n', file) == '\n';

    written = file != NULL && fclose(file) == 0 && written;
    if (!written) {
        return cli_local(cli,
                         "%s can't be written: %s; the token is lost: `errata token revoke %.*s`",
                         path, strerror(errno), SLICE_ARGS(key_id));
    }
    cli_note(cli, "the token %.*s is in %s, which only you can read", SLICE_ARGS(key_id), path);
    return CLI_OK;
}

static enum cli_exit print_secret(struct cli *cli, struct json_value reply)
{
    const char *path = options_get(&cli->options, "file");

    reply_note_clock(cli, reply_member(reply, "token"), "createdAt");
    if (path != NULL) {
        return write_secret(cli, path, reply);
    }
    cli_note(cli, "this token is shown once; keep it in a file that only its user reads:");
    print_line(&cli->out, reply_text(cli, reply, "secret"));
    return CLI_OK;
}

static enum cli_exit print_rotated(struct cli *cli, struct json_value reply)
{
    struct json_value replaced = reply_member(reply, "replaced");

    cli_note(cli, "the old token %.*s is valid until %.*s",
             SLICE_ARGS(reply_text(cli, replaced, "keyId")),
             SLICE_ARGS(reply_full_time(cli, replaced, "expiresAt")));
    return print_secret(cli, reply);
}

/* The file is created before the token, so that the token cannot be lost because the file cannot be
 * created. */
static enum cli_exit create_into(struct cli *cli, const struct command_call *call, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum cli_exit result = CLI_OK;

    if (fd < 0) {
        return cli_local(cli, "%s can't be created: %s", path, strerror(errno));
    }
    (void)close(fd);
    result = command_call_once(cli, call);
    if (result != CLI_OK) {
        (void)unlink(path);
    }
    return result;
}

/* Makes a call that returns a token's text, once. */
static enum cli_exit run_new(struct cli *cli, const struct command_call *call)
{
    const char *path = options_get(&cli->options, "file");

    if (path != NULL && cli->json) {
        return cli_usage(cli, "--json: given together with --file; expected only one of them, "
                              "since both would contain the token");
    }
    return path != NULL ? create_into(cli, call, path) : command_call_once(cli, call);
}

static enum cli_exit run_create(struct cli *cli)
{
    static const struct command_call call = {.method = "/errata.v1.AdminService/CreateToken",
                                             .print = print_secret};

    return run_new(cli, &call);
}

/* Adds the overlap in seconds. */
static enum cli_exit add_overlap(struct request *request, struct cli *cli)
{
    const char *text = options_get(&cli->options, "overlap");
    int64_t milliseconds = 0;
    bool is_none = text != NULL && strcmp(text, "0") == 0;

    if (text == NULL) {
        return CLI_OK;
    }
    if (!is_none && !input_duration(text, &milliseconds)) {
        return cli_usage(
            cli, "--overlap \"%s\": invalid time span; expected one such as 1h or 7d, or 0", text);
    }
    request_raw(request, "overlap_seconds",
                arena_printf(&cli->arena, "%lld", (long long)(milliseconds / 1000)));
    return CLI_OK;
}

static enum cli_exit run_rotate(struct cli *cli)
{
    static const struct command_call call = {.method = "/errata.v1.AdminService/RotateToken",
                                             .fill = add_overlap,
                                             .print = print_rotated};

    return run_new(cli, &call);
}

/* Tokens that expire within this time are highlighted. */
#define ENDS_SOON_SECONDS (7 * 86400)

/* 2026-01-31 */
#define DATE_BYTES 10

enum token_state {
    TOKEN_LIVES,
    TOKEN_ENDS_SOON,
    TOKEN_ENDED,
    TOKEN_REVOKED
};

static enum token_state token_state(struct cli *cli, struct json_value row)
{
    int64_t now = clock_wall_us(cli->ctx.clock) / 1000000;
    int64_t end = 0;
    int32_t nanos = 0;

    if (reply_text(cli, row, "revokedAt").size > 0) {
        return TOKEN_REVOKED;
    }
    if (!timestamp_parse(reply_text(cli, row, "expiresAt"), &end, &nanos)) {
        return TOKEN_LIVES;
    }
    if (end <= now) {
        return TOKEN_ENDED;
    }
    return end <= now + ENDS_SOON_SECONDS ? TOKEN_ENDS_SOON : TOKEN_LIVES;
}

static const char *state_word(enum token_state state)
{
    switch (state) {
    case TOKEN_LIVES:
    case TOKEN_ENDS_SOON:
        return "active";
    case TOKEN_ENDED:
        return "expired";
    case TOKEN_REVOKED:
        return "revoked";
    }
    return "";
}

struct slice cell_token_state(struct cli *cli, struct json_value object, const char *name)
{
    (void)name;
    return slice_text(state_word(token_state(cli, object)));
}

struct slice cell_day(struct cli *cli, struct json_value object, const char *name)
{
    struct slice time = reply_text(cli, object, name);

    return slice_of(time.data, time.size < DATE_BYTES ? time.size : DATE_BYTES);
}

/* Dims tokens that are no longer valid, and highlights those that expire soon. */
static void colour_token(struct cli *cli, struct json_value row, struct table *table)
{
    switch (token_state(cli, row)) {
    case TOKEN_LIVES:
        break;
    case TOKEN_ENDS_SOON:
        table_colour(table, 4, COLOUR_YELLOW);
        break;
    case TOKEN_ENDED:
    case TOKEN_REVOKED:
        table_colour(table, TABLE_COLUMNS_MAX, COLOUR_DIM);
        break;
    }
}

static enum cli_exit print_revoked(struct cli *cli, struct json_value reply)
{
    print_text(&cli->out, "token %.*s is revoked\n",
               SLICE_ARGS(reply_text(cli, reply_member(reply, "token"), "keyId")));
    return CLI_OK;
}

static const struct option_spec create_options[] = {
    {"role", "ROLE", "role of the token, which determines its permissions"},
    {"user", "USER", "user to bind the token to; required for OPERATOR and REVIEWER"},
    {"expires", "SPAN|TIME", "expiry: a time or a time span such as 90d; default: never"},
    {"file", "FILE", "write the token to this new file, which only you can read"},
    ORG_OPTION,
    {"server-flag", NULL, "allow the token to administer other organisations"},
    {"idempotency-key", "KEY", "key that prevents a second token if the call is repeated"},
    {NULL, NULL, NULL}};
static const struct option_spec list_options[] = {ORG_OPTION, PAGING_OPTIONS, {NULL, NULL, NULL}};
static const struct option_spec rotate_options[] = {
    {"overlap", "SPAN", "how long the old token is still valid, at most 30d; default: 1d"},
    {"file", "FILE", "write the new token to this new file, which only you can read"},
    ORG_OPTION,
    {"idempotency-key", "KEY", "key that prevents a second token if the call is repeated"},
    {NULL, NULL, NULL}};
static const struct option_spec revoke_options[] = {ORG_OPTION, {NULL, NULL, NULL}};

const struct command token_commands[] = {
    {.group = "token",
     .name = "create",
     .arguments = "--role ROLE",
     .summary = "create a token and print its text",
     .help = "Creates a token. Its text is printed to standard output, or written to the file of "
             "`--file`. It cannot be shown again, since the server stores only a hash. Needs an "
             "ADMIN token. `errata methods` lists the methods that each role may call.",
     .examples = {{"errata token create --role SERVICE --expires 90d --file service.token",
                   "for a program"},
                  {"errata token create --role OPERATOR --user ada --file ada.token",
                   "for a person who corrects"}},
     .options = create_options,
     .run = run_create},
    {.group = "token",
     .name = "list",
     .summary = "list tokens, including revoked and expired ones",
     .help = "Lists the tokens of an organisation with their key ids, without their secrets.",
     .examples = {{"errata token list --all", NULL},
                  {"errata token list --all --json |\n"
                   "  jq -r '.tokens[] | select(.revokedAt) | .keyId'",
                   "only the revoked ones"}},
     .options = list_options,
     COMMAND_CALL("AdminService/ListTokens", .colour = colour_token, .nothing = "no tokens")},
    {.group = "token",
     .name = "rotate",
     .arguments = "KEYID",
     .summary = "replace a token by a new one, with an overlap",
     .help =
         "Creates a token with the role, user and flag of the given one, which stays valid for the "
         "overlap, so that its users can change to the new one. If the old token expires, the "
         "new one is valid for as long as the old one was. The new text is printed once, as by "
         "`errata token create`.",
     .examples = {{"errata token rotate 0123abcd --overlap 7d --file next.token", NULL},
                  {"errata token rotate 0123abcd --overlap 0", "the old one expires at once"}},
     .options = rotate_options,
     .run = run_rotate},
    {.group = "token",
     .name = "revoke",
     .arguments = "KEYID",
     .summary = "revoke a token immediately and permanently",
     .help = "Revokes a token, given by its key id: the eight hex digits after `errata_` in its "
             "text, which `errata token list` shows too. The last usable ADMIN token with the "
             "server flag cannot be revoked: create another one first.",
     .examples = {{"errata token revoke 0123abcd", NULL}},
     .options = revoke_options,
     COMMAND_CALL("AdminService/RevokeToken", .print = print_revoked)},
    {.name = NULL}};
