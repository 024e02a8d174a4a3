/*
 * proto_json_plain.c: the differences of plain JSON from proto JSON: names, enum values, 64-bit
 * integers, JSON texts, and absent fields.
 */
#include "server/codec/proto_json_internal.h"

#include <inttypes.h>

struct slice plain_name(const struct field_info *field)
{
    return field->plain != NULL && field->plain->name.size > 0 ? field->plain->name : field->name;
}

bool plain_key_is(struct slice quoted, const struct field_info *field)
{
    const struct field_plain *plain = field->plain;

    return plain != NULL &&
           ((plain->name.size > 0 && json_key_is(quoted, plain->name)) ||
            (plain->input_name.size > 0 && json_key_is(quoted, plain->input_name)));
}

bool plain_is_json(const struct field_info *field)
{
    return field->type == FIELD_STRING && (field->rules.format == FORMAT_JSON_OBJECT ||
                                           (field->plain != NULL && field->plain->is_json));
}

static uint8_t lower_of(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

/* Compares a quoted text without escapes with a name, without regard to case. */
static bool is_word(struct slice quoted, struct slice name)
{
    if (quoted.size != name.size + 2) {
        return false;
    }
    for (size_t i = 0; i < name.size; i++) {
        if (lower_of(quoted.data[i + 1]) != lower_of(name.data[i])) {
            return false;
        }
    }
    return true;
}

bool plain_read_scalar(const struct field_info *field, struct json_value value,
                       struct scalar *ret_scalar)
{
    if (plain_is_json(field) && value.kind == JSON_OBJECT) {
        *ret_scalar = (struct scalar){.bytes = value.text};
        return true;
    }
    if (field->type != FIELD_ENUM || value.kind != JSON_STRING) {
        return false;
    }
    for (uint32_t i = 0; i < field->enumeration->count; i++) {
        if (is_word(value.text, field->enumeration->values[i].short_name)) {
            *ret_scalar = (struct scalar){
                .raw = scalar_raw(FIELD_ENUM, field->enumeration->values[i].number)};
            return true;
        }
    }
    return false;
}

static void write_enum(const struct enum_info *enumeration, int64_t number, struct buffer *json)
{
    for (uint32_t i = 0; i < enumeration->count && number != 0; i++) {
        const struct enum_value_info *known = &enumeration->values[i];

        if (known->number != number) {
            continue;
        }
        buffer_append_byte(json, '"');
        for (size_t at = 0; at < known->short_name.size; at++) {
            uint8_t byte = known->short_name.data[at];

            buffer_append_byte(json, enumeration->lower_case ? lower_of(byte) : byte);
        }
        buffer_append_byte(json, '"');
        return;
    }
    if (number == 0) {
        buffer_append(json, SLICE("null"));
    } else {
        buffer_printf(json, "%" PRId64, number);
    }
}

bool plain_write_scalar(const struct field_info *field, const struct wire_field *wire,
                        struct buffer *json)
{
    enum field_type type = field->type;

    if (type == FIELD_ENUM) {
        write_enum(field->enumeration, scalar_signed(type, wire->value), json);
    } else if (type == FIELD_UINT64 || type == FIELD_FIXED64) {
        buffer_printf(json, "%" PRIu64, wire->value);
    } else if (type == FIELD_INT64 || type == FIELD_SFIXED64 || type == FIELD_SINT64) {
        buffer_printf(json, "%" PRId64, scalar_signed(type, wire->value));
    } else if (plain_is_json(field)) {
        buffer_append(json, wire->bytes.size > 0 ? wire->bytes : SLICE("null"));
    } else {
        return false;
    }
    return true;
}

void plain_write_absent(const struct field_info *field, struct buffer *json)
{
    if (field->repeated) {
        buffer_append(json, field->map ? SLICE("{}") : SLICE("[]"));
        return;
    }
    if (field->optional || field->type == FIELD_MESSAGE || field->type == FIELD_ENUM ||
        plain_is_json(field)) {
        buffer_append(json, SLICE("null"));
        return;
    }
    if (field->type == FIELD_STRING || field->type == FIELD_BYTES) {
        buffer_append(json, SLICE("\"\""));
        return;
    }
    buffer_append(json, field->type == FIELD_BOOL ? SLICE("false") : SLICE("0"));
}

bool plain_wants(const struct proto_json_style *style, size_t depth, const struct field_info *field)
{
    for (uint32_t i = 0; i < style->member_count && depth == 1; i++) {
        if (slice_equal(style->members[i], field->name)) {
            return true;
        }
    }
    return style->member_count == 0 || depth > 1;
}
