/*
 * rest_query.c: writes the values of a request's path and query as one JSON object, which the reader of plain
 * JSON then converts like a body: `days=30&annotator_kinds=HUMAN` is {"days":"30", "annotator_kinds":["HUMAN"]}.
 * Only fields of the request itself are parameters, not those of its messages, except times. A parameter that
 * the request does not have is refused: a filter with a wrong name would otherwise return everything.
 */
#include "server/rest/rest_internal.h"

#include "store/base/json.h"
#include "store/base/text.h"

struct rest_parameter {
    const struct field_info *field;
    struct slice value;
};

struct rest_parameters {
    uint32_t count;
    struct rest_parameter list[REST_PARAMETERS_MAX];
};

static const struct field_info *rest_field(const struct message_info *message, struct slice name)
{
    for (uint32_t i = 0; i < message->count; i++) {
        const struct field_info *field = &message->fields[i];

        if (slice_equal(field->name, name) || slice_equal(field->json_name, name)) {
            return field;
        }
    }
    return NULL;
}

/* Returns whether a field can be a parameter: one value, or a list of them. */
static bool rest_is_parameter(const struct field_info *field)
{
    return field->type != FIELD_MESSAGE ||
           (field->message->well_known == MESSAGE_TIMESTAMP && !field->repeated);
}

static bool rest_has(const struct rest_parameters *parameters, const struct field_info *field)
{
    for (uint32_t i = 0; i < parameters->count; i++) {
        if (parameters->list[i].field == field) {
            return true;
        }
    }
    return false;
}

/* Adds a parameter, or a fault. */
static void rest_add(struct ctx *ctx, const struct field_info *field, struct slice name,
                     struct slice value, struct rest_parameters *parameters)
{
    if (field == NULL || !rest_is_parameter(field)) {
        fault_add(ctx->fault, fault_shorten(ctx->fault, name),
                  "unknown parameter; expected one of /openapi.json");
    } else if (!field->repeated && rest_has(parameters, field)) {
        fault_add(ctx->fault, field->name, "given twice; expected once");
    } else if (!text_is_utf8(value)) {
        fault_add(ctx->fault, field->name, "invalid UTF-8; expected text");
    } else if (parameters->count == REST_PARAMETERS_MAX) {
        fault_add(ctx->fault, field->name, "too many parameters; expected at most %d",
                  REST_PARAMETERS_MAX);
    } else {
        parameters->list[parameters->count++] = (struct rest_parameter){field, value};
    }
}

/* Reads one `name=value`. */
static enum err rest_take_pair(struct ctx *ctx, const struct message_info *request,
                               struct slice pair, struct rest_parameters *parameters)
{
    const uint8_t *sign = memchr(pair.data, '=', pair.size);
    size_t name_bytes = sign != NULL ? (size_t)(sign - pair.data) : pair.size;
    struct slice name = slice_of(pair.data, name_bytes);
    struct slice value = slice_after(pair, sign != NULL ? name_bytes + 1 : pair.size);
    enum err err = rest_unescape(ctx->arena, name, true, &name);

    if (err == OK) {
        err = rest_unescape(ctx->arena, value, true, &value);
    }
    if (err == ERR_INVALID) {
        fault_add(ctx->fault, fault_shorten(ctx->fault, pair),
                  "invalid escape; expected %% and two hexadecimal digits");
        return OK;
    }
    if (err == OK) {
        rest_add(ctx, rest_field(request, name), name, value, parameters);
    }
    return err;
}

static enum err rest_take_query(struct ctx *ctx, const struct message_info *request,
                                struct slice query, struct rest_parameters *parameters)
{
    enum err err = OK;

    while (query.size > 0 && err == OK && ctx->fault->total_count <= FAULT_ENTRIES_MAX) {
        const uint8_t *mark = memchr(query.data, '&', query.size);
        size_t size = mark != NULL ? (size_t)(mark - query.data) : query.size;

        if (size > 0) {
            err = rest_take_pair(ctx, request, slice_of(query.data, size), parameters);
        }
        query = slice_after(query, mark != NULL ? size + 1 : size);
    }
    return err;
}

static enum err rest_take_path(struct ctx *ctx, const struct rest_match *match,
                               struct rest_parameters *parameters)
{
    const struct rest_route *route = match->route;
    enum err err = OK;

    for (uint32_t i = 0; i < route->segment_count && err == OK; i++) {
        struct slice name = route->segments[i].text;
        struct slice value = {NULL, 0};

        if (!route->segments[i].is_field) {
            continue;
        }
        err = rest_unescape(ctx->arena, match->segments[i], false, &value);
        if (err == ERR_INVALID) {
            fault_add(ctx->fault, name, "invalid escape; expected %% and two hexadecimal digits");
            err = OK;
        } else if (err == OK) {
            rest_add(ctx, rest_field(route->method->request, name), name, value, parameters);
        }
    }
    return err;
}

/* Writes a value: booleans as they are, everything else as a text, which the reader converts. */
static void rest_put_value(const struct rest_parameter *parameter, struct buffer *json)
{
    if (parameter->field->type == FIELD_BOOL && (slice_equal(parameter->value, SLICE("true")) ||
                                                 slice_equal(parameter->value, SLICE("false")))) {
        buffer_append(json, parameter->value);
    } else {
        json_write_string(json, parameter->value, false);
    }
}

/* Writes the member of a field from its first parameter; for a list, also from the others. */
static void rest_put_member(const struct rest_parameters *parameters, uint32_t first,
                            struct buffer *json)
{
    const struct field_info *field = parameters->list[first].field;

    buffer_append(json, json->data[json->size - 1] != '{' ? SLICE(",") : SLICE(""));
    json_write_string(json, field->name, false);
    buffer_append_byte(json, ':');
    if (!field->repeated) {
        rest_put_value(&parameters->list[first], json);
        return;
    }
    buffer_append_byte(json, '[');
    for (uint32_t i = first; i < parameters->count; i++) {
        if (parameters->list[i].field == field) {
            buffer_append(json, i > first ? SLICE(",") : SLICE(""));
            rest_put_value(&parameters->list[i], json);
        }
    }
    buffer_append_byte(json, ']');
}

enum err rest_write_parameters(struct ctx *ctx, const struct rest_match *match, struct slice query,
                               struct buffer *json)
{
    struct rest_parameters parameters = {.count = 0};
    enum err err = rest_take_path(ctx, match, &parameters);

    if (err == OK) {
        err = rest_take_query(ctx, match->route->method->request, query, &parameters);
    }
    if (err != OK) {
        return err;
    }
    buffer_append_byte(json, '{');
    for (uint32_t i = 0; i < parameters.count && buffer_ok(json); i++) {
        bool is_first = true;

        for (uint32_t before = 0; before < i; before++) {
            is_first = is_first && parameters.list[before].field != parameters.list[i].field;
        }
        if (is_first) {
            rest_put_member(&parameters, i, json);
        }
    }
    buffer_append_byte(json, '}');
    return buffer_ok(json) ? fault_result(ctx->fault) : ERR_MEMORY;
}
