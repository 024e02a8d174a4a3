/*
 * where.c: see where.h.
 */
#include "tools/errata/engine/where.h"

#include "server/tls/stream/tls_context.h"
#include "tools/errata/config/config_file.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/terminal/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* --- the file of contexts --- */

static enum cli_exit say_fault(struct cli *cli, enum err err)
{
    struct slice message = cli->fault.message;

    if (message.size == 0) {
        message = slice_text(err_text(err));
    }
    return cli_local(cli, "%.*s", SLICE_ARGS(message));
}

enum cli_exit where_config_path(struct cli *cli, const char **ret_path)
{
    enum err err =
        config_file_path(&cli->kept, getenv("XDG_CONFIG_HOME"), getenv("HOME"), ret_path);

    if (err == ERR_NOT_FOUND) {
        return cli_local(
            cli,
            "the folder of contexts is unknown: neither XDG_CONFIG_HOME nor HOME names a folder");
    }
    return err == OK ? CLI_OK : cli_local(cli, "out of memory");
}

enum cli_exit where_read_contexts(struct cli *cli, struct contexts *ret_contexts)
{
    const char *path = NULL;
    enum cli_exit result = where_config_path(cli, &path);
    enum err err = OK;

    if (result == CLI_OK) {
        err = config_file_read(path, &cli->kept, &cli->fault, ret_contexts);
        result = err == OK ? CLI_OK : say_fault(cli, err);
    }
    return result;
}

/* --- choice of the context --- */

enum cli_exit where_no_context(struct cli *cli, const struct contexts *contexts, const char *name)
{
    struct suggest suggest;

    suggest_init(&suggest, slice_text(name));
    for (size_t i = 0; i < contexts->count; i++) {
        suggest_offer(&suggest, contexts->list[i].name);
    }
    if (suggest.best.size > 0) {
        return cli_usage(cli, "unknown context \"%s\"; did you mean \"%.*s\"?", name,
                         SLICE_ARGS(suggest.best));
    }
    return cli_usage(cli, "unknown context \"%s\"; %s", name,
                     contexts->count > 0 ? "`errata context list` lists the known contexts"
                                         : "create one with `errata context add`");
}

/* Returns the name of the context that was not found, by the same rules as settings_resolve. */
static const char *wanted_context(struct cli *cli, const struct settings_given *given,
                                  const struct contexts *contexts)
{
    if (given->context_option != NULL && given->context_option[0] != '\0') {
        return given->context_option;
    }
    if (given->context_variable != NULL && given->context_variable[0] != '\0') {
        return given->context_variable;
    }
    return (const char *)arena_printf(&cli->kept, "%.*s", SLICE_ARGS(contexts->current)).data;
}

struct settings_tls_given where_tls_options(const struct cli *cli)
{
    return (struct settings_tls_given){.tls = options_has(&cli->options, "tls") ? "true" : NULL,
                                       .ca = options_get(&cli->options, "ca"),
                                       .client_cert = options_get(&cli->options, "client-cert"),
                                       .client_key = options_get(&cli->options, "client-key")};
}

enum cli_exit where_settle(struct cli *cli)
{
    const struct settings_given given = {
        .server_option = options_get(&cli->options, "server"),
        .token_file_option = options_get(&cli->options, "token-file"),
        .context_option = options_get(&cli->options, "context"),
        .server_variable = getenv("ERRATA_SERVER"),
        .token_file_variable = getenv("ERRATA_TOKEN_FILE"),
        .context_variable = getenv("ERRATA_CONTEXT"),
        .tls_options = where_tls_options(cli),
        .tls_variables = {.tls = getenv("ERRATA_TLS"),
                          .ca = getenv("ERRATA_CA"),
                          .client_cert = getenv("ERRATA_CLIENT_CERT"),
                          .client_key = getenv("ERRATA_CLIENT_KEY")}};
    bool has_home = getenv("HOME") != NULL || getenv("XDG_CONFIG_HOME") != NULL;
    bool named = given.context_option != NULL || given.context_variable != NULL;
    struct contexts contexts;
    enum cli_exit result = CLI_OK;
    enum err err = contexts_init(&contexts, &cli->kept);

    /* A program without a home folder, such as a service, has no contexts; an error only if one is
     * requested. */
    if (err == OK && settings_need_contexts(&given) && (has_home || named)) {
        result = where_read_contexts(cli, &contexts);
    }
    if (result != CLI_OK) {
        return result;
    }
    if (err == OK) {
        err = settings_resolve(&given, &contexts, &cli->fault, &cli->settings);
    }
    if (err == ERR_NOT_FOUND) {
        return where_no_context(cli, &contexts, wanted_context(cli, &given, &contexts));
    }
    return err == OK ? CLI_OK : cli_local(cli, "out of memory");
}

const char *where_source(struct cli *cli, enum settings_source source, const char *option,
                         const char *variable)
{
    switch (source) {
    case SETTINGS_NOWHERE:
        return "nowhere";
    case SETTINGS_OPTION:
        return option;
    case SETTINGS_ENVIRONMENT:
        return variable;
    case SETTINGS_CONTEXT:
        return (const char *)arena_printf(&cli->kept, "the context %.*s",
                                          SLICE_ARGS(cli->settings.context->name))
            .data;
    case SETTINGS_DEFAULT:
        return "the default";
    }
    return "";
}

const char *where_server_phrase(struct cli *cli)
{
    enum settings_source source = cli->settings.server_source;
    const char *name = where_source(cli, source, "--server", "ERRATA_SERVER");

    return source == SETTINGS_DEFAULT
               ? name
               : (const char *)arena_printf(&cli->kept, "from %s", name).data;
}

/* --- servers --- */

enum cli_exit where_split_server(struct cli *cli, struct slice server, const char **ret_host,
                                 uint16_t *ret_port)
{
    bool has_scheme = memmem(server.data, server.size, "://", 3) != NULL;
    struct settings_address address = {{NULL, 0}, 0};
    struct slice host = {NULL, 0};

    if (has_scheme || !settings_split_server(server, &address) ||
        address.host.size > CLIENT_HOST_BYTES_MAX) {
        return cli_usage(
            cli, "server \"%.*s\": invalid address; expected HOST or HOST:PORT, such as %s%s",
            SLICE_ARGS(server), SETTINGS_SERVER_DEFAULT,
            has_scheme ? ", without http:// before it; --tls selects TLS" : "");
    }
    if (!arena_copy(&cli->kept, address.host, &host)) {
        return cli_local(cli, "out of memory");
    }
    *ret_host = (const char *)host.data;
    *ret_port = address.port;
    return CLI_OK;
}

/* --- tokens --- */

enum cli_exit where_check_token(struct cli *cli, const char *from, struct slice text,
                                struct slice *ret_token)
{
    while (text.size > 0 && memchr("\n\r \t", text.data[text.size - 1], 4) != NULL) {
        text.size--;
    }
    if (text.size == 0) {
        return cli_local(cli, "%s: empty; expected a token", from);
    }
    if (!context_token_valid(text)) {
        return cli_local(cli, "%s: not a token; expected one line of printable ASCII", from);
    }
    return arena_copy(&cli->kept, text, ret_token) ? CLI_OK : cli_local(cli, "out of memory");
}

enum cli_exit where_read_token(struct cli *cli, const char *path, struct slice *ret_token)
{
    struct slice text = {NULL, 0};
    enum cli_exit result = input_file(cli, path, WHERE_TOKEN_BYTES_MAX, &text);

    if (result == CLI_OK) {
        return where_check_token(cli, path, text, ret_token);
    }
    if (access(path, R_OK) != 0 && errno == EACCES) {
        cli_note(
            cli,
            "hint: only its owner may read it; `sudo cat %s | errata context add NAME --server "
            "HOST:PORT --token-stdin` keeps a copy of the token for you",
            path);
    }
    return result;
}

/* Copies a path as a string; NULL for an empty one. */
static bool copy_path(struct cli *cli, struct slice path, const char **ret_path)
{
    struct slice copy = {NULL, 0};

    *ret_path = NULL;
    if (path.size == 0) {
        return true;
    }
    if (!arena_copy(&cli->kept, path, &copy)) {
        return false;
    }
    *ret_path = (const char *)copy.data;
    return true;
}

enum cli_exit where_open_tls(struct cli *cli, const struct context_tls *tls,
                             struct tls_context **ret_context)
{
    struct tls_files files = {.cert = NULL};
    enum err err = OK;

    *ret_context = NULL;
    if (!tls->on) {
        return CLI_OK;
    }
    if ((tls->client_cert.size > 0) != (tls->client_key.size > 0)) {
        return cli_usage(cli, "%s: missing; expected both --client-cert and --client-key",
                         tls->client_cert.size > 0 ? "--client-key" : "--client-cert");
    }
    if (!copy_path(cli, tls->ca, &files.ca) || !copy_path(cli, tls->client_cert, &files.cert) ||
        !copy_path(cli, tls->client_key, &files.key)) {
        return cli_local(cli, "out of memory");
    }
    err = tls_context_new_client(&files, &cli->fault, ret_context);
    return err == OK ? CLI_OK : say_fault(cli, err);
}

/* Names the origin of an unreadable token file that the command line does not name. */
static enum cli_exit read_settled_token(struct cli *cli)
{
    const struct settings *settings = &cli->settings;
    struct slice path = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if (settings->token.size > 0) {
        cli->token = settings->token;
        return CLI_OK;
    }
    if (settings->token_file.size == 0) {
        return CLI_OK; /* the server states where a token is needed */
    }
    if (!arena_copy(&cli->kept, settings->token_file, &path)) {
        return cli_local(cli, "out of memory");
    }
    result = where_read_token(cli, (const char *)path.data, &cli->token);
    if (result != CLI_OK && settings->token_source != SETTINGS_OPTION) {
        cli_note(cli, "that token file comes from %s",
                 where_source(cli, settings->token_source, "--token-file", "ERRATA_TOKEN_FILE"));
    }
    return result;
}

enum cli_exit where_resolve(struct cli *cli)
{
    enum cli_exit result = CLI_OK;

    if (cli->resolved) {
        return CLI_OK;
    }
    result = where_settle(cli);
    if (result == CLI_OK) {
        result = read_settled_token(cli);
    }
    if (result == CLI_OK) {
        result = where_open_tls(cli, &cli->settings.tls, &cli->tls);
    }
    cli->resolved = result == CLI_OK;
    return result;
}
