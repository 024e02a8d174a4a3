/*
 * json_write.c: strings, compact values and doubles. Doubles are written as Python's repr writes
 * them: the shortest digits that read back, found by trying; the C library rounds exactly in both
 * directions. The program never sets a locale, so the point is a point.
 */
#include "store/base/json_internal.h"

#include "store/base/hex.h"
#include "store/base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLACEMENT 0xfffd
/* "-d.dddddddddddddddde-308" and spare. */
#define DOUBLE_TEXT_BYTES 40
#define DIGITS_MAX 17
/* Room that put_words needs for a word: eight bytes, each escaped, and the bytes that the last copy replaces. */
#define WORD_ROOM_BYTES (8 + 8 + 8)

_Static_assert(JSON_STRING_ROOM_BYTES == 2 + WORD_ROOM_BYTES, "two quotes, and the last word");

static void put_unit(struct buffer *buffer, uint32_t unit)
{
    const char text[6] = {
        '\\',           'u', hex_digit(unit >> 12), hex_digit(unit >> 8), hex_digit(unit >> 4),
        hex_digit(unit)};

    buffer_append(buffer, slice_of(text, sizeof(text)));
}

static void put_escaped(struct buffer *buffer, uint32_t code_point)
{
    switch (code_point) {
    case '"':
        buffer_append(buffer, SLICE("\\\""));
        return;
    case '\\':
        buffer_append(buffer, SLICE("\\\\"));
        return;
    case '\b':
        buffer_append(buffer, SLICE("\\b"));
        return;
    case '\f':
        buffer_append(buffer, SLICE("\\f"));
        return;
    case '\n':
        buffer_append(buffer, SLICE("\\n"));
        return;
    case '\r':
        buffer_append(buffer, SLICE("\\r"));
        return;
    case '\t':
        buffer_append(buffer, SLICE("\\t"));
        return;
    default:
        break;
    }
    if (code_point >= 0x10000) {
        put_unit(buffer, 0xd800 + ((code_point - 0x10000) >> 10));
        put_unit(buffer, 0xdc00 + ((code_point - 0x10000) & 0x3ff));
    } else {
        put_unit(buffer, code_point);
    }
}

static bool is_plain(uint8_t byte, bool ascii)
{
    if (byte < 0x20 || byte == '"' || byte == '\\') {
        return false;
    }
    return byte < (ascii ? 0x7f : 0x80);
}

/* Writes one code point that may need escaping; invalid bytes become U+FFFD. Returns how many bytes
 * were used. */
static size_t put_code_point(struct buffer *buffer, struct slice rest, bool ascii)
{
    size_t bytes = 0;
    size_t at = 0;

    if (rest.data[0] < 0x7f) {
        put_escaped(buffer, rest.data[0]);
        return 1;
    }
    bytes = text_sequence_bytes(rest);
    if (bytes == 0) {
        if (ascii) {
            put_unit(buffer, REPLACEMENT);
        } else {
            buffer_append(buffer, SLICE("\xef\xbf\xbd"));
        }
        return 1;
    }
    if (!ascii && (bytes > 1 || rest.data[0] == 0x7f)) {
        buffer_append(buffer, slice_of(rest.data, bytes));
        return bytes;
    }
    put_escaped(buffer, text_next(rest, &at));
    return bytes;
}

/* As json_mark_zero, without false marks. */
static uint64_t mark_each_zero(uint64_t word)
{
    uint64_t low = (word & JSON_EACH_BYTE(0x7f)) + JSON_EACH_BYTE(0x7f);

    return ~(low | word | JSON_EACH_BYTE(0x7f));
}

/* Copies the first `bits` of a word, with a backslash before each byte that `escapes` marks. Returns the end. */
static inline uint8_t *put_word(uint8_t *to, uint64_t word, uint64_t escapes, unsigned bits)
{
    unsigned done = 0; /* bits of the word that are copied */

    for (; escapes != 0; escapes &= escapes - 1) {
        unsigned escape = (unsigned)__builtin_ctzll(escapes) & ~7u;
        uint64_t rest = word >> done;

        memcpy(to, &rest, sizeof(rest)); /* bytes from the escape on are replaced */
        to += (escape - done) / 8;
        *to++ = '\\';
        done = escape;
    }
    word >>= done;
    memcpy(to, &word, sizeof(word));
    return to + (bits - done) / 8;
}

/* Copies words of eight bytes from `at` on while there is room for one, with an escape before each quote and backslash.
 * Returns the index of the first byte that it leaves: another byte that may need escaping, or one of the last seven. */
static size_t put_words(struct buffer *buffer, struct slice text, size_t at, bool ascii)
{
    uint8_t *to = buffer->data + buffer->size;
    const uint8_t *end = buffer->data + buffer->capacity;

    while (text.size - at >= 8 && end - to >= WORD_ROOM_BYTES) {
        uint64_t word = 0;
        uint64_t escapes = 0;
        uint64_t others = 0;

        memcpy(&word, text.data + at, sizeof(word));
        others = ((word - JSON_EACH_BYTE(0x20)) & ~word) | word;
        others = (others & JSON_EACH_BYTE(0x80)) |
                 (ascii ? json_mark_zero(word ^ JSON_EACH_BYTE(0x7f)) : 0);
        escapes = mark_each_zero(word ^ JSON_EACH_BYTE('"')) |
                  mark_each_zero(word ^ JSON_EACH_BYTE('\\'));
        if (others != 0) {
            /* The lowest mark is never a false one. */
            unsigned bits = (unsigned)__builtin_ctzll(others) & ~7u;

            to = put_word(to, word, escapes & (((uint64_t)1 << bits) - 1), bits);
            at += bits / 8;
            break;
        }
        to = put_word(to, word, escapes, 64);
        at += 8;
    }
    buffer->size = (size_t)(to - buffer->data);
    return at;
}

void json_write_string(struct buffer *buffer, struct slice text, bool ascii)
{
    size_t at = 0;

    /* Text without escapes then never makes the buffer grow while it is copied. */
    if (!buffer_reserve(buffer, text.size + JSON_STRING_ROOM_BYTES)) {
        return;
    }
    buffer_append_byte(buffer, '"');
    while (at < text.size) {
        size_t start = at;

        if (text.size - at >= 8 && text.data[at] < 0x80 &&
            buffer_reserve(buffer, WORD_ROOM_BYTES)) {
            at = put_words(buffer, text, at, ascii);
        }
        if (at > start && text.size - at >= 8 && is_plain(text.data[at], ascii)) {
            continue; /* the room is used up */
        }
        while (at < text.size && is_plain(text.data[at], ascii)) {
            buffer_append_byte(buffer, text.data[at++]);
        }
        if (at < text.size) {
            at += put_code_point(buffer, slice_after(text, at), ascii);
        }
    }
    buffer_append_byte(buffer, '"');
}

/* A double in decimal: 0.d1d2d3... times 10 to the power of `point`. */
struct digits {
    char text[DIGITS_MAX + 1];
    size_t count;
    int point;
};

static double read_back(const struct digits *digits)
{
    char text[DOUBLE_TEXT_BYTES];

    (void)snprintf(text, sizeof(text), "0.%.*se%d", (int)digits->count, digits->text,
                   digits->point);
    return strtod(text, NULL);
}

/* Returns the nearest decimal with `count` digits. */
static struct digits nearest_decimal(double value, size_t count)
{
    struct digits digits = {.count = 0};
    char text[DOUBLE_TEXT_BYTES];
    const char *at = text;

    (void)snprintf(text, sizeof(text), "%.*e", (int)count - 1, value);
    for (; *at != 'e' && *at != 0; at++) {
        if (*at != '.' && digits.count < DIGITS_MAX) {
            digits.text[digits.count++] = *at;
        }
    }
    digits.point = (*at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0) + 1;
    return digits;
}

static void strip_zeros(struct digits *digits)
{
    while (digits->count > 1 && digits->text[digits->count - 1] == '0') {
        digits->count--;
    }
}

/* Steps to the next greater decimal with as many digits. */
static void step_up(struct digits *digits)
{
    size_t at = digits->count;

    while (at > 0 && digits->text[at - 1] == '9') {
        digits->text[--at] = '0';
    }
    if (at > 0) {
        digits->text[at - 1]++;
    } else {
        digits->text[0] = '1';
        digits->point++;
    }
}

/* Returns the fewest digits that read back as `value`, which is positive and finite. Any decimal of
 * 15 digits survives a normal double, so the search starts there; for subnormal ones it starts at
 * 1. A power of two is nearer to the double below it than to the one above, so that the decimal
 * above the nearest one may read back although the nearest does not. */
static struct digits shortest_decimal(double value)
{
    int exponent = 0;
    bool is_power = frexp(value, &exponent) == 0.5;
    size_t count = value < DBL_MIN ? 1 : DBL_DIG;
    struct digits digits = nearest_decimal(value, count);

    while (read_back(&digits) != value && count < DIGITS_MAX) {
        if (is_power) {
            step_up(&digits);
            if (read_back(&digits) == value) {
                break;
            }
        }
        count++;
        digits = nearest_decimal(value, count);
    }
    strip_zeros(&digits);
    return digits;
}

static void put_positional(struct buffer *buffer, const struct digits *digits)
{
    int count = (int)digits->count;
    int whole = digits->point < count ? digits->point : count;

    if (digits->point <= 0) {
        buffer_printf(buffer, "0.%.*s%.*s", -digits->point, "0000", count, digits->text);
        return;
    }
    buffer_printf(buffer, "%.*s%.*s.", whole, digits->text, digits->point - whole,
                  "0000000000000000");
    buffer_printf(buffer, "%.*s", count > whole ? count - whole : 1,
                  count > whole ? digits->text + whole : "0");
}

void json_write_double(struct buffer *buffer, double value)
{
    struct digits digits;
    int exponent = 0;

    if (isnan(value)) {
        buffer_append(buffer, SLICE("NaN"));
        return;
    }
    if (signbit(value)) {
        buffer_append_byte(buffer, '-');
        value = -value;
    }
    if (isinf(value)) {
        buffer_append(buffer, SLICE("Infinity"));
        return;
    }
    if (value == 0) {
        buffer_append(buffer, SLICE("0.0"));
        return;
    }
    digits = shortest_decimal(value);
    exponent = digits.point - 1;
    if (exponent >= -4 && exponent < 16) {
        put_positional(buffer, &digits);
        return;
    }
    buffer_printf(buffer, "%c%s%.*se%c%02d", digits.text[0], digits.count > 1 ? "." : "",
                  (int)digits.count - 1, digits.text + 1, exponent < 0 ? '-' : '+', abs(exponent));
}

/* Writes the shortest decimal that reads back as the float, in the notation of the nearest
 * double. */
void json_write_float(struct buffer *buffer, float value)
{
    char text[DOUBLE_TEXT_BYTES];
    double nearest_double = (double)value;

    for (int digits = FLT_DIG; isfinite(value) && digits <= FLT_DECIMAL_DIG; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, (double)value);
        nearest_double = strtod(text, NULL);
        if ((float)nearest_double == value) {
            break;
        }
    }
    json_write_double(buffer, nearest_double);
}
