/*
 * contract.h: the `.proto` files as tables that protoc-gen-errata writes: messages with their
 * fields and rules, enums, methods, and the descriptors for reflection. Validation, JSON, dispatch,
 * stubs and reflection all use them, so they cannot disagree. Independent of protobuf-c and of the
 * transport.
 */
#ifndef ERRATA_SERVER_CODEC_CONTRACT_H
#define ERRATA_SERVER_CODEC_CONTRACT_H

#include "store/base/arena.h"

/* Numbers of google.protobuf.FieldDescriptorProto.Type. */
enum field_type {
    FIELD_DOUBLE = 1,
    FIELD_FLOAT = 2,
    FIELD_INT64 = 3,
    FIELD_UINT64 = 4,
    FIELD_INT32 = 5,
    FIELD_FIXED64 = 6,
    FIELD_FIXED32 = 7,
    FIELD_BOOL = 8,
    FIELD_STRING = 9,
    FIELD_MESSAGE = 11,
    FIELD_BYTES = 12,
    FIELD_UINT32 = 13,
    FIELD_ENUM = 14,
    FIELD_SFIXED32 = 15,
    FIELD_SFIXED64 = 16,
    FIELD_SINT32 = 17,
    FIELD_SINT64 = 18
};

/* Numbers of errata.options.Format. */
enum field_format {
    FORMAT_ANY = 0,
    FORMAT_OPAQUE_ID = 1,
    FORMAT_UUID = 2,
    FORMAT_JSON_OBJECT = 3,
    FORMAT_NAME = 4,
    FORMAT_PAGE_TOKEN = 5,
    FORMAT_KEY_ID = 6
};

/* Messages with a special form in proto JSON. */
enum message_well_known {
    MESSAGE_PLAIN,
    MESSAGE_TIMESTAMP,
    MESSAGE_DURATION,
    MESSAGE_STRUCT,
    MESSAGE_VALUE,
    MESSAGE_LIST_VALUE,
    MESSAGE_ANY,
    MESSAGE_FIELD_MASK,
    MESSAGE_WRAPPER,
    MESSAGE_EMPTY
};

struct enum_value_info {
    int32_t number;
    struct slice name; /* full name, such as FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED */
    struct slice short_name; /* name without the prefix of the type: MAPPING_CONFIRMED */
};

struct enum_info {
    struct slice full_name;
    const struct enum_value_info *values; /* values in ascending order of their numbers */
    uint32_t count;
    bool lower_case; /* plain JSON writes short names in lower case */
};

/* errata.options.FieldRules, and google.api.field_behavior. */
struct field_rules {
    int64_t min_value;
    int64_t max_value;
    uint32_t max_bytes;
    uint32_t max_items;
    enum field_format format;
    bool required; /* must be present, or not empty */
    bool output_only; /* a request that sets it is refused */
    bool content;
    bool not_future;
    bool not_negative;
};

/* Names of a field in plain JSON (proto_json.h); empty: there is none. */
struct field_plain {
    struct slice name; /* used instead of the name in the .proto */
    struct slice input_name; /* also accepted in requests */
    struct slice repeat; /* the name under which responses also have the value */
    bool is_json; /* the text is JSON, embedded as it is */
};

struct message_info;

struct field_info {
    struct slice name; /* name in the .proto: layout_fingerprint */
    struct slice json_name; /* layoutFingerprint */
    uint32_t number;
    enum field_type type;
    bool repeated;
    bool map; /* a map: `message` is its entry */
    bool packed; /* encoding of a repeated scalar when written; both encodings are read */
    bool optional; /* proto3 optional, or a member of a oneof: absence differs from the default */
    int16_t oneof; /* index in the message's real oneofs; -1: none */
    const struct message_info *message; /* message type of a FIELD_MESSAGE */
    const struct enum_info *enumeration; /* enum type of a FIELD_ENUM */
    const struct field_plain *plain; /* NULL: no special form in plain JSON */
    struct field_rules rules;
};

struct message_info {
    struct slice full_name; /* errata.v1.FeedbackEvent */
    const struct field_info *fields; /* fields in ascending order of their numbers */
    uint32_t count;
    enum message_well_known well_known;
};

enum method_stream {
    METHOD_UNARY,
    METHOD_SERVER_STREAM,
    METHOD_CLIENT_STREAM, /* several requests, one reply */
    METHOD_BIDI_STREAM /* used only by reflection */
};

enum method_transaction {
    METHOD_NO_TRANSACTION,
    METHOD_READ,
    METHOD_WRITE
};

enum method_stage {
    METHOD_STRAIGHT,
    METHOD_PREPARE,
    METHOD_PREPARE_ON_POOL,
    METHOD_PREPARE_DOCUMENT
};

/* The thread that executes a read. */
enum method_execution {
    METHOD_ON_LOOP,
    METHOD_ON_POOL,
    METHOD_BY_COST /* decided by the cost function */
};

/* A set of roles: bit (1 << number) of errata.v1.Role. */
typedef uint32_t role_set;

struct method_info {
    struct slice path; /* "/errata.v1.FeedbackService/CaptureFeedbackEvent" */
    struct slice service; /* "errata.v1.FeedbackService" */
    struct slice name; /* "CaptureFeedbackEvent" */
    const struct message_info *request;
    const struct message_info *reply;
    enum method_stream stream;
    enum method_transaction transaction;
    enum method_stage stage;
    enum method_execution execution;
    role_set roles; /* roles that may call the method; 0: none, unless `open` */
    role_set backfill_roles; /* roles among them that must set created_at */
    bool open; /* needs no token: only health and reflection */
    bool no_side_effects;
    bool outside_quotas; /* not counted by quotas of requests, if called with the server flag */
    uint32_t default_deadline_ms; /* 0: no default */
    uint16_t index; /* index in contract_methods and in the dispatch table */
};

/* Returns whether a successful call of the method has exactly one reply; other methods stream
 * replies. */
static inline bool method_has_one_reply(const struct method_info *method)
{
    return method->stream == METHOD_UNARY || method->stream == METHOD_CLIENT_STREAM;
}

/* Returns whether a call of the method has exactly one request message; other methods take any
 * number. */
static inline bool method_has_one_request(const struct method_info *method)
{
    return method->stream == METHOD_UNARY || method->stream == METHOD_SERVER_STREAM;
}

/* All methods, by path, ascending. */
extern const struct method_info contract_methods[];
extern const uint32_t contract_method_count;
/* All messages and enums, by full name, ascending. */
extern const struct message_info *const contract_messages[];
extern const uint32_t contract_message_count;
extern const struct enum_info *const contract_enums[];
extern const uint32_t contract_enum_count;

enum rest_verb {
    REST_GET,
    REST_POST
};

/* A segment of a path: a literal text, or the name of the request's field whose value it is. */
struct rest_segment {
    struct slice text;
    bool is_field;
};

/* An alias of a method in plain JSON, by its option google.api.http. */
struct rest_route {
    enum rest_verb verb;
    struct slice path; /* its template, such as /feedback/rules/{id}/toggle */
    const struct rest_segment *segments;
    uint32_t segment_count;
    const struct method_info *method;
    bool has_body; /* the body is the request, or its field `body` */
    struct slice body; /* empty: the whole request */
    struct slice
        response_body; /* the field of the reply that is the response; empty: the whole reply */
    const struct slice *members; /* the only members of the response; NULL: all members */
    uint32_t member_count;
};

/* All aliases, by path, ascending. */
extern const struct rest_route contract_routes[];
extern const uint32_t contract_route_count;

/* The descriptor of a file, as protoc writes it. */
struct contract_file {
    struct slice name; /* errata/v1/admin_service.proto */
    struct slice descriptor; /* encoded FileDescriptorProto */
    const uint16_t *dependencies; /* indices of the imported files */
    uint16_t dependency_count;
};

/* A name (of a service, method, message, enum, field or extension) with the file that defines
 * it. */
struct contract_symbol {
    struct slice name; /* full name such as errata.v1.FeedbackEvent, without a leading dot */
    uint16_t file;
};

/* An extension field (such as a custom option) with the file that defines it. */
struct contract_extension {
    struct slice extendee; /* the message that it extends, such as google.protobuf.MethodOptions */
    uint32_t number;
    uint16_t file;
};

/* All files, by name, ascending. */
extern const struct contract_file contract_files[];
extern const uint32_t contract_file_count;
extern const struct contract_symbol contract_symbols[]; /* sorted by name */
extern const uint32_t contract_symbol_count;
extern const struct contract_extension contract_extensions[]; /* sorted by message and number */
extern const uint32_t contract_extension_count;

/* Returns NULL if there is none. Written by hand, by binary search. */
const struct method_info *contract_find_method(struct slice path);
const struct message_info *contract_find_message(struct slice full_name);
const struct contract_symbol *contract_find_symbol(struct slice name);
const struct field_info *contract_find_field(const struct message_info *message, uint32_t number);
/* Returns the short names of an enum's values except its zero value, for an error: `A, B or C`.
 * After about 600 bytes the rest is `...`. Freed with the arena; empty without memory. */
struct slice contract_enum_words(struct arena *arena, const struct enum_info *enumeration);

#endif
