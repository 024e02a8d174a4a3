/*
 * proto_json_scalar.c: converts one JSON value to a scalar of a field's type. Numbers may be in
 * strings and in any notation of JSON, as long as the type can hold them.
 */
#include "server/codec/proto_json_internal.h"

#include "store/base/base64.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static bool refuse_value(struct refusal *refusal, const char *expected)
{
    refusal->expected = expected;
    return false;
}

static bool refuse_for_memory(struct refusal *refusal)
{
    refusal->no_memory = true;
    return refuse_value(refusal, "a value small enough for the available memory");
}

/* Returns the text of a number, unquoted; false if it is not a number. */
static bool number_text(struct arena *arena, struct json_value value, struct slice *ret_text)
{
    const struct json_rules rules = {0, false};
    struct json_value inner = {0};
    struct json_problem problem = {NULL, 0};
    struct slice content = {NULL, 0};

    if (value.kind == JSON_NUMBER) {
        *ret_text = value.text;
        return true;
    }
    if (value.kind != JSON_STRING || json_string(arena, value.text, &content) != OK ||
        json_check(arena, content, &rules, &inner, &problem) != OK) {
        return false;
    }
    *ret_text = content;
    return inner.kind == JSON_NUMBER && inner.text.size == content.size;
}

struct integer_range {
    int64_t least;
    uint64_t greatest;
    const char *expected;
};

static struct integer_range range_of(enum field_type type)
{
    switch (type) {
    case FIELD_INT32:
    case FIELD_SFIXED32:
    case FIELD_SINT32:
    case FIELD_ENUM:
        return (struct integer_range){INT32_MIN, INT32_MAX,
                                      "an integer from -2147483648 to 2147483647"};
    case FIELD_UINT32:
    case FIELD_FIXED32:
        return (struct integer_range){0, UINT32_MAX, "an integer from 0 to 4294967295"};
    case FIELD_UINT64:
    case FIELD_FIXED64:
        return (struct integer_range){0, UINT64_MAX, "an integer from 0 to 18446744073709551615"};
    case FIELD_INT64:
    case FIELD_SFIXED64:
    case FIELD_SINT64:
    case FIELD_DOUBLE:
    case FIELD_FLOAT:
    case FIELD_BOOL:
    case FIELD_STRING:
    case FIELD_MESSAGE:
    case FIELD_BYTES:
        break;
    }
    return (struct integer_range){INT64_MIN, INT64_MAX,
                                  "an integer from -9223372036854775808 to 9223372036854775807"};
}

static bool read_integer(enum field_type type, struct slice number, struct scalar *ret_scalar,
                         struct refusal *refusal)
{
    struct integer_range range = range_of(type);
    bool is_negative = false;
    uint64_t magnitude = 0;

    if (!json_integer(number, &is_negative, &magnitude)) {
        return refuse_value(refusal, range.expected);
    }
    if (is_negative ? magnitude > (uint64_t)0 - (uint64_t)range.least
                    : magnitude > range.greatest) {
        return refuse_value(refusal, range.expected);
    }
    if (is_negative) {
        magnitude = (uint64_t)0 - magnitude;
    }
    ret_scalar->raw = scalar_is_unsigned64(type) ? magnitude : scalar_raw(type, (int64_t)magnitude);
    return true;
}

/* Reads NaN and the infinities, which are strings. */
static bool read_named_double(struct slice quoted, double *ret_number)
{
    if (json_key_is(quoted, SLICE("NaN"))) {
        *ret_number = (double)NAN;
    } else if (json_key_is(quoted, SLICE("Infinity"))) {
        *ret_number = (double)INFINITY;
    } else if (json_key_is(quoted, SLICE("-Infinity"))) {
        *ret_number = -(double)INFINITY;
    } else {
        return false;
    }
    return true;
}

static bool read_floating(struct arena *arena, enum field_type type, struct json_value value,
                          struct scalar *ret_scalar, struct refusal *refusal)
{
    struct slice text = {NULL, 0};
    struct slice terminated = {NULL, 0};
    double number = 0;
    double limit = type == FIELD_FLOAT ? (double)FLT_MAX : DBL_MAX;

    if (value.kind == JSON_STRING && read_named_double(value.text, &number)) {
        ret_scalar->raw = scalar_raw_double(type, number);
        return true;
    }
    if (!number_text(arena, value, &text)) {
        return refuse_value(refusal, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
    }
    if (!arena_copy(arena, text, &terminated)) {
        return refuse_for_memory(refusal);
    }
    number = strtod((const char *)terminated.data, NULL);
    if (number > limit || number < -limit) {
        return refuse_value(refusal, type == FIELD_FLOAT ? "a number that fits into 32 bits"
                                                         : "a number that fits into 64 bits");
    }
    ret_scalar->raw = scalar_raw_double(type, number);
    return true;
}

/* Finds an enum value by its full name or short word. */
static bool find_word(const struct enum_info *enumeration, struct slice quoted, int32_t *ret_number)
{
    for (uint32_t i = 0; i < enumeration->count; i++) {
        const struct enum_value_info *known = &enumeration->values[i];

        if (json_key_is(quoted, known->name) || json_key_is(quoted, known->short_name)) {
            *ret_number = known->number;
            return true;
        }
    }
    return false;
}

bool proto_json_is_null_value(const struct enum_info *enumeration)
{
    return slice_equal(enumeration->full_name, SLICE("google.protobuf.NullValue"));
}

static bool read_enum(const struct field_info *field, struct json_value value,
                      struct scalar *ret_scalar, struct refusal *refusal)
{
    int32_t number = 0;

    if (value.kind == JSON_NUMBER) {
        return read_integer(FIELD_ENUM, value.text, ret_scalar, refusal);
    }
    if (value.kind == JSON_NULL && proto_json_is_null_value(field->enumeration)) {
        return true;
    }
    if (value.kind != JSON_STRING || !find_word(field->enumeration, value.text, &number)) {
        return refuse_value(refusal, "a known value");
    }
    ret_scalar->raw = scalar_raw(FIELD_ENUM, number);
    return true;
}

static bool read_string(struct arena *arena, struct json_value value, struct scalar *ret_scalar,
                        struct refusal *refusal)
{
    if (value.kind != JSON_STRING) {
        return refuse_value(refusal, "a string");
    }
    return json_string(arena, value.text, &ret_scalar->bytes) == OK || refuse_for_memory(refusal);
}

static bool read_bytes(struct arena *arena, struct json_value value, struct scalar *ret_scalar,
                       struct refusal *refusal)
{
    struct slice text = {NULL, 0};
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (value.kind != JSON_STRING) {
        return refuse_value(refusal, "a string of base64");
    }
    if (json_string(arena, value.text, &text) != OK) {
        return refuse_for_memory(refusal);
    }
    bytes = arena_alloc(arena, text.size + 1);
    if (bytes == NULL) {
        return refuse_for_memory(refusal);
    }
    if (!base64_read(text, BASE64_STANDARD | BASE64_URL | BASE64_PADDED, bytes, &size)) {
        return refuse_value(refusal, "a string of base64");
    }
    ret_scalar->bytes = slice_of(bytes, size);
    return true;
}

bool proto_json_scalar(struct arena *arena, const struct field_info *field, struct json_value value,
                       struct scalar *ret_scalar, struct refusal *ret_refusal)
{
    struct slice number = {NULL, 0};

    *ret_scalar = (struct scalar){0};
    switch (field->type) {
    case FIELD_BOOL:
        ret_scalar->raw = value.kind == JSON_TRUE;
        return value.kind == JSON_TRUE || value.kind == JSON_FALSE ||
               refuse_value(ret_refusal, "true or false");
    case FIELD_STRING:
        return read_string(arena, value, ret_scalar, ret_refusal);
    case FIELD_BYTES:
        return read_bytes(arena, value, ret_scalar, ret_refusal);
    case FIELD_ENUM:
        return read_enum(field, value, ret_scalar, ret_refusal);
    case FIELD_DOUBLE:
    case FIELD_FLOAT:
        return read_floating(arena, field->type, value, ret_scalar, ret_refusal);
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_INT32:
    case FIELD_FIXED64:
    case FIELD_FIXED32:
    case FIELD_UINT32:
    case FIELD_SFIXED32:
    case FIELD_SFIXED64:
    case FIELD_SINT32:
    case FIELD_SINT64:
    case FIELD_MESSAGE:
        break;
    }
    return number_text(arena, value, &number)
               ? read_integer(field->type, number, ret_scalar, ret_refusal)
               : refuse_value(ret_refusal, range_of(field->type).expected);
}

bool proto_json_key(struct arena *arena, const struct field_info *key, struct slice quoted,
                    struct scalar *ret_scalar, struct refusal *ret_refusal)
{
    struct json_value value = {JSON_STRING, quoted};

    if (key->type == FIELD_BOOL) {
        *ret_scalar = (struct scalar){.raw = json_key_is(quoted, SLICE("true"))};
        return ret_scalar->raw == 1 || json_key_is(quoted, SLICE("false")) ||
               refuse_value(ret_refusal, "the key \"true\" or \"false\"");
    }
    return proto_json_scalar(arena, key, value, ret_scalar, ret_refusal);
}

void proto_json_put_base64(struct slice bytes, struct buffer *json)
{
    if (buffer_reserve(json, BASE64_PADDED_BYTES(bytes.size))) {
        json->size += base64_write(bytes, BASE64_STANDARD | BASE64_PADDED, json->data + json->size);
    }
}

void proto_json_put_double(enum field_type type, uint64_t raw, struct buffer *json)
{
    double number = scalar_double(type, raw);

    if (isnan(number)) {
        buffer_append(json, SLICE("\"NaN\""));
    } else if (isinf(number)) {
        buffer_append(json, number > 0 ? SLICE("\"Infinity\"") : SLICE("\"-Infinity\""));
    } else if (type == FIELD_FLOAT) {
        json_write_float(json, (float)number);
    } else {
        json_write_double(json, number);
    }
}
