/*
 * conformance_tables.c: see conformance_tables.h. Written by hand, of what the suite's JSON has: raw responses are
 * for reference servers only. The linker replaces calls of contract_find_message by the function below, so that the
 * codec finds the messages that an Any of the suite has (tests.cmake).
 */
#include "tests/suites/conformance_tables.h"

#define PACKAGE "connectrpc.conformance.v1."
#define TEXT(literal)                                                                              \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }
#define NAMED(field_name, field_json_name, field_number, field_type)                               \
    .name = TEXT(field_name), .json_name = TEXT(field_json_name), .number = (field_number),        \
    .type = (field_type)
#define FIELD(...) NAMED(__VA_ARGS__), .oneof = -1
/* A member of the message's only oneof. */
#define MEMBER(...) NAMED(__VA_ARGS__), .oneof = 0, .optional = true
#define COUNT_OF(table) (uint32_t)(sizeof(table) / sizeof((table)[0]))
#define MESSAGE(message_name, table)                                                               \
    {                                                                                              \
        TEXT(PACKAGE message_name), table, COUNT_OF(table), MESSAGE_PLAIN                          \
    }

static const struct enum_value_info code_values[] = {
    {0, TEXT("CODE_UNSPECIFIED"), TEXT("UNSPECIFIED")},
    {1, TEXT("CODE_CANCELED"), TEXT("CANCELED")},
    {2, TEXT("CODE_UNKNOWN"), TEXT("UNKNOWN")},
    {3, TEXT("CODE_INVALID_ARGUMENT"), TEXT("INVALID_ARGUMENT")},
    {4, TEXT("CODE_DEADLINE_EXCEEDED"), TEXT("DEADLINE_EXCEEDED")},
    {5, TEXT("CODE_NOT_FOUND"), TEXT("NOT_FOUND")},
    {6, TEXT("CODE_ALREADY_EXISTS"), TEXT("ALREADY_EXISTS")},
    {7, TEXT("CODE_PERMISSION_DENIED"), TEXT("PERMISSION_DENIED")},
    {8, TEXT("CODE_RESOURCE_EXHAUSTED"), TEXT("RESOURCE_EXHAUSTED")},
    {9, TEXT("CODE_FAILED_PRECONDITION"), TEXT("FAILED_PRECONDITION")},
    {10, TEXT("CODE_ABORTED"), TEXT("ABORTED")},
    {11, TEXT("CODE_OUT_OF_RANGE"), TEXT("OUT_OF_RANGE")},
    {12, TEXT("CODE_UNIMPLEMENTED"), TEXT("UNIMPLEMENTED")},
    {13, TEXT("CODE_INTERNAL"), TEXT("INTERNAL")},
    {14, TEXT("CODE_UNAVAILABLE"), TEXT("UNAVAILABLE")},
    {15, TEXT("CODE_DATA_LOSS"), TEXT("DATA_LOSS")},
    {16, TEXT("CODE_UNAUTHENTICATED"), TEXT("UNAUTHENTICATED")},
};
static const struct enum_info code = {TEXT(PACKAGE "Code"), code_values, COUNT_OF(code_values),
                                      false};

static const struct field_info any_fields[] = {
    {FIELD("type_url", "typeUrl", 1, FIELD_STRING)},
    {FIELD("value", "value", 2, FIELD_BYTES)},
};
static const struct message_info any = {TEXT("google.protobuf.Any"), any_fields,
                                        COUNT_OF(any_fields), MESSAGE_ANY};

static const struct field_info header_fields[] = {
    {FIELD("name", "name", 1, FIELD_STRING)},
    {FIELD("value", "value", 2, FIELD_STRING), .repeated = true},
};
static const struct message_info header = MESSAGE("Header", header_fields);

static const struct field_info error_fields[] = {
    {FIELD("code", "code", 1, FIELD_ENUM), .enumeration = &code},
    {FIELD("message", "message", 2, FIELD_STRING), .optional = true},
    {FIELD("details", "details", 3, FIELD_MESSAGE), .message = &any, .repeated = true},
};
static const struct message_info error = MESSAGE("Error", error_fields);

static const struct field_info unary_definition_fields[] = {
    {FIELD("response_headers", "responseHeaders", 1, FIELD_MESSAGE), .message = &header,
     .repeated = true},
    {MEMBER("response_data", "responseData", 2, FIELD_BYTES)},
    {MEMBER("error", "error", 3, FIELD_MESSAGE), .message = &error},
    {FIELD("response_trailers", "responseTrailers", 4, FIELD_MESSAGE), .message = &header,
     .repeated = true},
    {FIELD("response_delay_ms", "responseDelayMs", 6, FIELD_UINT32)},
};
static const struct message_info unary_definition =
    MESSAGE("UnaryResponseDefinition", unary_definition_fields);

static const struct field_info stream_definition_fields[] = {
    {FIELD("response_headers", "responseHeaders", 1, FIELD_MESSAGE), .message = &header,
     .repeated = true},
    {FIELD("response_data", "responseData", 2, FIELD_BYTES), .repeated = true},
    {FIELD("response_delay_ms", "responseDelayMs", 3, FIELD_UINT32)},
    {FIELD("error", "error", 4, FIELD_MESSAGE), .message = &error},
    {FIELD("response_trailers", "responseTrailers", 5, FIELD_MESSAGE), .message = &header,
     .repeated = true},
};
static const struct message_info stream_definition =
    MESSAGE("StreamResponseDefinition", stream_definition_fields);

static const struct field_info unary_fields[] = {
    {FIELD("response_definition", "responseDefinition", 1, FIELD_MESSAGE),
     .message = &unary_definition},
    {FIELD("request_data", "requestData", 2, FIELD_BYTES)},
};
static const struct field_info stream_fields[] = {
    {FIELD("response_definition", "responseDefinition", 1, FIELD_MESSAGE),
     .message = &stream_definition},
    {FIELD("request_data", "requestData", 2, FIELD_BYTES)},
};
static const struct field_info bidi_fields[] = {
    {FIELD("response_definition", "responseDefinition", 1, FIELD_MESSAGE),
     .message = &stream_definition},
    {FIELD("full_duplex", "fullDuplex", 2, FIELD_BOOL)},
    {FIELD("request_data", "requestData", 3, FIELD_BYTES)},
};

const struct message_info conformance_unary_request = MESSAGE("UnaryRequest", unary_fields);
const struct message_info conformance_idempotent_request =
    MESSAGE("IdempotentUnaryRequest", unary_fields);
const struct message_info conformance_client_stream_request =
    MESSAGE("ClientStreamRequest", unary_fields);
const struct message_info conformance_server_stream_request =
    MESSAGE("ServerStreamRequest", stream_fields);
const struct message_info conformance_bidi_request = MESSAGE("BidiStreamRequest", bidi_fields);

static const struct field_info get_info_fields[] = {
    {FIELD("query_params", "queryParams", 1, FIELD_MESSAGE), .message = &header, .repeated = true},
};
static const struct message_info get_info =
    MESSAGE("ConformancePayload.ConnectGetInfo", get_info_fields);

static const struct field_info info_fields[] = {
    {FIELD("request_headers", "requestHeaders", 1, FIELD_MESSAGE), .message = &header,
     .repeated = true},
    {FIELD("timeout_ms", "timeoutMs", 2, FIELD_INT64), .optional = true},
    {FIELD("requests", "requests", 3, FIELD_MESSAGE), .message = &any, .repeated = true},
    {FIELD("connect_get_info", "connectGetInfo", 4, FIELD_MESSAGE), .message = &get_info},
};
static const struct message_info info = MESSAGE("ConformancePayload.RequestInfo", info_fields);

static const struct field_info payload_fields[] = {
    {FIELD("data", "data", 1, FIELD_BYTES)},
    {FIELD("request_info", "requestInfo", 2, FIELD_MESSAGE), .message = &info},
};
static const struct message_info payload = MESSAGE("ConformancePayload", payload_fields);

static const struct field_info response_fields[] = {
    {FIELD("payload", "payload", 1, FIELD_MESSAGE), .message = &payload},
};
const struct message_info conformance_response = MESSAGE("UnaryResponse", response_fields);

/* The messages that an Any of the suite may have. */
static const struct message_info *const any_messages[] = {
    &conformance_unary_request,
    &conformance_idempotent_request,
    &conformance_server_stream_request,
    &conformance_client_stream_request,
    &conformance_bidi_request,
    &header,
    &info,
};

const struct message_info *__real_contract_find_message(struct slice full_name);
const struct message_info *__wrap_contract_find_message(struct slice full_name);

const struct message_info *__wrap_contract_find_message(struct slice full_name)
{
    for (size_t i = 0; i < COUNT_OF(any_messages); i++) {
        if (slice_equal(any_messages[i]->full_name, full_name)) {
            return any_messages[i];
        }
    }
    return __real_contract_find_message(full_name);
}
