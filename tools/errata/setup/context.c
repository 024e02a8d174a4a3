/*
 * context.c: `errata context`: servers and their tokens by name, in a private file
 * (config/config_file.h).
 */
#include "server/tls/stream/tls_context.h"
#include "store/base/json.h"
#include "tools/errata/commands.h"
#include "tools/errata/config/config_file.h"
#include "tools/errata/engine/where.h"
#include "tools/errata/terminal/table.h"
#include "tools/errata/terminal/wrap.h"

#include <limits.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* --- changing --- */

/* Describes one change of the contexts. */
struct change {
    struct cli *cli;
    struct slice name;
    struct slice new_name; /* new name for renaming */
    struct slice server; /* empty: unchanged */
    struct slice token;
    struct slice token_file;
    struct context_tls tls; /* not `on`: unchanged */
    bool may_exist; /* --replace */
    bool use; /* make the context the current one */
    bool used; /* the context is the current one now */
};

static enum cli_exit no_context(struct cli *cli, const char *name)
{
    struct contexts contexts;
    enum cli_exit result = where_read_contexts(cli, &contexts);

    return result == CLI_OK ? where_no_context(cli, &contexts, name) : result;
}

static enum cli_exit run_change(struct cli *cli, config_file_change_function change,
                                struct change *what)
{
    const char *path = NULL;
    struct slice message = {NULL, 0};
    enum cli_exit result = where_config_path(cli, &path);
    enum err err = OK;

    if (result != CLI_OK) {
        return result;
    }
    err = config_file_change(path, &cli->kept, &cli->fault, change, what);
    message = cli->fault.message;
    if (err == OK) {
        return CLI_OK;
    }
    if (err == ERR_NOT_FOUND) {
        return no_context(cli, cli->options.words[0]);
    }
    message = message.size > 0 ? message : slice_text(err_text(err));
    if (err == ERR_EXISTS || err == ERR_PRECONDITION) {
        return cli_usage(cli, "%.*s", SLICE_ARGS(message));
    }
    return cli_local(cli, "%.*s", SLICE_ARGS(message));
}

/* --- add --- */

static enum err add(void *user, struct contexts *contexts, struct fault *fault)
{
    struct change *change = user;
    bool exists = contexts_find(contexts, change->name) != NULL;
    struct context *context = NULL;
    enum err err = OK;

    if (exists && !change->may_exist) {
        return fault_say(
            fault, ERR_EXISTS,
            "context \"%.*s\": already exists; expected another name, or --replace to change it",
            SLICE_ARGS(change->name));
    }
    if (!exists && change->server.size == 0) {
        return fault_say(fault, ERR_PRECONDITION,
                         "--server: missing; expected HOST:PORT, such as %s",
                         SETTINGS_SERVER_DEFAULT);
    }
    err = contexts_put(contexts, change->name, &context);
    if (err != OK) {
        return fault_say(fault, err, "too many contexts; expected at most %d", CONTEXTS_MAX);
    }
    context->server = change->server.size > 0 ? change->server : context->server;
    if (change->token.size > 0 || change->token_file.size > 0) {
        context->token = change->token;
        context->token_file = change->token_file;
    }
    if (change->tls.on) {
        context->tls = change->tls;
    }
    if (change->use || contexts->current.size == 0) {
        contexts->current = change->name;
    }
    change->used = slice_equal(contexts->current, change->name);
    return OK;
}

/* Prompts on a terminal, without showing the input. */
static char *read_secret_line(struct cli *cli, char *line, int bytes)
{
    struct termios shown;
    bool terminal = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &shown) == 0;
    char *read = NULL;

    if (terminal) {
        struct termios hidden = shown;

        hidden.c_lflag &= ~(tcflag_t)ECHO;
        /* This is done first, since text typed while the prompt is printed must not be shown. */
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
        print_text(&cli->err, "Token (input is hidden): ");
        (void)fflush(cli->err.stream);
    }
    read = fgets(line, bytes, stdin);
    if (terminal) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
        print_text(&cli->err, "\n");
    }
    return read;
}

static enum cli_exit read_token_line(struct cli *cli, struct slice *ret_token)
{
    char line[WHERE_TOKEN_BYTES_MAX];

    if (read_secret_line(cli, line, sizeof(line)) == NULL) {
        line[0] = '\0';
    }
    return where_check_token(cli, "standard input", slice_text(line), ret_token);
}

/* Returns the file's absolute path, since a context is used from any folder; the file must contain
 * a token. */
static enum cli_exit take_token_file(struct cli *cli, const char *path, struct slice *ret_path)
{
    char real[PATH_MAX];
    struct slice token = {NULL, 0};
    enum cli_exit result = where_read_token(cli, path, &token);

    if (result != CLI_OK) {
        return result;
    }
    if (realpath(path, real) == NULL || !arena_copy(&cli->kept, slice_text(real), ret_path)) {
        return cli_local(cli, "%s: its absolute path is unknown", path);
    }
    return CLI_OK;
}

static enum cli_exit fill_token(struct cli *cli, struct change *change)
{
    const char *path = options_get(&cli->options, "token-file");
    bool line = options_has(&cli->options, "token-stdin");

    if (path != NULL && line) {
        return cli_usage(
            cli, "--token-file: given together with --token-stdin; expected one of the two");
    }
    if (line) {
        return read_token_line(cli, &change->token);
    }
    return path != NULL ? take_token_file(cli, path, &change->token_file) : CLI_OK;
}

/* Returns a file's absolute path; empty if none is given. */
static enum cli_exit take_path(struct cli *cli, const char *path, struct slice *ret_path)
{
    char real[PATH_MAX];

    *ret_path = slice_of(NULL, 0);
    if (path == NULL || path[0] == '\0') {
        return CLI_OK;
    }
    if (realpath(path, real) == NULL || !arena_copy(&cli->kept, slice_text(real), ret_path)) {
        return cli_local(cli, "%s: cannot be found; expected a PEM file", path);
    }
    return CLI_OK;
}

/* Reads the options of TLS, whose files must be valid. */
static enum cli_exit fill_tls(struct cli *cli, struct context_tls *tls)
{
    const struct settings_tls_given given = where_tls_options(cli);
    struct tls_context *opened = NULL;
    enum cli_exit result = take_path(cli, given.ca, &tls->ca);

    tls->on = settings_tls_given(&given);
    if (result == CLI_OK) {
        result = take_path(cli, given.client_cert, &tls->client_cert);
    }
    if (result == CLI_OK) {
        result = take_path(cli, given.client_key, &tls->client_key);
    }
    if (result == CLI_OK) {
        result = where_open_tls(cli, tls, &opened);
    }
    tls_context_unref(opened);
    return result;
}

static enum cli_exit fill_add(struct cli *cli, struct change *change)
{
    enum cli_exit result = CLI_OK;

    if (!context_name_valid(change->name)) {
        return cli_usage(cli,
                         "\"%s\": invalid name; expected 1 to %d letters, digits and ._-, not "
                         "starting with a dash",
                         cli->options.words[0], CONTEXT_NAME_BYTES_MAX);
    }
    if (change->server.size > 0) {
        const char *host = NULL;
        uint16_t port = 0;

        result = where_split_server(cli, change->server, &host, &port);
    }
    if (result == CLI_OK) {
        result = fill_tls(cli, &change->tls);
    }
    return result == CLI_OK ? fill_token(cli, change) : result;
}

static enum cli_exit run_add(struct cli *cli)
{
    struct change change = {.cli = cli,
                            .name = slice_text(cli->options.words[0]),
                            .server = slice_text(options_get(&cli->options, "server")),
                            .may_exist = options_has(&cli->options, "replace"),
                            .use = options_has(&cli->options, "use")};
    enum cli_exit result = fill_add(cli, &change);

    if (result == CLI_OK) {
        result = run_change(cli, add, &change);
    }
    if (result != CLI_OK) {
        return result;
    }
    cli_note(cli, "the context %s is stored%s; `errata health%s%s` checks its server",
             cli->options.words[0], change.used ? " and is the current one" : "",
             change.used ? "" : " --context ", change.used ? "" : cli->options.words[0]);
    return CLI_OK;
}

/* --- use, rename, remove --- */

static enum err use(void *user, struct contexts *contexts, struct fault *fault)
{
    const struct change *change = user;

    (void)fault;
    if (change->name.size > 0 && contexts_find(contexts, change->name) == NULL) {
        return ERR_NOT_FOUND;
    }
    contexts->current = change->name;
    return OK;
}

static enum cli_exit run_use(struct cli *cli)
{
    bool none = options_has(&cli->options, "none");
    struct change change = {.cli = cli, .name = slice_text(none ? "" : (cli->options.words[0]))};
    enum cli_exit result = CLI_OK;

    result = run_change(cli, use, &change);
    if (result != CLI_OK) {
        return result;
    }
    if (none) {
        cli_note(cli, "there is no current context");
    } else {
        cli_note(cli, "the current context is %s", cli->options.words[0]);
    }
    if (getenv("ERRATA_SERVER") != NULL || getenv("ERRATA_CONTEXT") != NULL) {
        cli_note(cli, "but %s is set, which has precedence",
                 getenv("ERRATA_SERVER") != NULL ? "ERRATA_SERVER" : "ERRATA_CONTEXT");
    }
    return CLI_OK;
}

static enum cli_exit run_use_or_none(struct cli *cli)
{
    if ((cli->options.word_count > 0) == options_has(&cli->options, "none")) {
        return cli_usage(cli, "CONTEXT: missing; expected the name of a context, or --none");
    }
    return run_use(cli);
}

static enum err rename_one(void *user, struct contexts *contexts, struct fault *fault)
{
    const struct change *change = user;
    struct context *context = contexts_find(contexts, change->name);

    if (context == NULL) {
        return ERR_NOT_FOUND;
    }
    if (contexts_find(contexts, change->new_name) != NULL) {
        return fault_say(fault, ERR_EXISTS,
                         "context \"%.*s\": already exists; expected another name",
                         SLICE_ARGS(change->new_name));
    }
    if (slice_equal(contexts->current, context->name)) {
        contexts->current = change->new_name;
    }
    context->name = change->new_name;
    return OK;
}

static enum cli_exit run_rename(struct cli *cli)
{
    struct change change = {.cli = cli,
                            .name = slice_text(cli->options.words[0]),
                            .new_name = slice_text(cli->options.words[1])};
    enum cli_exit result = CLI_OK;

    if (!context_name_valid(change.new_name)) {
        return cli_usage(cli,
                         "\"%s\": invalid name; expected 1 to %d letters, digits and ._-, not "
                         "starting with a dash",
                         cli->options.words[1], CONTEXT_NAME_BYTES_MAX);
    }
    result = run_change(cli, rename_one, &change);
    if (result == CLI_OK) {
        cli_note(cli, "the context %s was renamed to %s", cli->options.words[0],
                 cli->options.words[1]);
    }
    return result;
}

static enum err remove_one(void *user, struct contexts *contexts, struct fault *fault)
{
    struct change *change = user;
    struct context *context = contexts_find(contexts, change->name);

    (void)fault;
    if (context == NULL) {
        return ERR_NOT_FOUND;
    }
    change->used = slice_equal(contexts->current, change->name);
    contexts_remove(contexts, context);
    return OK;
}

static enum cli_exit run_remove(struct cli *cli)
{
    struct change change = {.cli = cli, .name = slice_text(cli->options.words[0])};
    enum cli_exit result = run_change(cli, remove_one, &change);

    if (result == CLI_OK) {
        cli_note(cli, "the context %s was removed%s", cli->options.words[0],
                 change.used ? "; there is no current context now" : "");
    }
    return result;
}

/* --- list --- */

/* Describes the token without showing its secret. */
static struct slice token_text(struct cli *cli, const struct context *context)
{
    struct slice key_id = context_token_key_id(context->token);

    if (context->token.size > 0) {
        return arena_printf(&cli->kept, "%.*s%skept here", SLICE_ARGS(key_id),
                            key_id.size > 0 ? ", " : "");
    }
    return context->token_file.size > 0 ? context->token_file : SLICE("none");
}

static enum cli_exit print_table(struct cli *cli, const struct contexts *contexts)
{
    static const struct table_column columns[] = {{.title = "CURRENT", .cut = TABLE_NEVER_CUT},
                                                  {.title = "NAME", .cut = TABLE_NEVER_CUT},
                                                  {.title = "SERVER", .min = 16},
                                                  {.title = "TOKEN", .cut = TABLE_CUT_FRONT}};
    struct table table;

    table_init(&table, &cli->kept, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < contexts->count; i++) {
        const struct context *context = &contexts->list[i];
        bool current = slice_equal(context->name, contexts->current);
        const struct slice cells[] = {current ? SLICE("*") : SLICE(""), context->name,
                                      context->server.size > 0 ? context->server
                                                               : SLICE(SETTINGS_SERVER_DEFAULT),
                                      token_text(cli, context)};

        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
        if (current) {
            table_colour(&table, 0, COLOUR_GREEN);
            table_colour(&table, 1, COLOUR_GREEN);
        }
    }
    table_print(&table, &cli->out);
    return CLI_OK;
}

static void add_context_json(struct buffer *json, const struct context *context)
{
    buffer_append(json, SLICE("{\"name\":"));
    json_write_string(json, context->name, false);
    buffer_append(json, SLICE(",\"server\":"));
    json_write_string(json, context->server, false);
    if (context->token_file.size > 0) {
        buffer_append(json, SLICE(",\"tokenFile\":"));
        json_write_string(json, context->token_file, false);
    }
    if (context->token.size > 0) {
        buffer_append(json, SLICE(",\"tokenKeyId\":"));
        json_write_string(json, context_token_key_id(context->token), false);
    }
    buffer_append_byte(json, '}');
}

static void print_list_json(struct cli *cli, const struct contexts *contexts)
{
    struct buffer json;

    buffer_init(&json, &cli->kept, 256);
    buffer_append(&json, SLICE("{\"current\":"));
    json_write_string(&json, contexts->current, false);
    buffer_append(&json, SLICE(",\"contexts\":["));
    for (size_t i = 0; i < contexts->count; i++) {
        buffer_append(&json, i > 0 ? SLICE(",") : SLICE(""));
        add_context_json(&json, &contexts->list[i]);
    }
    buffer_append(&json, SLICE("]}"));
    print_json(&cli->out, buffer_slice(&json));
}

static enum cli_exit run_list(struct cli *cli)
{
    struct contexts contexts;
    enum cli_exit result = where_read_contexts(cli, &contexts);

    if (result != CLI_OK) {
        return result;
    }
    if (cli->json) {
        print_list_json(cli, &contexts);
        return CLI_OK;
    }
    if (contexts.count == 0) {
        cli_note(cli, "no contexts yet: `errata context add NAME --server HOST:PORT` creates one");
    }
    return print_table(cli, &contexts);
}

/* --- show --- */

/* Prints the key id and the origin of the token in use, never its text. */
static struct slice settled_token(struct cli *cli)
{
    const struct settings *settings = &cli->settings;
    struct slice key_id = context_token_key_id(cli->token);
    struct slice where =
        settings->token_file.size > 0 ? settings->token_file : SLICE("the context");

    if (settings->token_withheld) {
        return SLICE("none: the token of the context is for its own server");
    }
    if (settings->token_source == SETTINGS_NOWHERE) {
        return SLICE("none");
    }
    return arena_printf(&cli->kept, "%s%.*s%sin %.*s", key_id.size > 0 ? "key " : "",
                        SLICE_ARGS(key_id), key_id.size > 0 ? ", " : "", SLICE_ARGS(where));
}

static void print_setting(struct cli *cli, const char *title, struct slice value,
                          const char *source)
{
    print_text(&cli->out, "%-8s", title);
    wrap_message(
        &cli->out, 8, 9,
        source == NULL ? value : arena_printf(&cli->kept, "%.*s  (%s)", SLICE_ARGS(value), source));
}

static const char *context_source(enum settings_source source)
{
    switch (source) {
    case SETTINGS_NOWHERE:
    case SETTINGS_CONTEXT:
        break;
    case SETTINGS_OPTION:
        return "from the command line";
    case SETTINGS_ENVIRONMENT:
        return "from ERRATA_CONTEXT";
    case SETTINGS_DEFAULT:
        return "the current one";
    }
    return NULL;
}

/* Describes TLS: its authorities, and whether the client has a certificate. */
static struct slice settled_tls(struct cli *cli)
{
    const struct context_tls *tls = &cli->settings.tls;

    if (!tls->on) {
        return SLICE("none: cleartext");
    }
    return arena_printf(&cli->kept, "authorities: %.*s%s",
                        SLICE_ARGS(tls->ca.size > 0 ? tls->ca : SLICE("the system's")),
                        tls->client_cert.size > 0 ? "; with a client certificate" : "");
}

static void print_tls(struct cli *cli)
{
    enum settings_source source = cli->settings.tls_source;

    print_setting(cli, "TLS", settled_tls(cli),
                  source == SETTINGS_NOWHERE
                      ? NULL
                      : (const char *)arena_printf(
                            &cli->kept, "from %s",
                            where_source(cli, source, "the command line", "the environment"))
                            .data);
}

static void print_settings(struct cli *cli)
{
    const struct settings *settings = &cli->settings;
    const char *source = NULL;
    struct slice context = settings->context != NULL ? settings->context->name : SLICE("none");

    print_setting(cli, "context", context, context_source(settings->context_source));
    print_setting(cli, "server", settings->server, where_server_phrase(cli));
    print_tls(cli);
    if (settings->token_source == SETTINGS_NOWHERE) {
        print_setting(cli, "token", settled_token(cli), NULL);
        return;
    }
    source = where_source(cli, settings->token_source, "--token-file", "ERRATA_TOKEN_FILE");
    print_setting(cli, "token", settled_token(cli),
                  (const char *)arena_printf(&cli->kept, "from %s", source).data);
}

static void print_settings_json(struct cli *cli)
{
    const struct settings *settings = &cli->settings;
    struct buffer json;

    buffer_init(&json, &cli->kept, 256);
    buffer_append(&json, SLICE("{\"context\":"));
    json_write_string(&json, settings->context != NULL ? settings->context->name : SLICE(""),
                      false);
    buffer_append(&json, SLICE(",\"server\":"));
    json_write_string(&json, settings->server, false);
    buffer_printf(&json, ",\"serverFrom\":\"%s\"",
                  where_source(cli, settings->server_source, "--server", "ERRATA_SERVER"));
    buffer_printf(&json, ",\"tls\":%s", settings->tls.on ? "true" : "false");
    if (settings->token_source != SETTINGS_NOWHERE) {
        buffer_append(&json, SLICE(",\"tokenKeyId\":"));
        json_write_string(&json, context_token_key_id(cli->token), false);
        buffer_append(&json, SLICE(",\"tokenFile\":"));
        json_write_string(&json, settings->token_file, false);
        buffer_printf(
            &json, ",\"tokenFrom\":\"%s\"",
            where_source(cli, settings->token_source, "--token-file", "ERRATA_TOKEN_FILE"));
    }
    buffer_append_byte(&json, '}');
    print_json(&cli->out, buffer_slice(&json));
}

/* `show NAME` is `--context NAME show`. */
static enum cli_exit run_show(struct cli *cli)
{
    static const struct option_spec context = {"context", "CONTEXT", ""};
    enum cli_exit result = CLI_OK;

    if (cli->options.word_count > 0) {
        if (cli->options.given_count == OPTIONS_GIVEN_MAX) {
            return cli_usage(cli, "too many options; expected at most %d", OPTIONS_GIVEN_MAX);
        }
        cli->options.given[cli->options.given_count++] =
            (struct option_given){&context, cli->options.words[0]};
    }
    result = where_settle(cli);
    if (result != CLI_OK) {
        return result;
    }
    result = where_resolve(cli); /* the settings are shown even without a token */
    if (cli->json) {
        print_settings_json(cli);
    } else {
        print_settings(cli);
    }
    return result;
}

/* --- the commands --- */

static const struct option_spec add_options[] = {
    {"token-stdin", NULL, "store a token that is read from standard input or entered at a prompt"},
    {"replace", NULL, "replace an existing context; values that are not given are kept"},
    {"use", NULL, "make this context the current one; the first context always is"},
    {NULL, NULL, NULL}};
static const struct option_spec use_options[] = {{"none", NULL, "have no current context"},
                                                 {NULL, NULL, NULL}};

const struct command context_commands[] = {
    {.group = "context",
     .name = "add",
     .arguments = "NAME --server HOST:PORT",
     .summary = "store a server and its token under a name",
     .help = "Stores a server and its token under a name. The token is given by the path of a file "
             "(`--token-file`) or on standard input (`--token-stdin`), but not on the command "
             "line, which other users can see. The first context becomes the current one.",
     .examples = {{"errata context add home --server 127.0.0.1:7443 --token-file admin.token",
                   NULL},
                  {"errata context add office --server 10.0.0.7:7443 --token-stdin < admin.token",
                   "with the token in the context itself"},
                  {"errata context add office --replace --token-file admin.token --use",
                   "another token"}},
     .options = add_options,
     .run = run_add},
    {.group = "context",
     .name = "list",
     .summary = "list contexts and mark the current one",
     .help = "Lists all contexts. Tokens are shown as key ids or file names; their secrets are "
             "never printed.",
     .examples = {{"errata context list", NULL}},
     .run = run_list},
    {.group = "context",
     .name = "show",
     .arguments = "[CONTEXT]",
     .summary = "show the server and the token that commands use",
     .help = "Prints the server and the token that commands use, with the source of each; with a "
             "name, the server and token of that context. `errata help contexts` describes the "
             "order of precedence.",
     .examples = {{"errata context show", NULL}, {"errata context show home", NULL}},
     .run = run_show},
    {.group = "context",
     .name = "use",
     .arguments = "[CONTEXT]",
     .summary = "make a context the current one",
     .help = "Makes a context the current one. Commands use it unless another server is specified.",
     .examples = {{"errata context use home", NULL}, {"errata context use --none", NULL}},
     .options = use_options,
     .run = run_use_or_none},
    {.group = "context",
     .name = "rename",
     .arguments = "CONTEXT NAME",
     .summary = "rename a context",
     .help = "Renames a context. The current context remains current.",
     .examples = {{"errata context rename home laptop", NULL}},
     .run = run_rename},
    {.group = "context",
     .name = "remove",
     .arguments = "CONTEXT",
     .summary = "remove a context",
     .help = "Removes a context and the token stored in it. A token file is kept, and the token "
             "remains valid on its server; revoke it with `errata token revoke`.",
     .examples = {{"errata context remove office", NULL}},
     .run = run_remove},
    {.name = NULL}};
