/*
 * proto_json_internal.h: declarations shared by the files of the proto JSON converter: the
 * well-known types that are written as strings, and reading a scalar.
 */
#ifndef ERRATA_SERVER_CODEC_PROTO_JSON_INTERNAL_H
#define ERRATA_SERVER_CODEC_PROTO_JSON_INTERNAL_H

#include "server/codec/proto_json.h"
#include "server/codec/scalar.h"
#include "store/base/json.h"

/* Seconds of a google.protobuf.Duration: about 10,000 years. */
#define DURATION_SECONDS_MAX INT64_C(315576000000)

/* A scalar in its wire form. */
struct scalar {
    uint64_t raw;
    struct slice bytes; /* bytes of a string or bytes field */
};

/* Why a value was refused: NULL if it was not. The text completes "NAME ...". */
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

/* Timestamp, Duration and FieldMask: convert the string's content to the message's fields. */
bool known_read_timestamp(struct slice text, struct buffer *wire);
bool known_read_duration(struct slice text, struct buffer *wire);
bool known_read_field_mask(struct slice text, struct buffer *wire);
/* Convert the message's bytes to JSON text; false if they are not such a message. */
bool known_write_timestamp(struct slice wire, struct buffer *json);
bool known_write_duration(struct slice wire, struct buffer *json);
bool known_write_field_mask(struct slice wire, struct buffer *json);

#endif
