/*
 * methods.c: see methods.h, and `errata methods`: what can be called, and what a request holds,
 * from the contract's tables.
 */
#include "tools/errata/methods.h"

#include "store/base/buffer.h"
#include "tools/errata/commands.h"
#include "tools/errata/terminal/suggest.h"
#include "tools/errata/terminal/table.h"

/* Messages within messages are shown this deep. */
#define SHOW_DEPTH_MAX 4

/* `Service` of `package.Service`. */
static struct slice without_package(struct slice name)
{
    size_t start = name.size;

    while (start > 0 && name.data[start - 1] != '.') {
        start--;
    }
    return slice_after(name, start);
}

/* `Service/Method` as people type it, in the arena. */
static struct slice short_name(struct arena *arena, const struct method_info *method)
{
    struct slice service = without_package(method->service);

    return arena_printf(arena, "%.*s/%.*s", (int)service.size, (const char *)service.data,
                        (int)method->name.size, (const char *)method->name.data);
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
    /* A bare method name is nearer to a bare one. */
    for (uint32_t i = 0; i < contract_method_count && strchr(name, '/') == NULL; i++) {
        suggest_offer(&suggest, contract_methods[i].name);
    }
    /* A wrong package in front must not hide what is near behind it. */
    for (uint32_t i = 0; i < contract_method_count && strchr(name, '.') != NULL; i++) {
        suggest_offer(&suggest, slice_after(contract_methods[i].path, 1));
    }
    if (suggest.best.size > 0) {
        return cli_usage(cli, "there is no method \"%s\"; did you mean %.*s?", name,
                         (int)suggest.best.size, (const char *)suggest.best.data);
    }
    return cli_usage(cli, "there is no method \"%s\"; `errata methods` lists them", name);
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
            return cli_usage(cli, "several services have a method \"%s\": give SERVICE/METHOD",
                             name);
        }
        found = method;
    }
    if (found == NULL) {
        return not_found(cli, name);
    }
    if (found->stream == METHOD_BIDI_STREAM) {
        return cli_usage(cli, "%s streams both ways, which this command can't do", name);
    }
    *ret_method = found;
    return CLI_OK;
}

/* --- errata methods --- */

/* By the numbers of errata.v1.Role. */
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

/* As short as it can be typed and still tell one version of a service from another. */
static struct slice listed_name(const struct method_info *method)
{
    struct slice own = SLICE("/errata.v1.");

    return slice_after(method->path, slice_starts_with(method->path, own) ? own.size : 1);
}

static enum cli_exit list_methods(struct cli *cli)
{
    static const struct table_column columns[] = {{.title = "METHOD", .cut = TABLE_NEVER_CUT},
                                                  {.title = "KIND", .cut = TABLE_NEVER_CUT},
                                                  {.title = "ROLES"}};
    struct table table;

    table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];
        const struct slice cells[] = {listed_name(method), kind_text(method),
                                      roles_text(cli, method)};

        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
    }
    table_print(&table, &cli->out);
    return CLI_OK;
}

static const char *type_name(enum field_type type)
{
    switch (type) {
    case FIELD_DOUBLE:
        return "double";
    case FIELD_FLOAT:
        return "float";
    case FIELD_INT64:
    case FIELD_SFIXED64:
    case FIELD_SINT64:
        return "int64";
    case FIELD_UINT64:
    case FIELD_FIXED64:
        return "uint64";
    case FIELD_INT32:
    case FIELD_SFIXED32:
    case FIELD_SINT32:
        return "int32";
    case FIELD_UINT32:
    case FIELD_FIXED32:
        return "uint32";
    case FIELD_BOOL:
        return "bool";
    case FIELD_STRING:
        return "string";
    case FIELD_BYTES:
        return "bytes (base64)";
    case FIELD_MESSAGE:
    case FIELD_ENUM:
        break;
    }
    return "";
}

static struct slice type_text(struct cli *cli, const struct field_info *field)
{
    const char *repeated = field->repeated ? ", repeated" : "";
    struct slice name = slice_text(type_name(field->type));

    if (field->type == FIELD_ENUM) {
        name = without_package(field->enumeration->full_name);
    } else if (field->type == FIELD_MESSAGE) {
        name = without_package(field->message->full_name);
    }
    return arena_printf(&cli->arena, "%.*s%s", (int)name.size, (const char *)name.data, repeated);
}

/* `Type: A, B, C` of an enum, once, for below the table. */
static void add_words(struct buffer *notes, struct arena *arena, const struct enum_info *info)
{
    struct slice name = without_package(info->full_name);
    struct slice line = arena_printf(arena, "  %.*s: ", (int)name.size, (const char *)name.data);

    if (notes->size > 0 && memmem(notes->data, notes->size, line.data, line.size) != NULL) {
        return;
    }
    buffer_append(notes, line);
    for (uint32_t i = 0; i < info->count; i++) {
        struct slice word = info->values[i].short_name;

        if (info->values[i].number != 0) {
            buffer_printf(notes, "%.*s%s", (int)word.size, (const char *)word.data,
                          i + 1 < info->count ? ", " : "\n");
        }
    }
}

static const char *format_text(enum field_format format)
{
    switch (format) {
    case FORMAT_ANY:
        return NULL;
    case FORMAT_OPAQUE_ID:
        return "id, 1 to 128 bytes";
    case FORMAT_UUID:
        return "UUID";
    case FORMAT_JSON_OBJECT:
        return "a JSON object as text";
    case FORMAT_NAME:
        return "name, 1 to 128 bytes";
    case FORMAT_PAGE_TOKEN:
        return "page token";
    case FORMAT_KEY_ID:
        return "eight hex digits";
    }
    return NULL;
}

static struct slice rules_text(struct cli *cli, const struct field_info *field)
{
    const struct field_rules *rules = &field->rules;
    const char *format = format_text(rules->format);
    struct buffer text;

    buffer_init(&text, &cli->arena, 64);
    buffer_printf(&text, "%s", rules->required ? "required, " : "");
    buffer_printf(&text, "%s", rules->not_future ? "not in the future, " : "");
    buffer_printf(&text, "%s", field->oneof >= 0 ? "one of several, " : "");
    if (format != NULL) {
        buffer_printf(&text, "%s, ", format);
    }
    if (rules->max_value != 0) {
        buffer_printf(&text, "%lld to %lld, ", (long long)rules->min_value,
                      (long long)rules->max_value);
    }
    if (rules->max_bytes != 0) {
        buffer_printf(&text, "at most %u bytes, ", rules->max_bytes);
    }
    if (rules->max_items != 0) {
        buffer_printf(&text, "at most %u items, ", rules->max_items);
    }
    return slice_of(text.data, text.size > 2 ? text.size - 2 : 0);
}

/* A message whose fields are being shown, and which comes next. */
struct shown {
    const struct message_info *message;
    uint32_t next;
};

/* What is being shown. */
struct showing {
    struct cli *cli;
    bool request; /* rules matter, and what the server sets does not stand in it */
    struct table table;
    struct buffer notes; /* the words of enums */
};

static bool add_field(struct showing *showing, const struct field_info *field, size_t depth)
{
    struct arena *arena = &showing->cli->arena;
    const struct slice cells[] = {arena_printf(arena, "%*s%.*s", (int)depth * 2, "",
                                               (int)field->name.size,
                                               (const char *)field->name.data),
                                  type_text(showing->cli, field),
                                  showing->request ? rules_text(showing->cli, field) : SLICE("")};

    if (field->type == FIELD_ENUM) {
        add_words(&showing->notes, arena, field->enumeration);
    }
    return table_add(&showing->table, cells);
}

static bool is_on_stack(const struct shown *stack, size_t depth, const struct message_info *message)
{
    for (size_t i = 0; i <= depth; i++) {
        if (stack[i].message == message) {
            return true;
        }
    }
    return false;
}

/* Adds a row a field, and under a message its own, as deep as SHOW_DEPTH_MAX. */
static bool add_fields(struct showing *showing, const struct message_info *message)
{
    struct shown stack[SHOW_DEPTH_MAX] = {{message, 0}};
    size_t depth = 0;

    for (;;) {
        struct shown *top = &stack[depth];
        const struct field_info *field = NULL;

        if (top->next == top->message->count) {
            if (depth == 0) {
                return true;
            }
            depth--;
            continue;
        }
        field = &top->message->fields[top->next++];
        if (showing->request && field->rules.output_only) {
            continue;
        }
        if (!add_field(showing, field, depth)) {
            return false;
        }
        if (field->type == FIELD_MESSAGE && field->message->well_known == MESSAGE_PLAIN &&
            depth + 1 < SHOW_DEPTH_MAX && !is_on_stack(stack, depth, field->message)) {
            stack[++depth] = (struct shown){field->message, 0};
        }
    }
}

static enum cli_exit show_message(struct cli *cli, const struct message_info *message, bool request)
{
    static const struct table_column columns[] = {{.title = "FIELD", .cut = TABLE_NEVER_CUT},
                                                  {.title = "TYPE", .cut = TABLE_NEVER_CUT},
                                                  {.title = "RULES"}};
    struct showing showing = {.cli = cli, .request = request};

    buffer_init(&showing.notes, &cli->arena, 256);
    table_init(&showing.table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    if (!add_fields(&showing, message)) {
        return cli_local(cli, "out of memory");
    }
    print_text(&cli->out, "\n%s %.*s%s\n", request ? "Request" : "Reply",
               (int)message->full_name.size, (const char *)message->full_name.data,
               showing.table.row_count == 0 ? " has no fields" : "");
    table_print(&showing.table, &cli->out);
    if (showing.notes.size > 0) {
        print_text(&cli->out, "Words:\n%.*s", (int)showing.notes.size,
                   (const char *)showing.notes.data);
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
    roles = roles_text(cli, method);
    kind = kind_text(method);
    print_coloured(&cli->out, COLOUR_BOLD, slice_after(method->path, 1));
    print_text(&cli->out, "\n%.*s; for %.*s\n", (int)kind.size, (const char *)kind.data,
               (int)roles.size, (const char *)roles.data);
    result = show_message(cli, method->request, true);
    return result == CLI_OK ? show_message(cli, method->reply, false) : result;
}

const struct command method_commands[] = {
    {.name = "methods",
     .arguments = "[METHOD]",
     .summary = "list the methods, or show one with the fields of its request",
     .help = "Lists what `errata call` can call, with the roles that may. For one method it shows "
             "the fields of its request and reply, with types and rules. No server is asked.",
     .examples = {{"errata methods", NULL}, {"errata methods CaptureEvent", NULL}},
     .words_max = 1,
     .run = run_methods},
    {.name = NULL}};
