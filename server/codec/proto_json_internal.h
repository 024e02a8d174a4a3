/*
 * proto_json_internal.h: declarations shared by the files of the proto JSON converter: the
 * well-known types that are written as strings, and reading a scalar.
 */
#ifndef ERRATA_SERVER_CODEC_PROTO_JSON_INTERNAL_H
#define ERRATA_SERVER_CODEC_PROTO_JSON_INTERNAL_H

#include "server/codec/proto_json.h"
#include "server/codec/scalar.h"
#include "store/base/json.h"

/* Maximum seconds of a google.protobuf.Duration: about 10,000 years. */
#define DURATION_SECONDS_MAX INT64_C(315576000000)

/* A scalar in its wire form. */
struct scalar {
    uint64_t raw;
    struct slice bytes; /* bytes of a string or bytes field */
};

/* The reason why a value was refused; NULL if it was not. The text completes "NAME ...". */
struct refusal {
    const char *expected; /* the expected form, such as "a string" */
    bool no_memory;
};

/* google.protobuf.NullValue, which JSON writes as null. */
bool proto_json_is_null_value(const struct enum_info *enumeration);
/* Converts one JSON value to a scalar of this field's type. Texts are freed with the arena. False
 * with the reason. */
bool proto_json_scalar(struct arena *arena, const struct field_info *field, struct json_value value,
                       struct scalar *ret_scalar, struct refusal *ret_refusal);
/* Converts the key of a map, which is a string in JSON for every type. */
bool proto_json_key(struct arena *arena, const struct field_info *key, struct slice quoted,
                    struct scalar *ret_scalar, struct refusal *ret_refusal);

/* Write bytes, without quotes, and a floating-point number. */
void proto_json_put_base64(struct slice bytes, struct buffer *json);
void proto_json_put_double(enum field_type type, uint64_t raw, struct buffer *json);

/* proto_json_plain.c: differences of plain JSON. */
/* Returns the name of a field in responses. */
struct slice plain_name(const struct field_info *field);
/* Returns whether a quoted key is a name of the field that only plain JSON accepts. */
bool plain_key_is(struct slice quoted, const struct field_info *field);
/* Returns whether the field's text is JSON that is embedded. */
bool plain_is_json(const struct field_info *field);
/* Converts a value that only plain JSON accepts: an embedded object, an enum value in any case. */
bool plain_read_scalar(const struct field_info *field, struct json_value value,
                       struct scalar *ret_scalar);
/* Writes a value that differs in plain JSON; false if it does not. */
bool plain_write_scalar(const struct field_info *field, const struct wire_field *wire,
                        struct buffer *json);
/* Writes the value of an absent field. */
void plain_write_absent(const struct field_info *field, struct buffer *json);

/* Returns whether a message of this depth, the outer one is 1, has the field in plain JSON. */
bool plain_wants(const struct proto_json_style *style, size_t depth,
                 const struct field_info *field);

/* Timestamp, Duration and FieldMask: convert the string's content to the message's fields. */
bool known_read_timestamp(struct slice text, struct buffer *wire);
bool known_read_duration(struct slice text, struct buffer *wire);
bool known_read_field_mask(struct slice text, struct buffer *wire);
/* Convert the message's bytes to JSON text; false if they are not such a message. */
bool known_write_timestamp(struct slice wire, struct buffer *json);
bool known_write_duration(struct slice wire, struct buffer *json);
bool known_write_field_mask(struct slice wire, struct buffer *json);

#endif
