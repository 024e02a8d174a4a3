/*
 * template_placeholder.c: the placeholders of a template: `${uniform:0..499:%06d}` and the others, and the samples
 * from which the compiler derives their positions in the encoded message.
 */
#include "tools/bench/load/template_internal.h"

#include <errno.h>
#include <stdlib.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data
#define UUID_BYTES 36
#define LAYOUT_DIGITS 8
#define SKEW_MAX 10
/* 10^TEMPLATE_SERIAL_DIGITS. */
#define SERIALS_MAX UINT64_C(10000000000000000)
/* Maximum size of a placeholder, above that of any valid one. */
#define PLACEHOLDER_BYTES_MAX 120

static const char known[] = "uniform:A..B, zipf:A..B:S, serial, layout, hex:N, text:N or uuid";

static size_t digits_of(uint64_t number, unsigned base)
{
    size_t digits = 1;

    for (; number >= base; number /= base) {
        digits++;
    }
    return digits;
}

static uint64_t greatest_of(const struct template_place *place)
{
    return place->from + place->count - 1;
}

/* Removes and returns the text up to the separator; the whole rest if there is none. */
static struct slice take_word(struct slice *rest, char separator)
{
    const uint8_t *end = rest->size > 0 ? memchr(rest->data, separator, rest->size) : NULL;
    struct slice word = *rest;

    if (end != NULL) {
        word.size = (size_t)(end - rest->data);
    }
    *rest = slice_after(*rest, word.size + (end != NULL ? 1 : 0));
    return word;
}

static bool number_of(struct slice text, uint64_t *ret_number)
{
    uint64_t number = 0;

    if (text.size == 0 || text.size > TEMPLATE_DIGITS_MAX - 1) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    *ret_number = number;
    return true;
}

static bool skew_of(struct slice text, double *ret_skew)
{
    char digits[16];
    char *end = NULL;

    if (text.size == 0 || text.size >= sizeof(digits)) {
        return false;
    }
    memcpy(digits, text.data, text.size);
    digits[text.size] = '\0';
    *ret_skew = strtod(digits, &end);
    return *end == '\0' && *ret_skew > 0 && *ret_skew <= SKEW_MAX;
}

/* `%08d` or `%08x`, or nothing. */
static bool read_format(struct slice format, struct template_place *place)
{
    uint64_t width = 0;
    uint8_t last = format.size > 0 ? format.data[format.size - 1] : 0;
    unsigned base = last == 'x' ? 16 : 10;

    if (format.size == 0) {
        return true;
    }
    if (format.size < 4 || format.data[0] != '%' || format.data[1] != '0' ||
        (last != 'd' && last != 'x') ||
        !number_of(slice_of(format.data + 2, format.size - 3), &width) ||
        width > TEMPLATE_DIGITS_MAX || width < digits_of(greatest_of(place), base)) {
        return false;
    }
    place->form = last == 'x' ? TEMPLATE_HEXADECIMAL : TEMPLATE_DECIMAL;
    place->width = (size_t)width;
    return true;
}

/* `A..B` with A at most B. */
static bool read_range(struct slice range, struct template_place *place)
{
    struct slice first = take_word(&range, '.');
    uint64_t to = 0;

    if (range.size == 0 || range.data[0] != '.' || !number_of(first, &place->from) ||
        !number_of(slice_after(range, 1), &to) || to < place->from) {
        return false;
    }
    place->count = to - place->from + 1;
    place->width = digits_of(to, 10);
    return true;
}

static void read_layout(const struct template_keys *keys, struct template_place *place)
{
    *place = (struct template_place){.kind = TEMPLATE_UNIFORM,
                                     .form = TEMPLATE_DECIMAL,
                                     .width = LAYOUT_DIGITS,
                                     .count = keys->layout_count};
    if (keys->skew > 0) {
        place->kind = TEMPLATE_ZIPF;
        draw_zipf_init(&place->zipf, keys->layout_count, keys->skew);
    }
}

static bool read_zipf(struct slice rest, struct template_place *place)
{
    double skew = 0;

    place->kind = TEMPLATE_ZIPF;
    if (!read_range(take_word(&rest, ':'), place) || !skew_of(take_word(&rest, ':'), &skew)) {
        return false;
    }
    draw_zipf_init(&place->zipf, place->count, skew);
    return read_format(rest, place);
}

/* Reads a serial number: its range is limited by the width, and by TEMPLATE_SERIAL_DIGITS. */
static bool read_serial(struct slice rest, struct template_place *place)
{
    uint64_t base = 10;
    uint64_t count = 1;

    *place = (struct template_place){
        .kind = TEMPLATE_SERIAL, .width = TEMPLATE_SERIAL_DIGITS, .count = 1};
    if (!read_format(rest, place)) {
        return false;
    }
    base = place->form == TEMPLATE_HEXADECIMAL ? 16 : 10;
    for (size_t i = 0; i < place->width && count <= SERIALS_MAX / base; i++) {
        count *= base;
    }
    place->count = count;
    return true;
}

static bool read_width(enum template_kind kind, struct slice rest, struct template_place *place)
{
    uint64_t width = 0;

    if (!number_of(rest, &width) || width == 0 || width > TEMPLATE_WIDTH_MAX) {
        return false;
    }
    *place = (struct template_place){.kind = kind, .width = (size_t)width};
    return true;
}

/* Reads the text between `${` and `}`. */
static bool read_placeholder(struct slice inside, const struct template_keys *keys,
                             struct template_place *place)
{
    struct slice rest = inside;
    struct slice name = take_word(&rest, ':');

    *place = (struct template_place){.kind = TEMPLATE_UNIFORM};
    if (slice_equal(name, SLICE("uniform"))) {
        return read_range(take_word(&rest, ':'), place) && read_format(rest, place);
    }
    if (slice_equal(name, SLICE("zipf"))) {
        return read_zipf(rest, place);
    }
    if (slice_equal(name, SLICE("serial"))) {
        return read_serial(rest, place);
    }
    if (slice_equal(name, SLICE("hex"))) {
        return read_width(TEMPLATE_HEX, rest, place);
    }
    if (slice_equal(name, SLICE("text"))) {
        return read_width(TEMPLATE_TEXT, rest, place);
    }
    if (slice_equal(inside, SLICE("layout"))) {
        read_layout(keys, place);
        return true;
    }
    if (slice_equal(inside, SLICE("uuid"))) {
        *place = (struct template_place){.kind = TEMPLATE_UUID, .width = UUID_BYTES};
        return true;
    }
    return false;
}

/* Returns the index of the next `${` from `from` on; the size if there is none. */
static size_t find_placeholder(struct slice text, size_t from)
{
    for (size_t i = from; i + 1 < text.size; i++) {
        if (text.data[i] == '$' && text.data[i + 1] == '{') {
            return i;
        }
    }
    return text.size;
}

/* `$${` is the text `${`. */
static bool is_escaped(struct slice text, size_t at)
{
    return at > 0 && text.data[at - 1] == '$';
}

/* Copies a piece of text between placeholders, with each `$${` written as `${`. */
static bool copy_text(struct ctx *ctx, struct slice text, struct slice *ret_text)
{
    struct buffer plain;

    buffer_init(&plain, ctx->arena, text.size);
    for (size_t i = 0; i < text.size; i++) {
        if (text.size - i < 3 || memcmp(text.data + i, "$${", 3) != 0) {
            buffer_append_byte(&plain, text.data[i]);
        }
    }
    *ret_text = buffer_slice(&plain);
    return buffer_ok(&plain);
}

static enum err add_placeholder(struct ctx *ctx, struct slice text, size_t at,
                                const struct template_keys *keys, struct template_parts *parts)
{
    struct slice rest = slice_after(text, at);
    const uint8_t *end = memchr(rest.data, '}', rest.size);
    struct slice written = {NULL, 0};

    /* The text around it may have a brace of its own, but after a quote. */
    if (end == NULL || end - rest.data > PLACEHOLDER_BYTES_MAX ||
        memchr(rest.data, '"', (size_t)(end - rest.data)) != NULL) {
        rest.size = rest.size < 20 ? rest.size : 20;
        return fault_say(ctx->fault, ERR_INVALID,
                         "unterminated placeholder \"%.*s\"; write $${ for a literal ${",
                         SHOWN(rest));
    }
    written = slice_of(rest.data, (size_t)(end - rest.data) + 1);
    if (parts->count == TEMPLATE_PLACES_MAX) {
        return fault_say(ctx->fault, ERR_INVALID, "too many placeholders; expected at most %d",
                         TEMPLATE_PLACES_MAX);
    }
    if (!read_placeholder(slice_of(written.data + 2, written.size - 3), keys,
                          &parts->places[parts->count])) {
        return fault_say(ctx->fault, ERR_INVALID,
                         "%.*s: unknown placeholder; expected %s; a number may end with a format "
                         "such as :%%08d or :%%08x that is wide enough for the largest value",
                         SHOWN(written), known);
    }
    parts->written[parts->count++] = written;
    return OK;
}

enum err template_cut(struct ctx *ctx, struct slice text, const struct template_keys *keys,
                      struct template_parts *ret_parts)
{
    size_t start = 0;
    size_t at = find_placeholder(text, 0);

    ret_parts->count = 0;
    while (at < text.size) {
        size_t index = ret_parts->count;
        enum err err = OK;

        if (is_escaped(text, at)) {
            at = find_placeholder(text, at + 2);
            continue;
        }
        err = add_placeholder(ctx, text, at, keys, ret_parts);
        if (err != OK) {
            return err;
        }
        if (!copy_text(ctx, slice_of(text.data + start, at - start), &ret_parts->texts[index])) {
            return ERR_MEMORY;
        }
        start = at + ret_parts->written[index].size;
        at = find_placeholder(text, start);
    }
    return copy_text(ctx, slice_after(text, start), &ret_parts->texts[ret_parts->count])
               ? OK
               : ERR_MEMORY;
}

/* The greatest number of the range, so that each other one fits in its place; not 0, which
 * proto JSON leaves out. The second differs in its lowest bits only. */
uint64_t template_sample(const struct template_place *place, bool second)
{
    uint64_t greatest = greatest_of(place);

    greatest = greatest == 0 ? 1 : greatest;
    if (!second) {
        return greatest;
    }
    return greatest == 1 ? 3 : greatest ^ 1;
}

void template_put_sample(struct buffer *text, const struct template_place *place, bool second)
{
    uint64_t number = 0;

    switch (place->kind) {
    case TEMPLATE_UNIFORM:
    case TEMPLATE_ZIPF:
    case TEMPLATE_SERIAL:
        number = template_sample(place, second);
        buffer_printf(text, place->form == TEMPLATE_HEXADECIMAL ? "%0*llx" : "%0*llu",
                      (int)place->width, (unsigned long long)number);
        return;
    case TEMPLATE_HEX:
    case TEMPLATE_TEXT:
        for (size_t i = 1; i < place->width; i++) {
            buffer_append_byte(text, 'a');
        }
        buffer_append_byte(text, second ? 'b' : 'a');
        return;
    case TEMPLATE_UUID:
        buffer_append(text, second ? SLICE("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaab")
                                   : SLICE("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"));
        return;
    }
}
