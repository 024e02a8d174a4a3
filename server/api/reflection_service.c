/*
 * reflection_service.c: grpc.reflection.v1 and v1alpha, which have the same messages: the
 * contract's descriptors by file name or symbol, each with all files that it imports, so that one
 * request suffices. For an unknown name the response is an error_response; the call does not fail.
 * A known message without extensions has an empty list: clients such as grpcurl request it before
 * they decode error details.
 */
#include "server/pipeline/service.h"

#include "store/base/wire.h"

#include <grpc/reflection/v1/reflection.handlers.h>
#include <grpc/reflection/v1alpha/reflection.handlers.h>

/* Field numbers of both reflection.proto files. */
enum {
    REQUEST_HOST = 1,
    REQUEST_FILE_BY_FILENAME = 3,
    REQUEST_FILE_CONTAINING_SYMBOL = 4,
    REQUEST_FILE_CONTAINING_EXTENSION = 5,
    REQUEST_ALL_EXTENSION_NUMBERS = 6,
    REQUEST_LIST_SERVICES = 7,
    RESPONSE_VALID_HOST = 1,
    RESPONSE_ORIGINAL_REQUEST = 2,
    RESPONSE_FILE_DESCRIPTORS = 4,
    RESPONSE_EXTENSION_NUMBERS = 5,
    RESPONSE_LIST_SERVICES = 6,
    RESPONSE_ERROR = 7,
    EXTENSION_CONTAINING_TYPE = 1,
    EXTENSION_NUMBER = 2,
    EXTENSION_NUMBERS_TYPE = 1,
    EXTENSION_NUMBERS_NUMBER = 2,
    FILE_DESCRIPTORS_PROTO = 1,
    LIST_SERVICES_SERVICE = 1,
    SERVICE_NAME = 1,
    ERROR_CODE = 1,
    ERROR_MESSAGE = 2
};

#define CODE_NOT_FOUND 5

/* A request of either version; borrowed from its bytes. */
struct query {
    struct slice original; /* the request itself */
    struct slice host;
    uint32_t kind; /* field number of the query; 0: not supported */
    struct slice text; /* texts of the fields that contain names */
    uint64_t extension; /* extension number, for an extension of the message `text` */
};

static bool find_extension(const struct query *query, uint16_t *ret_file)
{
    for (uint32_t i = 0; i < contract_extension_count; i++) {
        const struct contract_extension *extension = &contract_extensions[i];

        if (extension->number == query->extension &&
            slice_equal(extension->extendee, query->text)) {
            *ret_file = extension->file;
            return true;
        }
    }
    return false;
}

static bool find_file(const struct query *query, uint16_t *ret_file)
{
    const struct contract_symbol *symbol = NULL;

    if (query->kind == REQUEST_FILE_CONTAINING_SYMBOL) {
        symbol = contract_find_symbol(query->text);
        if (symbol != NULL) {
            *ret_file = symbol->file;
        }
        return symbol != NULL;
    }
    if (query->kind == REQUEST_FILE_CONTAINING_EXTENSION) {
        return find_extension(query, ret_file);
    }
    for (uint32_t file = 0; file < contract_file_count; file++) {
        if (slice_equal(contract_files[file].name, query->text)) {
            *ret_file = (uint16_t)file;
            return true;
        }
    }
    return false;
}

/* Appends the file and all files that it imports, each once, the file itself first. */
static enum err put_files(struct service *service, uint16_t first, struct buffer *body)
{
    struct arena *arena = service->ctx->arena;
    uint16_t *files = (uint16_t *)arena_calloc(arena, contract_file_count, sizeof(uint16_t));
    bool *seen = (bool *)arena_calloc(arena, contract_file_count, sizeof(bool));
    struct buffer list;
    size_t count = 1;

    if (files == NULL || seen == NULL) {
        return ERR_MEMORY;
    }
    files[0] = first;
    seen[first] = true;
    buffer_init(&list, arena, 16 * 1024);
    for (size_t at = 0; at < count; at++) {
        const struct contract_file *file = &contract_files[files[at]];

        wire_put_bytes(&list, FILE_DESCRIPTORS_PROTO, file->descriptor);
        for (uint16_t i = 0; i < file->dependency_count; i++) {
            uint16_t dependency = file->dependencies[i];

            if (!seen[dependency]) {
                seen[dependency] = true;
                files[count++] = dependency;
            }
        }
    }
    if (!buffer_ok(&list)) {
        return ERR_MEMORY;
    }
    wire_put_bytes(body, RESPONSE_FILE_DESCRIPTORS, buffer_slice(&list));
    return OK;
}

/* Appends every service once; methods are in the order of their paths. */
static enum err put_services(struct service *service, struct buffer *body)
{
    struct slice last = {NULL, 0};
    struct buffer list;

    buffer_init(&list, service->ctx->arena, 512);
    for (uint32_t i = 0; i < contract_method_count; i++) {
        struct slice name = contract_methods[i].service;

        if (slice_equal(name, last)) {
            continue;
        }
        last = name;
        wire_put_header(&list, LIST_SERVICES_SERVICE,
                        wire_header_bytes(SERVICE_NAME, name.size) + name.size);
        wire_put_bytes(&list, SERVICE_NAME, name);
    }
    if (!buffer_ok(&list)) {
        return ERR_MEMORY;
    }
    wire_put_bytes(body, RESPONSE_LIST_SERVICES, buffer_slice(&list));
    return OK;
}

static enum err put_not_found(struct service *service, const struct query *query,
                              struct buffer *body)
{
    struct slice shown = fault_shorten(service->ctx->fault, query->text);
    struct slice message =
        arena_printf(service->ctx->arena, "no file, symbol or extension '%.*s' is served here",
                     (int)shown.size, (const char *)shown.data);
    struct buffer error;

    buffer_init(&error, service->ctx->arena, 160);
    wire_put_varint(&error, ERROR_CODE, CODE_NOT_FOUND);
    wire_put_bytes(&error, ERROR_MESSAGE, message);
    if (!buffer_ok(&error)) {
        return ERR_MEMORY;
    }
    wire_put_bytes(body, RESPONSE_ERROR, buffer_slice(&error));
    return OK;
}

/* Appends the numbers of all extensions of a known message; there may be none. */
static enum err put_extension_numbers(struct service *service, const struct query *query,
                                      struct buffer *body)
{
    struct buffer list;
    struct buffer numbers;

    if (contract_find_message(query->text) == NULL) {
        return put_not_found(service, query, body);
    }
    buffer_init(&list, service->ctx->arena, 64 + query->text.size);
    buffer_init(&numbers, service->ctx->arena, 32);
    for (uint32_t i = 0; i < contract_extension_count; i++) {
        if (slice_equal(contract_extensions[i].extendee, query->text)) {
            wire_put_packed(&numbers, WIRE_VARINT, contract_extensions[i].number);
        }
    }
    wire_put_bytes(&list, EXTENSION_NUMBERS_TYPE, query->text);
    wire_put_bytes_given(&list, EXTENSION_NUMBERS_NUMBER, buffer_slice(&numbers));
    if (!buffer_ok(&list) || !buffer_ok(&numbers)) {
        return ERR_MEMORY;
    }
    wire_put_bytes(body, RESPONSE_EXTENSION_NUMBERS, buffer_slice(&list));
    return OK;
}

/* Reads an ExtensionRequest. */
static enum err read_extension(struct slice bytes, struct query *query)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field;
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == EXTENSION_CONTAINING_TYPE) {
            query->text = field.bytes;
        } else if (field.number == EXTENSION_NUMBER) {
            query->extension = field.value;
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads a field of the request that contains a query. */
static enum err read_question(const struct wire_field *field, struct query *query)
{
    query->kind = field->number;
    if (field->number == REQUEST_FILE_CONTAINING_EXTENSION) {
        return read_extension(field->bytes, query);
    }
    query->text = field->bytes;
    return OK;
}

/* Reads the request from its bytes, which are the same in both versions, although the types
 * differ. */
static enum err read_query(struct service *service, const ProtobufCMessage *request,
                           struct query *ret_query)
{
    size_t size = protobuf_c_message_get_packed_size(request);
    uint8_t *bytes = (uint8_t *)arena_alloc(service->ctx->arena, size);
    struct query query = {.kind = 0};
    struct wire_reader reader;
    struct wire_field field;
    enum err err = OK;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    query.original = slice_of(bytes, protobuf_c_message_pack(request, bytes));
    reader = wire_reader_of(query.original);
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == REQUEST_HOST) {
            query.host = field.bytes;
        } else if (field.number >= REQUEST_FILE_BY_FILENAME &&
                   field.number <= REQUEST_LIST_SERVICES) {
            err = read_question(&field, &query);
        }
        if (err != OK) {
            return err;
        }
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_query = query;
    return OK;
}

/* Writes the request, then its response. */
static enum err answer(struct service *service, struct stream *stream,
                       const ProtobufCMessage *request)
{
    struct query query = {.kind = 0};
    enum err err = read_query(service, request, &query);
    struct buffer *reply;
    uint16_t file = 0;

    if (err != OK) {
        return err;
    }
    reply = stream_reply_begin(stream, 1024);
    wire_put_bytes(reply, RESPONSE_VALID_HOST, query.host);
    wire_put_bytes(reply, RESPONSE_ORIGINAL_REQUEST, query.original);
    if (query.kind == REQUEST_LIST_SERVICES) {
        err = put_services(service, reply);
    } else if (query.kind == REQUEST_ALL_EXTENSION_NUMBERS) {
        err = put_extension_numbers(service, &query, reply);
    } else if (query.kind != 0 && find_file(&query, &file)) {
        err = put_files(service, file, reply);
    } else {
        err = put_not_found(service, &query, reply);
    }
    return err != OK ? err : stream_reply_end(stream);
}

enum err grpc_reflection_v1_server_reflection_server_reflection_info_start(
    struct grpc_reflection_v1_server_reflection_server_reflection_info_call *call)
{
    call->stream->state = NULL; /* requests are independent of each other */
    return OK;
}

enum err grpc_reflection_v1_server_reflection_server_reflection_info_message(
    struct grpc_reflection_v1_server_reflection_server_reflection_info_call *call)
{
    return answer(call->service, call->stream, &call->request->base);
}

void grpc_reflection_v1_server_reflection_server_reflection_info_stopped(
    struct grpc_reflection_v1_server_reflection_server_reflection_info_call *call)
{
    call->stream->state = NULL;
}

enum err grpc_reflection_v1alpha_server_reflection_server_reflection_info_start(
    struct grpc_reflection_v1alpha_server_reflection_server_reflection_info_call *call)
{
    call->stream->state = NULL;
    return OK;
}

enum err grpc_reflection_v1alpha_server_reflection_server_reflection_info_message(
    struct grpc_reflection_v1alpha_server_reflection_server_reflection_info_call *call)
{
    return answer(call->service, call->stream, &call->request->base);
}

void grpc_reflection_v1alpha_server_reflection_server_reflection_info_stopped(
    struct grpc_reflection_v1alpha_server_reflection_server_reflection_info_call *call)
{
    call->stream->state = NULL;
}
