/*
 * interop.c: grpc.testing.TestService, which the interop clients of gRPC's libraries call
 * (grpc/doc/interop-test-descriptions.md). Its messages are read and written by their field numbers;
 * what it does not have (UnimplementedCall, UnimplementedService) is the transport's to refuse.
 */
#include "server/call/protocol.h"
#include "store/base/wire.h"
#include "tests/suites/suite.h"

#define INTEROP_PATH(name)                                                                         \
    {                                                                                              \
        (const uint8_t *)("/grpc.testing.TestService/" name),                                      \
            sizeof("/grpc.testing.TestService/" name) - 1                                          \
    }
#define INTEROP_INITIAL "x-grpc-test-echo-initial"
#define INTEROP_TRAILING "x-grpc-test-echo-trailing-bin"

/* Field numbers of grpc/testing/messages.proto: SimpleRequest, StreamingOutputCallRequest ... */
enum {
    REQUEST_RESPONSE_TYPE = 1,
    SIMPLE_RESPONSE_SIZE = 2,
    OUTPUT_RESPONSE_PARAMETERS = 2,
    REQUEST_PAYLOAD = 3,
    REQUEST_RESPONSE_STATUS = 7,
    SIMPLE_EXPECT_COMPRESSED = 8,
    SIMPLE_FILL_SERVER_ID = 9,
    INPUT_PAYLOAD = 1,
    INPUT_EXPECT_COMPRESSED = 2,
    /* ... of what is in them ... */
    PAYLOAD_BODY = 2,
    STATUS_CODE = 1,
    STATUS_MESSAGE = 2,
    PARAMETERS_SIZE = 1,
    PARAMETERS_INTERVAL_US = 2,
    BOOL_VALUE = 1,
    /* ... and of the replies. */
    REPLY_PAYLOAD = 1,
    REPLY_SERVER_ID = 4,
    INPUT_REPLY_SIZE = 1
};

/* Parameters of a request of any method. */
struct interop_request {
    bool odd_type; /* an unknown payload type */
    uint64_t response_size;
    struct slice payload;
    struct status status; /* STATUS_OK if none was requested */
    bool compression_is_set;
    bool compression_expected;
    bool fill_server_id;
};

/* A stream of requests. */
struct interop_input {
    uint64_t payload_bytes;
};

/* The last field of this number in a small message. */
static bool find_field(struct slice message, uint32_t number, struct wire_field *ret_field)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    bool found = false;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == number) {
            *ret_field = field;
            found = true;
        }
    }
    return found;
}

static uint64_t find_number(struct slice message, uint32_t number)
{
    struct wire_field field = {.value = 0};

    return find_field(message, number, &field) ? field.value : 0;
}

static struct slice find_bytes(struct slice message, uint32_t number)
{
    struct wire_field field = {.number = 0};

    return find_field(message, number, &field) ? field.bytes : slice_of(NULL, 0);
}

static void read_status(struct slice message, struct status *ret_status)
{
    uint64_t code = find_number(message, STATUS_CODE);

    ret_status->code = code <= STATUS_UNAUTHENTICATED ? (enum status_code)code : STATUS_UNKNOWN;
    ret_status->message = find_bytes(message, STATUS_MESSAGE);
}

static void read_field(const struct wire_field *field, struct interop_request *request)
{
    switch (field->number) {
    case REQUEST_RESPONSE_TYPE:
        request->odd_type = field->value != 0;
        return;
    case SIMPLE_RESPONSE_SIZE:
        request->response_size = field->value; /* for streams: a message without a value */
        return;
    case REQUEST_PAYLOAD:
        request->payload = find_bytes(field->bytes, PAYLOAD_BODY);
        return;
    case REQUEST_RESPONSE_STATUS:
        read_status(field->bytes, &request->status);
        return;
    case SIMPLE_EXPECT_COMPRESSED:
        request->compression_is_set = true;
        request->compression_expected = find_number(field->bytes, BOOL_VALUE) != 0;
        return;
    case SIMPLE_FILL_SERVER_ID:
        request->fill_server_id = field->value != 0;
        return;
    default: /* not supported by this server */
        return;
    }
}

/* Reads a request whose fields are those of SimpleRequest; false: the call is at its end. */
static bool read_request(struct suite_call *call, struct slice message,
                         struct interop_request *ret_request)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = OK;

    *ret_request = (struct interop_request){.status = {.code = STATUS_OK}};
    while ((err = wire_next(&reader, &field)) == OK) {
        read_field(&field, ret_request);
    }
    if (err != ERR_NOT_FOUND) {
        suite_fail(call, STATUS_INTERNAL, "the request is not a message");
        return false;
    }
    if (ret_request->odd_type) {
        suite_fail(call, STATUS_INVALID_ARGUMENT, "there is one type of payload, COMPRESSABLE");
        return false;
    }
    return true;
}

/* Whether the delivered message was compressed, according to its sender. */
static bool check_compression(struct suite_call *call, bool is_given, bool expected)
{
    const struct call_core *core = call_core_of(suite_call_of(call));

    if (is_given && core->input.compressed != expected) {
        suite_fail(call, STATUS_INVALID_ARGUMENT,
                   expected ? "the message should be compressed" : "the message is compressed");
        return false;
    }
    return true;
}

/* A reply of a payload of zeros, and of the server's name where that is requested. */
static void reply_payload(struct suite_call *call, uint64_t size, struct slice server_id,
                          int64_t delay_us)
{
    struct buffer reply;

    if (size > CALL_MESSAGE_BYTES_MAX) {
        suite_fail(call, STATUS_INVALID_ARGUMENT, "a payload has 0 to 16 MiB");
        return;
    }
    buffer_init(&reply, suite_call_of(call)->arena, size + 64);
    wire_put_header(&reply, REPLY_PAYLOAD, wire_header_bytes(PAYLOAD_BODY, size) + size);
    wire_put_header(&reply, PAYLOAD_BODY, size);
    if (buffer_reserve(&reply, size)) {
        memset(reply.data + reply.size, 0, size);
        reply.size += size;
    }
    wire_put_bytes_given(&reply, REPLY_SERVER_ID, server_id);
    if (!buffer_ok(&reply)) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "no memory for the reply");
        return;
    }
    suite_reply(call, buffer_slice(&reply), delay_us);
}

static void end_well(struct suite_call *call)
{
    const struct status status = {.code = STATUS_OK};

    suite_end(call, &status, 0);
}

/* Returns the metadata that ask for it. */
static void echo_metadata(struct suite_call *call)
{
    struct call *answer = suite_call_of(call);
    struct slice value = {NULL, 0};

    if (call_metadata(answer, SLICE(INTEROP_INITIAL), &value)) {
        call_add_leading(answer, SLICE(INTEROP_INITIAL), value);
    }
    if (call_metadata(answer, SLICE(INTEROP_TRAILING), &value)) {
        call_add_trailing(answer, SLICE(INTEROP_TRAILING), value);
    }
}

static void empty_call(struct suite_call *call, struct slice message)
{
    (void)message;
    suite_reply(call, SLICE(""), 0);
    end_well(call);
}

static void unary_call(struct suite_call *call, struct slice message)
{
    struct interop_request request;

    if (!read_request(call, message, &request) ||
        !check_compression(call, request.compression_is_set, request.compression_expected)) {
        return;
    }
    if (request.status.code != STATUS_OK) {
        suite_end(call, &request.status, 0);
        return;
    }
    reply_payload(call, request.response_size,
                  request.fill_server_id ? SLICE("suite_server") : SLICE(""), 0);
    end_well(call);
}

/* The replies that one request of a streamed call requests. */
static void reply_stream(struct suite_call *call, struct slice message)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (!suite_has_ended(call) && wire_next(&reader, &field) == OK) {
        if (field.number == OUTPUT_RESPONSE_PARAMETERS) {
            reply_payload(call, find_number(field.bytes, PARAMETERS_SIZE), SLICE(""),
                          (int64_t)(uint32_t)find_number(field.bytes, PARAMETERS_INTERVAL_US));
        }
    }
}

static void full_duplex_message(struct suite_call *call, struct slice message)
{
    struct interop_request request;

    if (!read_request(call, message, &request)) {
        return;
    }
    if (request.status.code != STATUS_OK) {
        suite_end(call, &request.status, 0);
        return;
    }
    reply_stream(call, message);
}

static void streaming_output_call(struct suite_call *call, struct slice message)
{
    full_duplex_message(call, message);
    end_well(call);
}

static void streaming_input_message(struct suite_call *call, struct slice message)
{
    struct interop_input *input = suite_call_state(call, sizeof(*input));
    struct wire_field reported = {.number = 0};

    if (input == NULL) {
        return;
    }
    if (find_field(message, INPUT_EXPECT_COMPRESSED, &reported) &&
        !check_compression(call, true, find_number(reported.bytes, BOOL_VALUE) != 0)) {
        return;
    }
    input->payload_bytes += find_bytes(find_bytes(message, INPUT_PAYLOAD), PAYLOAD_BODY).size;
}

static void streaming_input_end(struct suite_call *call)
{
    const struct interop_input *input = suite_call_state(call, sizeof(*input));
    struct buffer reply;

    if (input == NULL) {
        return;
    }
    buffer_init(&reply, suite_call_of(call)->arena, 16);
    wire_put_varint_given(&reply, INPUT_REPLY_SIZE, input->payload_bytes);
    suite_reply(call, buffer_slice(&reply), 0);
    end_well(call);
}

/* Requests of a half-duplex call, each after the other. */
struct interop_held {
    struct interop_held *next;
    struct slice message;
};

struct interop_half_duplex {
    struct interop_held *first;
    struct interop_held *last;
};

static void half_duplex_message(struct suite_call *call, struct slice message)
{
    struct interop_half_duplex *half = suite_call_state(call, sizeof(*half));
    struct interop_held *held = arena_calloc(suite_call_of(call)->arena, 1, sizeof(*held));

    if (half == NULL || held == NULL) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "no memory for the request");
        return;
    }
    held->message = message;
    if (half->last != NULL) {
        half->last->next = held;
    } else {
        half->first = held;
    }
    half->last = held;
}

static void half_duplex_end(struct suite_call *call)
{
    const struct interop_half_duplex *half = suite_call_state(call, sizeof(*half));

    if (half == NULL) {
        return;
    }
    for (const struct interop_held *at = half->first; at != NULL; at = at->next) {
        full_duplex_message(call, at->message);
    }
    end_well(call);
}

const struct suite_method interop_methods[] = {
    {.info = {.path = INTEROP_PATH("EmptyCall")}, .on_message = empty_call},
    {.info = {.path = INTEROP_PATH("UnaryCall")},
     .on_start = echo_metadata,
     .on_message = unary_call},
    {.info = {.path = INTEROP_PATH("CacheableUnaryCall")}, .on_message = unary_call},
    {.info = {.path = INTEROP_PATH("StreamingOutputCall"), .stream = METHOD_SERVER_STREAM},
     .on_start = echo_metadata,
     .on_message = streaming_output_call},
    {.info = {.path = INTEROP_PATH("StreamingInputCall"), .stream = METHOD_CLIENT_STREAM},
     .on_start = echo_metadata,
     .on_message = streaming_input_message,
     .on_half_close = streaming_input_end},
    {.info = {.path = INTEROP_PATH("FullDuplexCall"), .stream = METHOD_BIDI_STREAM},
     .on_start = echo_metadata,
     .on_message = full_duplex_message,
     .on_half_close = end_well},
    {.info = {.path = INTEROP_PATH("HalfDuplexCall"), .stream = METHOD_BIDI_STREAM},
     .on_start = echo_metadata,
     .on_message = half_duplex_message,
     .on_half_close = half_duplex_end},
};
const size_t interop_method_count = sizeof(interop_methods) / sizeof(interop_methods[0]);
