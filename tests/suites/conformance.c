/*
 * conformance.c: connectrpc.conformance.v1.ConformanceService, which the reference clients of the
 * Connect project's conformance suite call. The first request states what is to be answered: metadata,
 * replies, delays, an error; the first reply states what was asked: metadata, timeout, the requests.
 * Its messages are read and written by their field numbers.
 */
#include "server/grpc/grpc_internal.h"
#include "server/grpc/grpc_text.h"
#include "server/http/http_protocol.h"
#include "store/base/wire.h"
#include "tests/suites/conformance_tables.h"
#include "tests/suites/suite.h"

#define CONFORMANCE_PACKAGE "connectrpc.conformance.v1."
#define CONFORMANCE_TYPE "type.googleapis.com/" CONFORMANCE_PACKAGE
#define CONFORMANCE_PATH(name)                                                                     \
    {                                                                                              \
        (const uint8_t *)("/" CONFORMANCE_PACKAGE "ConformanceService/" name),                     \
            sizeof("/" CONFORMANCE_PACKAGE "ConformanceService/" name) - 1                         \
    }
#define MS_IN_US 1000

/* Field numbers of connectrpc/conformance/v1/service.proto. */
enum {
    REQUEST_DEFINITION = 1,
    BIDI_FULL_DUPLEX = 2,
    DEFINITION_HEADERS = 1,
    DEFINITION_DATA = 2,
    UNARY_ERROR = 3,
    UNARY_TRAILERS = 4,
    UNARY_DELAY_MS = 6,
    STREAM_DELAY_MS = 3,
    STREAM_ERROR = 4,
    STREAM_TRAILERS = 5,
    HEADER_NAME = 1,
    HEADER_VALUE = 2,
    RESPONSE_PAYLOAD = 1,
    PAYLOAD_DATA = 1,
    PAYLOAD_REQUEST_INFO = 2,
    INFO_HEADERS = 1,
    INFO_TIMEOUT_MS = 2,
    INFO_REQUESTS = 3,
    INFO_GET = 4,
    /* google.protobuf.Any, and google.rpc.Status, whose fields the suite's Error has too. */
    ANY_TYPE_URL = 1,
    ANY_VALUE = 2,
    ERROR_CODE = 1,
    ERROR_MESSAGE = 2,
    ERROR_DETAILS = 3
};

/* Field numbers of a definition that differ between unary and streaming methods. */
struct definition_form {
    uint32_t error;
    uint32_t trailers;
    uint32_t delay_ms;
};

static const struct definition_form unary_form = {UNARY_ERROR, UNARY_TRAILERS, UNARY_DELAY_MS};
static const struct definition_form stream_form = {STREAM_ERROR, STREAM_TRAILERS, STREAM_DELAY_MS};

struct exchange {
    bool begun; /* the first request was read */
    bool full_duplex;
    struct slice definition; /* empty: nothing is requested */
    struct wire_reader data; /* unsent replies of the definition */
    uint32_t reply_count;
    int64_t delay_us;
    struct buffer requests; /* fields of RequestInfo since the last reply that reported them */
};

/* The next field of a number. */
static bool next_of(struct wire_reader *reader, uint32_t number, struct wire_field *ret_field)
{
    while (wire_next(reader, ret_field) == OK) {
        if (ret_field->number == number) {
            return true;
        }
    }
    return false;
}

static bool first_of(struct slice message, uint32_t number, struct wire_field *ret_field)
{
    struct wire_reader reader = wire_reader_of(message);

    return next_of(&reader, number, ret_field);
}

static struct exchange *exchange_of(struct suite_call *call)
{
    struct exchange *exchange = suite_call_state(call, sizeof(*exchange));

    if (exchange != NULL && exchange->requests.arena == NULL) {
        buffer_init(&exchange->requests, suite_call_of(call)->arena, 0);
    }
    return exchange;
}

/* Adds one value of metadata, which the suite gives in base64 where its name ends in -bin. */
static void add_value(struct call *call, struct slice name, struct slice value, bool trailing)
{
    if (grpc_name_is_binary(name) && grpc_base64_decode(call->arena, value, &value) != OK) {
        return; /* the suite misses it, and reports that */
    }
    if (trailing) {
        call_add_trailing(call, name, value);
    } else {
        call_add_leading(call, name, value);
    }
}

/* Adds all values of the definition's metadata of one kind. */
static void add_metadata(struct call *call, struct slice definition, uint32_t number, bool trailing)
{
    struct wire_reader reader = wire_reader_of(definition);
    struct wire_field header;
    struct wire_field name;
    struct wire_field value;

    while (next_of(&reader, number, &header)) {
        struct wire_reader values = wire_reader_of(header.bytes);

        if (!first_of(header.bytes, HEADER_NAME, &name)) {
            continue;
        }
        while (next_of(&values, HEADER_VALUE, &value)) {
            add_value(call, name.bytes, value.bytes, trailing);
        }
    }
}

/* Reads the definition in the first request of an exchange. */
static void begin(struct suite_call *call, struct exchange *exchange, struct slice request)
{
    const struct definition_form *form =
        method_has_one_reply(suite_call_of(call)->method) ? &unary_form : &stream_form;
    struct wire_field field = {.bytes = {NULL, 0}};

    exchange->begun = true;
    if (suite_call_of(call)->method->stream == METHOD_BIDI_STREAM) {
        exchange->full_duplex = first_of(request, BIDI_FULL_DUPLEX, &field) && field.value != 0;
    }
    if (!first_of(request, REQUEST_DEFINITION, &field)) {
        return;
    }
    exchange->definition = field.bytes;
    exchange->data = wire_reader_of(field.bytes);
    add_metadata(suite_call_of(call), exchange->definition, DEFINITION_HEADERS, false);
    add_metadata(suite_call_of(call), exchange->definition, form->trailers, true);
    if (first_of(exchange->definition, form->delay_ms, &field)) {
        exchange->delay_us = (int64_t)(uint32_t)field.value * MS_IN_US;
    }
}

static void put_any(struct buffer *buffer, uint32_t number, struct slice type, struct slice value)
{
    wire_put_header(buffer, number,
                    wire_header_bytes(ANY_TYPE_URL, type.size) + type.size +
                        wire_header_bytes(ANY_VALUE, value.size) + value.size);
    wire_put_bytes(buffer, ANY_TYPE_URL, type);
    wire_put_bytes(buffer, ANY_VALUE, value);
}

/* All values of the metadata field's name, older ones first, as they were sent. */
static void put_header(struct call_core *core, const struct call_metadata_field *field,
                       struct buffer *info)
{
    struct buffer header;
    const struct call_metadata_field *last = NULL; /* last added field */

    buffer_init(&header, &core->arena, field->name.size + field->value.size + 16);
    wire_put_bytes(&header, HEADER_NAME, field->name);
    while (last != core->metadata) {
        const struct call_metadata_field *next = NULL;

        for (const struct call_metadata_field *at = core->metadata; at != last; at = at->next) {
            next = slice_equal(at->name, field->name) ? at : next;
        }
        if (next == NULL) {
            break;
        }
        wire_put_bytes(&header, HEADER_VALUE, next->value);
        last = next;
    }
    wire_put_bytes(info, INFO_HEADERS, buffer_slice(&header));
}

/* Each name once. */
static void put_headers(struct call_core *core, struct buffer *info)
{
    for (const struct call_metadata_field *at = core->metadata; at != NULL; at = at->next) {
        bool is_oldest = true;

        for (const struct call_metadata_field *older = at->next; older != NULL;
             older = older->next) {
            is_oldest = is_oldest && !slice_equal(older->name, at->name);
        }
        if (is_oldest) {
            put_header(core, at, info);
        }
    }
}

/* Writes a RequestInfo of what arrived since the last one; metadata and timeout only in the
 * first. */
static struct slice take_info(struct suite_call *call, struct exchange *exchange)
{
    struct call_core *core = call_core_of(suite_call_of(call));
    struct buffer info;

    buffer_init(&info, &core->arena, exchange->requests.size + 256);
    if (exchange->reply_count == 0) {
        put_headers(core, &info);
        if (core->call.deadline_us != INT64_MAX) {
            wire_put_varint(
                &info, INFO_TIMEOUT_MS,
                (uint64_t)((core->call.deadline_us - core->call.started_us) / MS_IN_US));
        }
        if (!grpc_is_call(core) && http_exchange_of(core)->verb == HTTP_GET) {
            wire_put_bytes(&info, INFO_GET, SLICE("")); /* services do not see the query */
        }
    }
    buffer_append(&info, buffer_slice(&exchange->requests));
    buffer_init(&exchange->requests, &core->arena, 0);
    if (!buffer_ok(&info)) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "no memory to report the request");
    }
    return buffer_slice(&info);
}

/* The error that is requested; after no reply it reports what was asked. */
static void end_with_error(struct suite_call *call, struct exchange *exchange, struct slice error)
{
    struct status status = {.code = STATUS_UNKNOWN};
    struct wire_field field = {.bytes = {NULL, 0}};
    struct buffer details;

    buffer_init(&details, suite_call_of(call)->arena, error.size + 256);
    buffer_append(&details, error);
    if (exchange->reply_count == 0) {
        put_any(&details, ERROR_DETAILS, SLICE(CONFORMANCE_TYPE "ConformancePayload.RequestInfo"),
                take_info(call, exchange));
    }
    if (first_of(error, ERROR_CODE, &field) && field.value <= STATUS_UNAUTHENTICATED) {
        status.code = (enum status_code)field.value;
    }
    if (first_of(error, ERROR_MESSAGE, &field)) {
        status.message = field.bytes;
    }
    if (!buffer_ok(&details)) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "no memory for the error's details");
        return;
    }
    status.details = buffer_slice(&details);
    suite_end(call, &status,
              method_has_one_reply(suite_call_of(call)->method) ? exchange->delay_us : 0);
}

static void end_exchange(struct suite_call *call, struct exchange *exchange)
{
    const struct status ok = {.code = STATUS_OK};
    const struct definition_form *form =
        method_has_one_reply(suite_call_of(call)->method) ? &unary_form : &stream_form;
    struct wire_field error;

    if (first_of(exchange->definition, form->error, &error)) {
        end_with_error(call, exchange, error.bytes);
    } else {
        suite_end(call, &ok, 0);
    }
}

static void reply(struct suite_call *call, struct exchange *exchange, struct slice data,
                  bool with_info)
{
    struct slice info = with_info ? take_info(call, exchange) : slice_of(NULL, 0);
    size_t payload_bytes = wire_header_bytes(PAYLOAD_DATA, data.size) + data.size;
    struct buffer buffer;

    if (with_info) {
        payload_bytes += wire_header_bytes(PAYLOAD_REQUEST_INFO, info.size) + info.size;
    }
    buffer_init(&buffer, suite_call_of(call)->arena, payload_bytes + 16);
    wire_put_header(&buffer, RESPONSE_PAYLOAD, payload_bytes);
    wire_put_bytes(&buffer, PAYLOAD_DATA, data);
    if (with_info) {
        wire_put_bytes(&buffer, PAYLOAD_REQUEST_INFO, info);
    }
    if (!buffer_ok(&buffer)) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "no memory for the reply");
        return;
    }
    exchange->reply_count++;
    suite_reply(call, buffer_slice(&buffer), exchange->delay_us);
}

/* The one reply of a call, or its error. */
static void answer_once(struct suite_call *call, struct exchange *exchange)
{
    struct wire_field data = {.bytes = {NULL, 0}};
    struct wire_field error;

    if (!first_of(exchange->definition, UNARY_ERROR, &error)) {
        (void)first_of(exchange->definition, DEFINITION_DATA, &data);
        reply(call, exchange, data.bytes, true);
    }
    end_exchange(call, exchange);
}

/* Sends the remaining replies, and the end. */
static void answer_rest(struct suite_call *call, struct exchange *exchange)
{
    struct wire_field data;

    while (!suite_has_ended(call) && next_of(&exchange->data, DEFINITION_DATA, &data)) {
        reply(call, exchange, data.bytes, exchange->reply_count == 0);
    }
    end_exchange(call, exchange);
}

/* Keeps the request for the reply that will report it, and reads the settings of the first one. */
static struct exchange *take_request(struct suite_call *call, struct slice type,
                                     struct slice request)
{
    struct exchange *exchange = exchange_of(call);

    if (exchange == NULL) {
        return NULL;
    }
    put_any(&exchange->requests, INFO_REQUESTS, type, request);
    if (!exchange->begun) {
        begin(call, exchange, request);
    }
    return exchange;
}

static void unary(struct suite_call *call, struct slice message)
{
    struct exchange *exchange = take_request(call, SLICE(CONFORMANCE_TYPE "UnaryRequest"), message);

    if (exchange != NULL) {
        answer_once(call, exchange);
    }
}

static void idempotent_unary(struct suite_call *call, struct slice message)
{
    struct exchange *exchange =
        take_request(call, SLICE(CONFORMANCE_TYPE "IdempotentUnaryRequest"), message);

    if (exchange != NULL) {
        answer_once(call, exchange);
    }
}

static void server_stream(struct suite_call *call, struct slice message)
{
    struct exchange *exchange =
        take_request(call, SLICE(CONFORMANCE_TYPE "ServerStreamRequest"), message);

    if (exchange != NULL) {
        answer_rest(call, exchange);
    }
}

static void client_stream_message(struct suite_call *call, struct slice message)
{
    (void)take_request(call, SLICE(CONFORMANCE_TYPE "ClientStreamRequest"), message);
}

static void client_stream_end(struct suite_call *call)
{
    struct exchange *exchange = exchange_of(call);

    if (exchange != NULL) {
        answer_once(call, exchange);
    }
}

static void bidi_stream_message(struct suite_call *call, struct slice message)
{
    struct exchange *exchange =
        take_request(call, SLICE(CONFORMANCE_TYPE "BidiStreamRequest"), message);
    struct wire_field data;

    if (exchange == NULL || !exchange->full_duplex) {
        return;
    }
    if (next_of(&exchange->data, DEFINITION_DATA, &data)) {
        reply(call, exchange, data.bytes, true);
    } else {
        end_exchange(call, exchange);
    }
}

static void bidi_stream_end(struct suite_call *call)
{
    struct exchange *exchange = exchange_of(call);

    if (exchange != NULL) {
        answer_rest(call, exchange);
    }
}

const struct suite_method conformance_methods[] = {
    {.info = {.path = CONFORMANCE_PATH("Unary"),
              .request = &conformance_unary_request,
              .reply = &conformance_response},
     .on_message = unary},
    {.info = {.path = CONFORMANCE_PATH("IdempotentUnary"),
              .request = &conformance_idempotent_request,
              .reply = &conformance_response,
              .no_side_effects = true},
     .on_message = idempotent_unary},
    {.info = {.path = CONFORMANCE_PATH("ServerStream"),
              .request = &conformance_server_stream_request,
              .reply = &conformance_response,
              .stream = METHOD_SERVER_STREAM},
     .on_message = server_stream},
    {.info = {.path = CONFORMANCE_PATH("ClientStream"),
              .request = &conformance_client_stream_request,
              .reply = &conformance_response,
              .stream = METHOD_CLIENT_STREAM},
     .on_message = client_stream_message,
     .on_half_close = client_stream_end},
    {.info = {.path = CONFORMANCE_PATH("BidiStream"),
              .request = &conformance_bidi_request,
              .reply = &conformance_response,
              .stream = METHOD_BIDI_STREAM},
     .on_message = bidi_stream_message,
     .on_half_close = bidi_stream_end},
};
const size_t conformance_method_count =
    sizeof(conformance_methods) / sizeof(conformance_methods[0]);
