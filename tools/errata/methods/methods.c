/*
 * methods.c: see methods.h, and `errata methods`: the methods that can be called, from the contract's
 * tables. message.c prints requests and replies.
 */
#include "tools/errata/methods/methods.h"

#include "store/base/json.h"
#include "tools/errata/commands.h"
#include "tools/errata/methods/message.h"
#include "tools/errata/terminal/suggest.h"
#include "tools/errata/terminal/table.h"
#include "tools/errata/terminal/wrap.h"

/* A terminal as wide as this has room for the names of all roles. */
#define FULL_ROLES_WIDTH 126

/* Returns `Service/Method`, in the arena. */
static struct slice short_name(struct arena *arena, const struct method_info *method)
{
    struct slice service = message_short_name(method->service);

    return arena_printf(arena, "%.*s/%.*s", SLICE_ARGS(service), SLICE_ARGS(method->name));
}

static bool is_named(struct cli *cli, const struct method_info *method, struct slice name)
{
    return slice_equal(name, method->path) || slice_equal(name, slice_after(method->path, 1)) ||
           slice_equal(name, short_name(&cli->arena, method)) || slice_equal(name, method->name);
}

static enum cli_exit not_found(struct cli *cli, const char *name)
{
    struct suggest suggest;

    suggest_init(&suggest, slice_text(name));
    for (uint32_t i = 0; i < contract_method_count; i++) {
        suggest_offer(&suggest, short_name(&cli->arena, &contract_methods[i]));
    }
    /* A typed name without a service is compared with names without a service. */
    for (uint32_t i = 0; i < contract_method_count && strchr(name, '/') == NULL; i++) {
        suggest_offer(&suggest, contract_methods[i].name);
    }
    /* A wrong package must not hide a similar name after it. */
    for (uint32_t i = 0; i < contract_method_count && strchr(name, '.') != NULL; i++) {
        suggest_offer(&suggest, slice_after(contract_methods[i].path, 1));
    }
    if (suggest.best.size > 0) {
        return cli_usage(cli, "unknown method \"%s\"; did you mean %.*s?", name,
                         SLICE_ARGS(suggest.best));
    }
    return cli_usage(cli, "unknown method \"%s\"; expected a method that `errata methods` lists",
                     name);
}

enum cli_exit methods_find(struct cli *cli, const char *name, const struct method_info **ret_method)
{
    const struct method_info *found = NULL;

    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];

        if (!is_named(cli, method, slice_text(name))) {
            continue;
        }
        if (found != NULL) {
            return cli_usage(
                cli,
                "METHOD \"%s\": ambiguous, since several services have it; expected SERVICE/METHOD",
                name);
        }
        found = method;
    }
    if (found == NULL) {
        return not_found(cli, name);
    }
    if (found->stream == METHOD_BIDI_STREAM) {
        return cli_usage(cli, "%s: bidirectional streaming; expected a method with one request",
                         name);
    }
    *ret_method = found;
    return CLI_OK;
}

/* --- errata methods --- */

/* Names of roles, indexed by errata.v1.Role. */
static const char *const role_names[] = {NULL,      "VIEWER",     "OPERATOR", "REVIEWER",
                                         "SERVICE", "INTEGRATOR", "ADMIN"};

static struct slice roles_text(struct cli *cli, const struct method_info *method)
{
    struct buffer text;

    if (method->open) {
        return SLICE("anybody");
    }
    buffer_init(&text, &cli->arena, 64);
    for (size_t role = 1; role < sizeof(role_names) / sizeof(role_names[0]); role++) {
        if ((method->roles >> role & 1) != 0) {
            bool backfill = (method->backfill_roles >> role & 1) != 0;

            buffer_printf(&text, "%s%s%s", text.size > 0 ? " " : "", role_names[role],
                          backfill ? "(backfill)" : "");
        }
    }
    return buffer_slice(&text);
}

static struct slice kind_text(const struct method_info *method)
{
    switch (method->stream) {
    case METHOD_UNARY:
        return method->transaction == METHOD_WRITE ? SLICE("write") : SLICE("read");
    case METHOD_SERVER_STREAM:
        return SLICE("stream");
    case METHOD_CLIENT_STREAM:
        return SLICE("upload");
    case METHOD_BIDI_STREAM:
        return SLICE("both ways");
    }
    return SLICE("");
}

/* Returns the shortest form that distinguishes the versions of a service. */
static struct slice listed_name(const struct method_info *method)
{
    struct slice own = SLICE("/errata.v1.");

    return slice_after(method->path, slice_starts_with(method->path, own) ? own.size : 1);
}

/* Formats one letter per role, in the order of the roles: `- O R S b A`. */
static struct slice role_letters(struct cli *cli, const struct method_info *method)
{
    struct buffer text;

    if (method->open) {
        return SLICE("anybody");
    }
    buffer_init(&text, &cli->arena, 16);
    for (size_t role = 1; role < sizeof(role_names) / sizeof(role_names[0]); role++) {
        char letter = '-';

        if ((method->backfill_roles >> role & 1) != 0) {
            letter = 'b';
        } else if ((method->roles >> role & 1) != 0) {
            letter = role_names[role][0];
        }
        buffer_printf(&text, "%s%c", role > 1 ? " " : "", letter);
    }
    return buffer_slice(&text);
}

/* Prints the table, with short roles if there is no room for their names. */
static enum cli_exit make_list(struct cli *cli, bool letters, struct table *table)
{
    static const struct table_column columns[] = {
        {.title = "METHOD", .cut = TABLE_CUT_FRONT, .min = 36},
        {.title = "KIND", .cut = TABLE_NEVER_CUT, .extra = 1},
        {.title = "ROLES", .cut = TABLE_NEVER_CUT}};

    table_init(table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];
        const struct slice cells[] = {listed_name(method), kind_text(method),
                                      letters ? role_letters(cli, method)
                                              : roles_text(cli, method)};

        if (!table_add(table, cells)) {
            return cli_local(cli, "out of memory");
        }
    }
    return CLI_OK;
}

static void add_method_json(struct buffer *json, const struct method_info *method)
{
    bool first = true;

    buffer_append(json, SLICE("{\"method\":"));
    json_write_string(json, slice_after(method->path, 1), false);
    buffer_append(json, SLICE(",\"kind\":"));
    json_write_string(json, kind_text(method), false);
    buffer_append(json, SLICE(",\"roles\":["));
    for (size_t role = 1; role < sizeof(role_names) / sizeof(role_names[0]); role++) {
        if ((method->roles >> role & 1) != 0) {
            buffer_printf(json, "%s\"%s\"", first ? "" : ",", role_names[role]);
            first = false;
        }
    }
    buffer_printf(json, "],\"anybody\":%s,\"request\":", method->open ? "true" : "false");
    json_write_string(json, method->request->full_name, false);
    buffer_append(json, SLICE(",\"reply\":"));
    json_write_string(json, method->reply->full_name, false);
    buffer_append_byte(json, '}');
}

/* Prints a method and its messages. */
static void print_method_json(struct cli *cli, const struct method_info *method)
{
    struct buffer json;

    buffer_init(&json, &cli->arena, 4096);
    add_method_json(&json, method);
    json.size--; /* removes the closing brace, since more members follow */
    buffer_append(&json, SLICE(",\"messages\":{"));
    message_add_json(&json, method);
    buffer_append(&json, SLICE("}}"));
    print_json(&cli->out, buffer_slice(&json));
}

static void print_methods_json(struct cli *cli)
{
    struct buffer json;

    buffer_init(&json, &cli->arena, 4096);
    buffer_append(&json, SLICE("{\"methods\":["));
    for (uint32_t i = 0; i < contract_method_count; i++) {
        buffer_append(&json, i > 0 ? SLICE(",") : SLICE(""));
        add_method_json(&json, &contract_methods[i]);
    }
    buffer_append(&json, SLICE("]}"));
    print_json(&cli->out, buffer_slice(&json));
}

static enum cli_exit list_methods(struct cli *cli)
{
    bool letters = cli->out.terminal && cli->out.width < FULL_ROLES_WIDTH;
    struct table table;
    enum cli_exit result = CLI_OK;

    if (cli->json) {
        print_methods_json(cli);
        return CLI_OK;
    }
    result = make_list(cli, letters, &table);
    if (result != CLI_OK) {
        return result;
    }
    table_print(&table, &cli->out);
    if (letters) {
        print_text(&cli->err, "\n");
        cli_note(cli, "Roles, in this order: VIEWER, OPERATOR, REVIEWER, SERVICE, INTEGRATOR, "
                      "ADMIN; b: with `created_at` given.");
    }
    return CLI_OK;
}

static enum cli_exit run_methods(struct cli *cli)
{
    const struct method_info *method = NULL;
    struct slice roles = {NULL, 0};
    struct slice kind = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if (cli->options.word_count == 0) {
        return list_methods(cli);
    }
    result = methods_find(cli, cli->options.words[0], &method);
    if (result != CLI_OK || method == NULL) {
        return result;
    }
    if (cli->json) {
        print_method_json(cli, method);
        return CLI_OK;
    }
    roles = roles_text(cli, method);
    kind = kind_text(method);
    print_coloured(&cli->out, COLOUR_BOLD, slice_after(method->path, 1));
    print_text(&cli->out, "\n%.*s;", SLICE_ARGS(kind));
    wrap_message(&cli->out, (unsigned)kind.size + 1, 0,
                 arena_printf(&cli->arena, "for %.*s", SLICE_ARGS(roles)));
    result = message_print(cli, method->request, true);
    return result == CLI_OK ? message_print(cli, method->reply, false) : result;
}

const struct command method_commands[] = {
    {.name = "methods",
     .arguments = "[METHOD]",
     .summary = "list the methods, or show one with the fields of its request",
     .help = "Lists the methods for `errata call`, with the roles that may call them. For one "
             "method it shows the fields of its request and reply, with types and rules. This "
             "command does not call a server.",
     .examples = {{"errata methods", NULL}, {"errata methods CaptureFeedbackEvent", NULL}},
     .run = run_methods},
    {.name = NULL}};
