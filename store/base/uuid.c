/*
 * uuid.c: UUIDv7 (RFC 9562, 5.7, with the sub-millisecond fraction of 6.2, method 3).
 */
#include "store/base/uuid.h"

#include "store/base/bytes.h"
#include "store/base/hex.h"

void uuid_v7_put_time(struct uuid *uuid, int64_t wall_us)
{
    uint64_t us = wall_us > 0 ? (uint64_t)wall_us : 0;
    uint64_t fraction = us % 1000 * 4096 / 1000;

    bytes_put_be64(uuid->bytes, us / 1000 << 16 | 0x7000 | fraction);
}

struct uuid uuid_v7(int64_t wall_us, struct random *random)
{
    struct uuid uuid = {{0}};

    random_fill(random, uuid.bytes + UUID_TIME_BYTES, UUID_BYTES - UUID_TIME_BYTES);
    uuid_v7_put_time(&uuid, wall_us);
    uuid.bytes[8] = (uint8_t)(0x80 | (uuid.bytes[8] & 0x3f));
    return uuid;
}

struct uuid uuid_v7_next(struct uuid previous, struct random *random)
{
    const uint64_t tail_mask = (1ull << 62) - 1;
    struct uuid uuid = previous;
    uint8_t drawn[2];
    uint64_t tail = bytes_get_be64(previous.bytes + 8) & tail_mask;

    random_fill(random, drawn, sizeof(drawn));
    tail += 1u + ((uint32_t)drawn[0] << 8 | drawn[1]);
    if (tail > tail_mask) {
        /* The 12 bits of the fraction and the 48 of the milliseconds, with the version between
         * them. */
        uint64_t head = bytes_get_be64(previous.bytes);
        uint64_t time = (head >> 16 << 12 | (head & 0xfff)) + 1;

        bytes_put_be64(uuid.bytes, time >> 12 << 16 | 0x7000 | (time & 0xfff));
        tail &= tail_mask;
    }
    bytes_put_be64(uuid.bytes + 8, 1ull << 63 | tail);
    return uuid;
}

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

typedef uint8_t sixteen __attribute__((vector_size(16)));

static sixteen digits_of(sixteen values)
{
    return values + '0' + ((sixteen)(values > 9) & ('a' - '0' - 10));
}

/* All digits at once: a lookup writes the id of each example. */
void uuid_format(struct uuid uuid, char text[UUID_TEXT_BYTES])
{
    sixteen bytes;
    sixteen upper;
    sixteen lower;
    sixteen digits[2];
    const char *digit = (const char *)digits;

    memcpy(&bytes, uuid.bytes, sizeof(bytes));
    upper = digits_of(bytes >> 4);
    lower = digits_of(bytes & 15);
    digits[0] = __builtin_shufflevector(upper, lower, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                        22, 7, 23);
    digits[1] = __builtin_shufflevector(upper, lower, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                        14, 30, 15, 31);
    memcpy(text, digit, 8);
    text[8] = '-';
    memcpy(text + 9, digit + 8, 4);
    text[13] = '-';
    memcpy(text + 14, digit + 12, 4);
    text[18] = '-';
    memcpy(text + 19, digit + 16, 4);
    text[23] = '-';
    memcpy(text + 24, digit + 20, 12);
}

bool uuid_parse(struct slice text, struct uuid *ret_uuid)
{
    struct uuid uuid = {{0}};
    size_t nibbles = 0;

    if (text.size != UUID_TEXT_BYTES) {
        return false;
    }
    for (size_t at = 0; at < UUID_TEXT_BYTES; at++) {
        int value = hex_value(text.data[at]);

        if (is_dash(at) != (text.data[at] == '-') || (value < 0 && !is_dash(at))) {
            return false;
        }
        if (!is_dash(at)) {
            uuid.bytes[nibbles / 2] = (uint8_t)(uuid.bytes[nibbles / 2] << 4 | value);
            nibbles++;
        }
    }
    *ret_uuid = uuid;
    return true;
}
