/*
 * message.c: see message.h.
 */
#include "tools/errata/methods/message.h"

#include "server/codec/contract.h"
#include "store/base/json.h"
#include "tools/errata/terminal/table.h"
#include "tools/errata/terminal/wrap.h"

struct slice message_short_name(struct slice name)
{
    size_t start = name.size;

    while (start > 0 && name.data[start - 1] != '.') {
        start--;
    }
    return slice_after(name, start);
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
        name = message_short_name(field->enumeration->full_name);
    } else if (field->type == FIELD_MESSAGE) {
        name = message_short_name(field->message->full_name);
    }
    return arena_printf(&cli->arena, "%.*s%s", SLICE_ARGS(name), repeated);
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
        return "JSON object as text";
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

/* A message whose fields are being printed, and the index of the next one. */
struct shown {
    const struct message_info *message;
    uint32_t next;
};

/* State of printing a message. */
struct showing {
    struct cli *cli;
    bool request; /* a request has rules, and omits members that only the server sets */
    struct table table;
    const struct enum_info
        *enums[MESSAGE_COUNT_MAX]; /* enums whose words are printed below the table */
    size_t enum_count;
};

static void note_enum(struct showing *showing, const struct enum_info *info)
{
    for (size_t i = 0; i < showing->enum_count; i++) {
        if (showing->enums[i] == info) {
            return;
        }
    }
    if (showing->enum_count < MESSAGE_COUNT_MAX) {
        showing->enums[showing->enum_count++] = info;
    }
}

static bool add_field(struct showing *showing, const struct field_info *field, size_t depth)
{
    struct arena *arena = &showing->cli->arena;
    const struct slice cells[] = {
        arena_printf(arena, "%*s%.*s", (int)depth * 2, "", SLICE_ARGS(field->name)),
        type_text(showing->cli, field),
        showing->request ? rules_text(showing->cli, field) : SLICE("")};

    if (field->type == FIELD_ENUM) {
        note_enum(showing, field->enumeration);
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

/* Adds a row for each field, and below a message those of its fields, up to MESSAGE_DEPTH_MAX. */
static bool add_fields(struct showing *showing, const struct message_info *message)
{
    struct shown stack[MESSAGE_DEPTH_MAX] = {{message, 0}};
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
            depth + 1 < MESSAGE_DEPTH_MAX && !is_on_stack(stack, depth, field->message)) {
            stack[++depth] = (struct shown){field->message, 0};
        }
    }
}

/* `FeedbackEventType  A, B, C`, wrapped. */
static void print_enum(struct cli *cli, const struct enum_info *info)
{
    struct slice name = message_short_name(info->full_name);
    struct slice term = arena_printf(&cli->arena, "%.*s", SLICE_ARGS(name));
    struct buffer words;

    buffer_init(&words, &cli->arena, 256);
    for (uint32_t i = 0; i < info->count; i++) {
        if (info->values[i].number != 0) {
            buffer_append(&words, words.size > 0 ? SLICE(", ") : SLICE(""));
            buffer_append(&words, info->values[i].short_name);
        }
    }
    buffer_append_byte(&words, '\0');
    if (term.size > 0 && buffer_ok(&words)) {
        wrap_entry(&cli->out, (const char *)term.data, (const char *)words.data, 2,
                   (unsigned)term.size + 4);
    }
}

enum cli_exit message_print(struct cli *cli, const struct message_info *message, bool request)
{
    static const struct table_column columns[] = {{.title = "FIELD", .cut = TABLE_NEVER_CUT},
                                                  {.title = "TYPE", .cut = TABLE_NEVER_CUT},
                                                  {.title = "RULES"}};
    struct showing showing = {.cli = cli, .request = request};

    table_init(&showing.table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    if (!add_fields(&showing, message)) {
        return cli_local(cli, "out of memory");
    }
    print_text(&cli->out, "\n%s %s%.*s%s%s\n", request ? "Request" : "Reply",
               print_colour_start(&cli->out, COLOUR_BOLD), SLICE_ARGS(message->full_name),
               print_colour_end(&cli->out, COLOUR_BOLD),
               showing.table.row_count == 0 ? " has no fields" : "");
    table_print(&showing.table, &cli->out);
    for (size_t i = 0; i < showing.enum_count; i++) {
        print_text(&cli->out, "%s", i == 0 ? "Words\n" : "");
        print_enum(cli, showing.enums[i]);
    }
    return CLI_OK;
}

/* --- JSON --- */

static void add_enum_json(struct buffer *json, const struct enum_info *info)
{
    buffer_append(json, SLICE(",\"words\":["));
    for (uint32_t i = 0; i < info->count; i++) {
        buffer_append(json, i > 0 ? SLICE(",") : SLICE(""));
        json_write_string(json, info->values[i].name, false);
    }
    buffer_append_byte(json, ']');
}

static void add_field_json(struct buffer *json, const struct field_info *field)
{
    const struct field_rules *rules = &field->rules;
    struct slice type = slice_text(type_name(field->type));

    if (field->type == FIELD_ENUM) {
        type = field->enumeration->full_name;
    } else if (field->type == FIELD_MESSAGE) {
        type = field->message->full_name;
    }
    buffer_append(json, SLICE("{\"name\":"));
    json_write_string(json, field->name, false);
    buffer_append(json, SLICE(",\"type\":"));
    json_write_string(json, type, false);
    buffer_printf(json, ",\"repeated\":%s,\"required\":%s,\"outputOnly\":%s",
                  field->repeated ? "true" : "false", rules->required ? "true" : "false",
                  rules->output_only ? "true" : "false");
    if (rules->max_bytes > 0) {
        buffer_printf(json, ",\"maxBytes\":%u", rules->max_bytes);
    }
    if (rules->max_items > 0) {
        buffer_printf(json, ",\"maxItems\":%u", rules->max_items);
    }
    if (field->type == FIELD_ENUM) {
        add_enum_json(json, field->enumeration);
    }
    buffer_append_byte(json, '}');
}

/* Messages that are written, and those still to be written. */
struct writing {
    const struct message_info *messages[MESSAGE_COUNT_MAX];
    size_t count;
};

static void want(struct writing *writing, const struct message_info *message)
{
    for (size_t i = 0; i < writing->count; i++) {
        if (writing->messages[i] == message) {
            return;
        }
    }
    if (writing->count < MESSAGE_COUNT_MAX && message->well_known == MESSAGE_PLAIN) {
        writing->messages[writing->count++] = message;
    }
}

void message_add_json(struct buffer *json, const struct method_info *method)
{
    struct writing writing = {.count = 0};

    want(&writing, method->request);
    want(&writing, method->reply);
    /* The walk adds messages to the list, which is bounded. */
    for (size_t i = 0; i < writing.count; i++) {
        const struct message_info *message = writing.messages[i];

        buffer_append(json, i > 0 ? SLICE(",") : SLICE(""));
        json_write_string(json, message->full_name, false);
        buffer_append(json, SLICE(":["));
        for (uint32_t j = 0; j < message->count; j++) {
            buffer_append(json, j > 0 ? SLICE(",") : SLICE(""));
            add_field_json(json, &message->fields[j]);
            if (message->fields[j].type == FIELD_MESSAGE) {
                want(&writing, message->fields[j].message);
            }
        }
        buffer_append_byte(json, ']');
    }
}
