/*
 * request.c: see request.h.
 */
#include "tools/errata/engine/request.h"

#include "store/base/assert.h"
#include "store/base/json.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/engine/values.h"

static void start_member(struct request *request, const char *member)
{
    buffer_printf(&request->json, "%s\"%s\":", request->has_member ? "," : "", member);
    request->has_member = true;
    if (request->depth == 0) {
        ASSERT(request->member_count < REQUEST_MEMBERS_MAX);
        request->members[request->member_count++] = member;
    }
}

bool request_has(const struct request *request, const char *member)
{
    for (size_t i = 0; i < request->member_count; i++) {
        if (strcmp(request->members[i], member) == 0) {
            return true;
        }
    }
    return false;
}

void request_begin(struct request *request, struct cli *cli)
{
    buffer_init(&request->json, &cli->arena, 256);
    buffer_append_byte(&request->json, '{');
    request->has_member = false;
    request->depth = 0;
    request->member_count = 0;
}

void request_text(struct request *request, const char *member, struct slice value)
{
    start_member(request, member);
    json_write_string(&request->json, value, false);
}

void request_raw(struct request *request, const char *member, struct slice json)
{
    start_member(request, member);
    buffer_append(&request->json, json);
}

static bool holds_json(struct slice key)
{
    const struct slice ends[] = {SLICE("_json\""), SLICE("Json\""), SLICE("_json"), SLICE("Json")};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (key.size > ends[i].size &&
            slice_equal(slice_after(key, key.size - ends[i].size), ends[i])) {
            return true;
        }
    }
    return false;
}

void request_objects_to_texts(struct json_value object, struct buffer *json)
{
    struct json_walk walk = json_walk_start(object);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    bool first = true;

    buffer_append_byte(json, '{');
    while (json_walk_next(&walk, &key, &value)) {
        buffer_append(json, first ? SLICE("") : SLICE(","));
        buffer_append(json, key);
        buffer_append_byte(json, ':');
        if (value.kind == JSON_OBJECT && holds_json(key)) {
            json_write_string(json, value.text, false);
        } else {
            buffer_append(json, value.text);
        }
        first = false;
    }
    buffer_append_byte(json, '}');
}

enum cli_exit request_object(struct request *request, struct cli *cli, const char *member,
                             const char *what, struct slice json)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    enum err err = json_check(&cli->arena, json, &rules, &value, &problem);

    if (err == ERR_INVALID) {
        return cli_usage(cli, "%s: invalid JSON: %s (at byte %zu)", what, problem.what, problem.at);
    }
    if (err != OK) {
        return cli_local(cli, "out of memory");
    }
    if (value.kind != JSON_OBJECT) {
        return cli_usage(cli, "%s: not a JSON object; expected {...}", what);
    }
    start_member(request, member);
    request_objects_to_texts(value, &request->json);
    return CLI_OK;
}

void request_open(struct request *request, const char *member)
{
    start_member(request, member);
    buffer_append_byte(&request->json, '{');
    request->has_member = false;
    request->depth++;
}

void request_close(struct request *request)
{
    buffer_append_byte(&request->json, '}');
    request->has_member = true;
    request->depth--;
}

enum cli_exit request_add_entity(struct request *request, struct cli *cli)
{
    const char *entity = options_get(&cli->options, "entity");
    const char *slash = entity != NULL ? strchr(entity, '/') : NULL;

    if (entity == NULL) {
        return CLI_OK;
    }
    if (slash == NULL || slash == entity || slash[1] == '\0') {
        return cli_usage(
            cli, "--entity \"%s\": malformed; expected TYPE/ID, such as draft_order_line/17",
            entity);
    }
    request_text(request, "entity_type", slice_of(entity, (size_t)(slash - entity)));
    request_text(request, "entity_id", slice_text(slash + 1));
    return CLI_OK;
}

enum cli_exit request_add_list(struct request *request, struct cli *cli, const char *option,
                               const char *member, bool argument)
{
    const char *given = NULL;
    struct buffer list;

    buffer_init(&list, &cli->arena, 128);
    for (size_t at = 0; (given = options_next(&cli->options, option, &at)) != NULL;) {
        struct slice value = slice_text(given);
        enum cli_exit result =
            argument ? input_argument(cli, given, &value) : values_read(cli, option, given, &value);

        if (result != CLI_OK) {
            return result;
        }
        /* A line feed at a file's end was added by an editor. */
        while (argument && value.size > 0 && value.data[value.size - 1] == '\n') {
            value.size--;
        }
        buffer_append_byte(&list, list.size == 0 ? '[' : ',');
        json_write_string(&list, value, false);
    }
    if (list.size > 0) {
        buffer_append_byte(&list, ']');
        request_raw(request, member, buffer_slice(&list));
    }
    return CLI_OK;
}

enum cli_exit request_add_map(struct request *request, struct cli *cli, const char *option,
                              const char *member)
{
    const char *given = NULL;
    struct buffer map;

    buffer_init(&map, &cli->arena, 256);
    for (size_t at = 0; (given = options_next(&cli->options, option, &at)) != NULL;) {
        const char *equals = strchr(given, '=');
        struct slice value = {NULL, 0};
        enum cli_exit result = CLI_OK;

        if (equals == NULL || equals == given) {
            return cli_usage(cli, "--%s \"%s\": malformed; expected KEY=VALUE or KEY=@FILE", option,
                             given);
        }
        result = input_argument(cli, equals + 1, &value);
        if (result != CLI_OK) {
            return result;
        }
        buffer_append_byte(&map, map.size == 0 ? '{' : ',');
        json_write_string(&map, slice_of(given, (size_t)(equals - given)), false);
        buffer_append_byte(&map, ':');
        json_write_string(&map, value, false);
    }
    if (map.size > 0) {
        buffer_append_byte(&map, '}');
        request_raw(request, member, buffer_slice(&map));
    }
    return CLI_OK;
}

struct slice request_end(struct request *request)
{
    buffer_append_byte(&request->json, '}');
    /* If memory is exhausted, the text is truncated, and the codec refuses it. */
    return buffer_slice(&request->json);
}
