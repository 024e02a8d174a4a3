/*
 * scalar.c: the encoding rules (protobuf.dev/programming-guides/encoding) as tables with one row
 * per type.
 */
#include "server/codec/scalar.h"

enum wire_type scalar_wire_type(enum field_type type)
{
    switch (type) {
    case FIELD_DOUBLE:
    case FIELD_FIXED64:
    case FIELD_SFIXED64:
        return WIRE_FIXED64;
    case FIELD_FLOAT:
    case FIELD_FIXED32:
    case FIELD_SFIXED32:
        return WIRE_FIXED32;
    case FIELD_STRING:
    case FIELD_MESSAGE:
    case FIELD_BYTES:
        return WIRE_BYTES;
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_INT32:
    case FIELD_BOOL:
    case FIELD_UINT32:
    case FIELD_ENUM:
    case FIELD_SINT32:
    case FIELD_SINT64:
        return WIRE_VARINT;
    }
    return WIRE_VARINT;
}

bool scalar_is_packable(enum field_type type)
{
    return scalar_wire_type(type) != WIRE_BYTES;
}

bool scalar_is_unsigned64(enum field_type type)
{
    return type == FIELD_UINT64 || type == FIELD_FIXED64;
}

bool scalar_is_floating(enum field_type type)
{
    return type == FIELD_DOUBLE || type == FIELD_FLOAT;
}

static int64_t unzigzag(uint64_t raw)
{
    return (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
}

int64_t scalar_signed(enum field_type type, uint64_t raw)
{
    switch (type) {
    case FIELD_INT32:
    case FIELD_ENUM:
    case FIELD_SFIXED32:
        return (int32_t)(uint32_t)raw;
    case FIELD_UINT32:
    case FIELD_FIXED32:
        return (int64_t)(uint32_t)raw;
    case FIELD_SINT32:
        return unzigzag((uint32_t)raw);
    case FIELD_SINT64:
        return unzigzag(raw);
    case FIELD_BOOL:
        return raw != 0;
    case FIELD_INT64:
    case FIELD_SFIXED64:
    case FIELD_UINT64:
    case FIELD_FIXED64:
    case FIELD_DOUBLE:
    case FIELD_FLOAT:
    case FIELD_STRING:
    case FIELD_MESSAGE:
    case FIELD_BYTES:
        return (int64_t)raw;
    }
    return (int64_t)raw;
}

double scalar_double(enum field_type type, uint64_t raw)
{
    uint32_t low = (uint32_t)raw;
    double number = 0;
    float single = 0;

    if (type == FIELD_FLOAT) {
        memcpy(&single, &low, sizeof(single));
        return (double)single;
    }
    memcpy(&number, &raw, sizeof(number));
    return number;
}

uint64_t scalar_raw(enum field_type type, int64_t number)
{
    if (type == FIELD_SINT32 || type == FIELD_SINT64) {
        return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    }
    if (type == FIELD_FIXED32 || type == FIELD_SFIXED32) {
        return (uint32_t)number;
    }
    return (uint64_t)number;
}

uint64_t scalar_raw_double(enum field_type type, double number)
{
    uint64_t raw = 0;

    if (type == FIELD_FLOAT) {
        float single = (float)number;
        uint32_t low = 0;

        memcpy(&low, &single, sizeof(low));
        return low;
    }
    memcpy(&raw, &number, sizeof(raw));
    return raw;
}
