/*
 * fill.c: see fill.h.
 */
#include "tools/errata/engine/fill.h"

#include "tools/errata/engine/input.h"
#include "tools/errata/engine/resolve.h"
#include "tools/errata/engine/values.h"
#include "tools/errata/engine/view.h"

static const struct {
    const char *option;
    const char *member;
} option_members[] = {
#define OPTION(option, member) {option, member},
#include "tools/errata/engine/options.def"
#undef OPTION
};

/* --- members of options --- */

static bool holds_members(const struct field_info *field)
{
    return field->type == FIELD_MESSAGE && !field->repeated && !field->rules.output_only &&
           field->message->well_known == MESSAGE_PLAIN;
}

/* Finds a member that a value can set. Members that only the server sets are excluded, and so are messages, whose
 * members are set one by one and may have the same name. */
static const struct field_info *find_input(const struct message_info *message, struct slice name)
{
    const struct field_info *field = view_field_named(message, name);

    return field != NULL && !field->rules.output_only && !holds_members(field) ? field : NULL;
}

static const struct field_info *find_member(struct arena *arena, const struct message_info *message,
                                            const char *option)
{
    size_t size = strlen(option);
    uint8_t *name = arena_alloc(arena, size + 1);

    for (size_t i = 0; i < sizeof(option_members) / sizeof(option_members[0]); i++) {
        const struct field_info *field =
            strcmp(option_members[i].option, option) == 0
                ? find_input(message, slice_text(option_members[i].member))
                : NULL;

        if (field != NULL) {
            return field;
        }
    }
    for (size_t i = 0; name != NULL && i < size; i++) {
        name[i] = option[i] == '-' ? '_' : (uint8_t)option[i];
    }
    return name != NULL ? find_input(message, slice_of(name, size)) : NULL;
}

/* Returns whether an option may set the field: it is not a message, and the command does not set
 * it. */
static bool is_free(const struct request *request, const struct field_info *field)
{
    bool plain = field->type == FIELD_MESSAGE && field->message->well_known == MESSAGE_PLAIN;

    return (field->map || !plain) &&
           (request->depth > 0 || !request_has(request, (const char *)field->name.data));
}

/* --- values --- */

/* Adds an array of the ids with the given prefixes. */
static enum cli_exit add_ids(struct request *request, struct cli *cli,
                             const struct option_spec *spec, const char *member)
{
    enum cli_exit result = CLI_OK;
    struct buffer ids;

    buffer_init(&ids, &cli->arena, 64);
    for (size_t at = 0; result == CLI_OK && options_next(&cli->options, spec->name, &at) != NULL;) {
        struct slice id = {NULL, 0};

        result = resolve_given(cli, &cli->options.given[at - 1], &id);
        buffer_append_byte(&ids, ids.size > 0 ? ',' : '[');
        json_write_string(&ids, id, false);
    }
    buffer_append_byte(&ids, ']');
    request_raw(request, member, buffer_slice(&ids));
    return result;
}

/* Adds an array or a map of all values of an option. */
static enum cli_exit add_values(struct request *request, struct cli *cli,
                                const struct option_spec *spec, const struct field_info *field)
{
    const char *member = (const char *)field->name.data;

    if (!field->map && resolve_is_known(slice_text(spec->value))) {
        return add_ids(request, cli, spec, member);
    }
    return field->map ? request_add_map(request, cli, spec->name, member)
                      : request_add_list(request, cli, spec->name, member,
                                         strstr(spec->value, "@FILE") != NULL);
}

/* Returns the text of a value; the value's name selects the parsing of times and files. */
static enum cli_exit read_value(struct cli *cli, const struct option_spec *spec,
                                struct slice *ret_value)
{
    const char *given = options_get(&cli->options, spec->name);
    struct slice kind = slice_text(spec->value);

    if (strstr(spec->value, "@FILE") != NULL) {
        return input_argument(cli, given, ret_value);
    }
    if (slice_equal(kind, SLICE("TIME|SPAN"))) {
        return input_time(cli, spec->name, given, -1, ret_value);
    }
    if (slice_equal(kind, SLICE("SPAN|TIME"))) {
        return input_time(cli, spec->name, given, 1, ret_value);
    }
    if (slice_equal(kind, SLICE("SIZE"))) {
        return input_size(cli, spec->name, given, ret_value);
    }
    if (slice_equal(kind, SLICE("DAY"))) {
        return input_day(cli, spec->name, given, ret_value);
    }
    if (resolve_is_known(kind)) {
        return resolve_prefix(cli, kind, slice_text(given), ret_value);
    }
    return values_read(cli, spec->name, given, ret_value);
}

/* Adds a flag that may be true, false or absent. */
static enum cli_exit add_answer(struct request *request, struct cli *cli,
                                const struct option_spec *spec, const struct field_info *field)
{
    const char *given = options_get(&cli->options, spec->name);
    bool is_yes = strcmp(given, "yes") == 0;

    if (!is_yes && strcmp(given, "no") != 0) {
        return cli_usage(cli, "--%s \"%s\": unknown answer; expected yes or no", spec->name, given);
    }
    request_raw(request, (const char *)field->name.data, is_yes ? SLICE("true") : SLICE("false"));
    return CLI_OK;
}

static enum cli_exit add_option(struct request *request, struct cli *cli,
                                const struct option_spec *spec, const struct field_info *field)
{
    struct slice value = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if (spec->value == NULL) {
        request_raw(request, (const char *)field->name.data, SLICE("true"));
        return CLI_OK;
    }
    if (strcmp(spec->value, "ANSWER") == 0) {
        return add_answer(request, cli, spec, field);
    }
    if (strcmp(spec->value, "TYPE/ID") == 0) {
        return request_add_entity(request, cli);
    }
    if (field->repeated) {
        return add_values(request, cli, spec, field);
    }
    result = read_value(cli, spec, &value);
    if (result == CLI_OK) {
        request_text(request, (const char *)field->name.data, value);
    }
    return result;
}

/* Options that name a member of `outer` are not members of a message in it. */
static enum cli_exit fill_options(struct request *request, struct cli *cli,
                                  const struct message_info *message,
                                  const struct message_info *outer)
{
    enum cli_exit result = CLI_OK;

    for (const struct option_spec *spec = cli->command->options;
         result == CLI_OK && spec != NULL && spec->name != NULL; spec++) {
        const struct field_info *field = options_has(&cli->options, spec->name)
                                             ? find_member(&cli->arena, message, spec->name)
                                             : NULL;

        if (field != NULL && is_free(request, field) &&
            (outer == NULL || find_member(&cli->arena, outer, spec->name) == NULL)) {
            result = add_option(request, cli, spec, field);
        }
    }
    return result;
}

enum cli_exit fill_message(struct request *request, struct cli *cli,
                           const struct message_info *message)
{
    return fill_options(request, cli, message, NULL);
}

/* --- words --- */

/* Returns whether the request has this member or another one of its oneof. */
static bool is_taken(const struct request *request, const struct message_info *message,
                     const struct field_info *field)
{
    for (uint32_t i = 0; request->depth == 0 && i < message->count; i++) {
        const struct field_info *other = &message->fields[i];

        if ((other == field || (field->oneof >= 0 && other->oneof == field->oneof)) &&
            request_has(request, (const char *)other->name.data)) {
            return true;
        }
    }
    return false;
}

/* Adds the words that are members of the message. */
static enum cli_exit fill_words(struct request *request, struct cli *cli,
                                const struct message_info *message)
{
    struct command_values values = {.rest = cli->command->arguments};
    struct slice name = {NULL, 0};
    enum cli_exit result = CLI_OK;

    for (size_t i = 0;
         result == CLI_OK && i < cli->options.word_count && command_next_value(&values, &name);
         i++) {
        const char *member = resolve_member(name);
        const struct field_info *field = NULL;
        struct slice given = slice_text(cli->options.words[i]);
        struct slice value = {NULL, 0};

        field = member != NULL ? find_input(message, slice_text(member)) : NULL;
        if (field == NULL || is_taken(request, message, field)) {
            continue;
        }
        result = resolve_prefix(cli, name, given, &value);
        if (result == CLI_OK) {
            request_text(request, member, value);
        }
    }
    return result;
}

static enum cli_exit fill_level(struct request *request, struct cli *cli,
                                const struct message_info *message,
                                const struct message_info *outer)
{
    enum cli_exit result = fill_words(request, cli, message);

    return result == CLI_OK ? fill_options(request, cli, message, outer) : result;
}

/* --- required members --- */

/* Reports every required option that is not given. */
static enum cli_exit check_required(struct cli *cli, const struct message_info *message)
{
    struct buffer names;
    struct buffer expected;

    buffer_init(&names, &cli->arena, 64);
    buffer_init(&expected, &cli->arena, 256);
    for (const struct option_spec *spec = cli->command->options; spec != NULL && spec->name != NULL;
         spec++) {
        const struct field_info *field = find_member(&cli->arena, message, spec->name);

        if (field != NULL && field->rules.required && !options_has(&cli->options, spec->name)) {
            buffer_printf(&names, "%s--%s", names.size > 0 ? ", " : "", spec->name);
            buffer_printf(&expected, "%s--%s %s: %s", expected.size > 0 ? ", and " : "", spec->name,
                          spec->value, spec->help);
        }
    }
    return names.size == 0 ? CLI_OK
                           : cli_usage(cli, "%.*s: missing; expected %.*s", (int)names.size,
                                       (const char *)names.data, (int)expected.size,
                                       (const char *)expected.data);
}

/* A message that is open. */
struct object {
    struct request before;
    size_t opened;
};

static struct object open_object(struct request *request, const struct field_info *field)
{
    struct object object = {.before = *request};

    request_open(request, (const char *)field->name.data);
    object.opened = request->json.size;
    return object;
}

/* Closes a message, or removes it if none of its members was given. */
static void close_object(struct request *request, const struct object *object)
{
    request_close(request);
    if (request->json.size == object->opened + 1) {
        request->json.size = object->before.json.size;
        request->has_member = object->before.has_member;
        request->member_count = object->before.member_count;
    }
}

/* Fills the messages in a message of the request: options that name none of its own members. */
static enum cli_exit fill_inner(struct request *request, struct cli *cli,
                                const struct message_info *message)
{
    enum cli_exit result = CLI_OK;

    for (uint32_t i = 0; result == CLI_OK && i < message->count; i++) {
        const struct field_info *field = &message->fields[i];

        if (holds_members(field)) {
            struct object object = open_object(request, field);

            result = fill_options(request, cli, field->message, message);
            close_object(request, &object);
        }
    }
    return result;
}

enum cli_exit fill_request(struct request *request, struct cli *cli,
                           const struct method_info *method)
{
    const struct message_info *message = method->request;
    enum cli_exit result = check_required(cli, message);

    if (result == CLI_OK) {
        result = resolve_org(cli);
    }
    if (result == CLI_OK) {
        result = fill_level(request, cli, message, NULL);
    }
    for (uint32_t i = 0; result == CLI_OK && i < message->count; i++) {
        const struct field_info *field = &message->fields[i];
        struct object object;

        if (!holds_members(field) || request_has(request, (const char *)field->name.data)) {
            continue;
        }
        result = field->rules.required ? check_required(cli, field->message) : CLI_OK;
        object = open_object(request, field);
        if (result == CLI_OK) {
            result = fill_level(request, cli, field->message, message);
        }
        if (result == CLI_OK) {
            result = fill_inner(request, cli, field->message);
        }
        close_object(request, &object);
    }
    return result;
}
