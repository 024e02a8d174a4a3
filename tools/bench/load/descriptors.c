/*
 * descriptors.c: see descriptors.h. Two passes: first every message and enum gets its place by name,
 * then fields and methods are filled in, which point to them.
 */
#include "tools/bench/load/descriptors.h"

#include "server/codec/scalar.h"

#include <google/protobuf/descriptor.pb-c.h>
#include <stdlib.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data
#define WELL_KNOWN "google.protobuf."
#define GROUP 10

/* Short names for what protobuf-c generates. */
typedef Google__Protobuf__FileDescriptorSet file_set;
typedef Google__Protobuf__FileDescriptorProto file_proto;
typedef Google__Protobuf__DescriptorProto message_proto;
typedef Google__Protobuf__EnumDescriptorProto enum_proto;
typedef Google__Protobuf__FieldDescriptorProto field_proto;
typedef Google__Protobuf__MethodDescriptorProto method_proto;
typedef Google__Protobuf__ServiceDescriptorProto service_proto;

/* A message or an enum with its full name, as found in a file. */
struct found {
    struct slice full_name;
    const message_proto *message; /* message or enum; the other is NULL */
    const enum_proto *enumeration;
    bool proto3;
};

struct found_list {
    struct found *items;
    size_t count;
    size_t room;
};

struct builder {
    struct ctx *ctx;
    const char *name; /* name of the descriptor set, for error messages */
    struct descriptors *out;
    struct found_list messages; /* messages, in the order of out->messages */
    struct found_list enums;
};

static int compare_found(const void *a, const void *b)
{
    return slice_compare(((const struct found *)a)->full_name,
                         ((const struct found *)b)->full_name);
}

static int compare_methods(const void *a, const void *b)
{
    return slice_compare(((const struct method_info *)a)->path,
                         ((const struct method_info *)b)->path);
}

static int compare_fields(const void *a, const void *b)
{
    uint32_t left = ((const struct field_info *)a)->number;
    uint32_t right = ((const struct field_info *)b)->number;

    return (left > right) - (left < right);
}

static int compare_values(const void *a, const void *b)
{
    int32_t left = ((const struct enum_value_info *)a)->number;
    int32_t right = ((const struct enum_value_info *)b)->number;

    return (left > right) - (left < right);
}

static enum err broken(struct builder *builder, const char *what, const char *which)
{
    return fault_say(builder->ctx->fault, ERR_INVALID, "%s: %s %s", builder->name, what, which);
}

static struct slice join(struct builder *builder, struct slice scope, const char *name)
{
    return scope.size == 0 ? arena_printf(builder->ctx->arena, "%s", name)
                           : arena_printf(builder->ctx->arena, "%.*s.%s", SHOWN(scope), name);
}

static bool copy_text(struct builder *builder, const char *text, struct slice *ret_text)
{
    return arena_copy(builder->ctx->arena, slice_text(text), ret_text);
}

/* --- search --- */

const struct message_info *descriptors_find_message(const struct descriptors *descriptors,
                                                    struct slice full_name)
{
    size_t low = 0;
    size_t high = descriptors->message_count;

    if (slice_starts_with(full_name, SLICE(WELL_KNOWN)) &&
        contract_find_message(full_name) != NULL) {
        return contract_find_message(full_name);
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(full_name, descriptors->messages[middle].full_name);

        if (order == 0) {
            return &descriptors->messages[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static const struct enum_info *find_enum(const struct descriptors *descriptors,
                                         struct slice full_name)
{
    for (size_t i = 0; i < descriptors->enum_count; i++) {
        if (slice_equal(descriptors->enums[i].full_name, full_name)) {
            return &descriptors->enums[i];
        }
    }
    for (uint32_t i = 0; i < contract_enum_count; i++) {
        if (slice_equal(contract_enums[i]->full_name, full_name)) {
            return contract_enums[i];
        }
    }
    return NULL;
}

const struct method_info *descriptors_find_method(const struct descriptors *descriptors,
                                                  struct slice path)
{
    const struct method_info wanted = {.path = path};

    if (descriptors->method_count == 0) {
        return NULL;
    }
    return bsearch(&wanted, descriptors->methods, descriptors->method_count, sizeof(wanted),
                   compare_methods);
}

/* --- the first pass: names --- */

/* Appends to a list that doubles, in the arena; false without memory. */
static bool add_found(struct builder *builder, struct found_list *list, const struct found *found)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 64 : 2 * list->room;
        struct found *larger = arena_calloc(builder->ctx->arena, room, sizeof(*larger));

        if (larger == NULL) {
            return false;
        }
        if (list->count > 0) {
            memcpy(larger, list->items, list->count * sizeof(*larger));
        }
        list->items = larger;
        list->room = room;
    }
    list->items[list->count++] = *found;
    return true;
}

static bool add_enums(struct builder *builder, struct slice scope, enum_proto **enums, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct found found = {.full_name = join(builder, scope, enums[i]->name),
                                    .enumeration = enums[i]};

        if (!add_found(builder, &builder->enums, &found)) {
            return false;
        }
    }
    return true;
}

static bool add_messages(struct builder *builder, struct slice scope, message_proto **messages,
                         size_t count, bool proto3)
{
    for (size_t i = 0; i < count; i++) {
        const struct found found = {.full_name = join(builder, scope, messages[i]->name),
                                    .message = messages[i],
                                    .proto3 = proto3};

        if (builder->messages.count == DESCRIPTORS_MESSAGES_MAX ||
            !add_found(builder, &builder->messages, &found)) {
            return false;
        }
    }
    return true;
}

/* The list grows while it is walked: each message adds those inside it. */
static enum err name_all(struct builder *builder, const file_set *set)
{
    for (size_t i = 0; i < set->n_file; i++) {
        const file_proto *file = set->file[i];
        struct slice package = slice_text(file->package);
        bool proto3 = file->syntax != NULL && strcmp(file->syntax, "proto3") == 0;

        if (!add_messages(builder, package, file->message_type, file->n_message_type, proto3) ||
            !add_enums(builder, package, file->enum_type, file->n_enum_type)) {
            return ERR_MEMORY;
        }
    }
    for (size_t i = 0; i < builder->messages.count; i++) {
        const struct found at = builder->messages.items[i];

        if (!add_messages(builder, at.full_name, at.message->nested_type, at.message->n_nested_type,
                          at.proto3) ||
            !add_enums(builder, at.full_name, at.message->enum_type, at.message->n_enum_type)) {
            return ERR_MEMORY;
        }
    }
    if (builder->messages.count > 0) {
        qsort(builder->messages.items, builder->messages.count, sizeof(struct found),
              compare_found);
    }
    builder->out->message_count = builder->messages.count;
    builder->out->enum_count = builder->enums.count;
    return OK;
}

/* --- the second pass: fields --- */

static enum err fill_enum(struct builder *builder, const struct found *found,
                          struct enum_info *info)
{
    const enum_proto *proto = found->enumeration;
    struct enum_value_info *values =
        arena_calloc(builder->ctx->arena, proto->n_value + 1, sizeof(*values));

    if (values == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < proto->n_value; i++) {
        values[i].number = proto->value[i]->number;
        if (!copy_text(builder, proto->value[i]->name, &values[i].name)) {
            return ERR_MEMORY;
        }
        values[i].short_name = values[i].name;
    }
    qsort(values, proto->n_value, sizeof(*values), compare_values);
    *info = (struct enum_info){
        .full_name = found->full_name, .values = values, .count = (uint32_t)proto->n_value};
    return OK;
}

static enum err resolve_type(struct builder *builder, const field_proto *proto,
                             struct field_info *field)
{
    struct slice name = slice_text(proto->type_name);

    if (name.size > 0 && name.data[0] == '.') {
        name = slice_after(name, 1);
    }
    if (field->type == FIELD_MESSAGE) {
        field->message = descriptors_find_message(builder->out, name);
    } else if (field->type == FIELD_ENUM) {
        field->enumeration = find_enum(builder->out, name);
    } else {
        return OK;
    }
    return field->message != NULL || field->enumeration != NULL
               ? OK
               : broken(builder,
                        "it does not have a type that it names (was it written with "
                        "--include_imports?):",
                        proto->type_name != NULL ? proto->type_name : "");
}

static bool is_packed(const field_proto *proto, const struct field_info *field, bool proto3)
{
    if (!field->repeated || !scalar_is_packable(field->type)) {
        return false;
    }
    return proto->options != NULL && proto->options->has_packed ? proto->options->packed : proto3;
}

static enum err fill_field(struct builder *builder, const field_proto *proto, bool proto3,
                           struct field_info *field)
{
    if (proto->name == NULL || !proto->has_type || (int)proto->type == GROUP ||
        (int)proto->type < FIELD_DOUBLE || (int)proto->type > FIELD_SINT64 || proto->number <= 0) {
        return broken(builder, "a field has no type that proto JSON knows:",
                      proto->name != NULL ? proto->name : "");
    }
    *field = (struct field_info){
        .number = (uint32_t)proto->number,
        .type = (enum field_type)(int)proto->type,
        .repeated =
            (int)proto->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED,
        .oneof = -1};
    if (proto->has_oneof_index && !proto->proto3_optional) {
        field->oneof = (int16_t)proto->oneof_index;
    }
    field->optional = proto->proto3_optional || field->oneof >= 0 || (!proto3 && !field->repeated);
    field->packed = is_packed(proto, field, proto3);
    if (!copy_text(builder, proto->name, &field->name) ||
        !copy_text(builder, proto->json_name != NULL ? proto->json_name : proto->name,
                   &field->json_name)) {
        return ERR_MEMORY;
    }
    return resolve_type(builder, proto, field);
}

static bool is_map_entry(const struct builder *builder, const struct message_info *message)
{
    const struct message_info *first = builder->out->messages;
    const message_proto *proto = NULL;

    if (message < first || message >= first + builder->out->message_count) {
        return false; /* a type of the contract, none of which is a map entry */
    }
    proto = builder->messages.items[message - first].message;
    return proto->options != NULL && proto->options->map_entry;
}

static enum err fill_message(struct builder *builder, const struct found *found,
                             struct message_info *info)
{
    const message_proto *proto = found->message;
    struct field_info *fields =
        arena_calloc(builder->ctx->arena, proto->n_field + 1, sizeof(*fields));

    if (fields == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < proto->n_field; i++) {
        enum err err = fill_field(builder, proto->field[i], found->proto3, &fields[i]);

        if (err != OK) {
            return err;
        }
        fields[i].map = fields[i].message != NULL && is_map_entry(builder, fields[i].message);
    }
    qsort(fields, proto->n_field, sizeof(*fields), compare_fields);
    info->fields = fields;
    info->count = (uint32_t)proto->n_field;
    return OK;
}

static enum err fill_types(struct builder *builder)
{
    struct descriptors *out = builder->out;
    struct arena *arena = builder->ctx->arena;
    enum err err = OK;

    out->messages = arena_calloc(arena, out->message_count + 1, sizeof(*out->messages));
    out->enums = arena_calloc(arena, out->enum_count + 1, sizeof(*out->enums));
    if (out->messages == NULL || out->enums == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < out->message_count; i++) {
        out->messages[i].full_name = builder->messages.items[i].full_name;
    }
    for (size_t i = 0; i < out->enum_count && err == OK; i++) {
        err = fill_enum(builder, &builder->enums.items[i], &out->enums[i]);
    }
    for (size_t i = 0; i < out->message_count && err == OK; i++) {
        err = fill_message(builder, &builder->messages.items[i], &out->messages[i]);
    }
    return err;
}

/* --- methods --- */

static enum method_stream stream_of(const method_proto *proto)
{
    if (proto->client_streaming) {
        return proto->server_streaming ? METHOD_BIDI_STREAM : METHOD_CLIENT_STREAM;
    }
    return proto->server_streaming ? METHOD_SERVER_STREAM : METHOD_UNARY;
}

static const struct message_info *find_type(struct builder *builder, const char *type)
{
    return type != NULL && type[0] == '.'
               ? descriptors_find_message(builder->out, slice_text(type + 1))
               : NULL;
}

static enum err add_method(struct builder *builder, struct slice service, const method_proto *proto,
                           size_t *at)
{
    struct method_info *method = &builder->out->methods[*at];

    *method = (struct method_info){
        .path = arena_printf(builder->ctx->arena, "/%.*s/%s", SHOWN(service), proto->name),
        .service = service,
        .request = find_type(builder, proto->input_type),
        .reply = find_type(builder, proto->output_type),
        .stream = stream_of(proto)};
    if (method->request == NULL || method->reply == NULL) {
        return broken(builder, "a method has a type that the set does not have:", proto->name);
    }
    (*at)++;
    return method->path.size > 0 && copy_text(builder, proto->name, &method->name) ? OK
                                                                                   : ERR_MEMORY;
}

static enum err add_services(struct builder *builder, const file_proto *file, size_t *at)
{
    for (size_t i = 0; i < file->n_service; i++) {
        const service_proto *service = file->service[i];
        struct slice name = join(builder, slice_text(file->package), service->name);

        for (size_t k = 0; k < service->n_method; k++) {
            enum err err = add_method(builder, name, service->method[k], at);

            if (err != OK) {
                return err;
            }
        }
    }
    return OK;
}

static enum err fill_methods(struct builder *builder, const file_set *set)
{
    struct descriptors *out = builder->out;
    size_t at = 0;

    for (size_t i = 0; i < set->n_file; i++) {
        for (size_t k = 0; k < set->file[i]->n_service; k++) {
            out->method_count += set->file[i]->service[k]->n_method;
        }
    }
    if (out->method_count == 0 || out->method_count > DESCRIPTORS_METHODS_MAX) {
        return broken(builder, "it has", out->method_count == 0 ? "no method" : "too many methods");
    }
    out->methods = arena_calloc(builder->ctx->arena, out->method_count, sizeof(*out->methods));
    if (out->methods == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < set->n_file; i++) {
        enum err err = add_services(builder, set->file[i], &at);

        if (err != OK) {
            return err;
        }
    }
    qsort(out->methods, out->method_count, sizeof(*out->methods), compare_methods);
    return OK;
}

enum err descriptors_read(struct ctx *ctx, const char *name, struct slice bytes,
                          struct descriptors *ret_descriptors)
{
    file_set *set = google__protobuf__file_descriptor_set__unpack(NULL, bytes.size, bytes.data);
    struct descriptors descriptors = {0};
    struct builder builder = {.ctx = ctx, .name = name, .out = &descriptors};
    enum err err = OK;

    if (set == NULL) {
        return fault_say(
            ctx->fault, ERR_INVALID,
            "%s: not a FileDescriptorSet; expected the output of protoc --include_imports "
            "--descriptor_set_out=FILE",
            name);
    }
    err = name_all(&builder, set);
    if (err == OK) {
        err = fill_types(&builder);
    }
    if (err == OK) {
        err = fill_methods(&builder, set);
    }
    google__protobuf__file_descriptor_set__free_unpacked(set, NULL);
    if (err == OK) {
        *ret_descriptors = descriptors;
    }
    return err;
}
