/*
 * template.c: see template.h. The place of a placeholder is found by encoding the text again with
 * another sample and comparing the bytes; a place whose bytes are not those of the sample is
 * refused.
 */
#include "tools/bench/load/template_internal.h"

#include "server/codec/proto_json.h"
#include "store/base/wire.h"

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data
/* Memory limit for reading one text. */
#define SCRATCH_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define VARINT_BYTES_MAX 10
#define NONE SIZE_MAX

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static const char digits[] = "0123456789abcdef";

/* --- compiling --- */

static void put_length(struct buffer *body)
{
    size_t size = body->size - GRPC_PREFIX_BYTES;

    for (size_t i = 1; i < GRPC_PREFIX_BYTES; i++) {
        body->data[i] = (uint8_t)(size >> (8 * (GRPC_PREFIX_BYTES - 1 - i)));
    }
}

/* Encodes the text with its samples; `second_place` (or NONE) gets the second one. */
static enum err make_body(struct ctx *scratch, const struct message_info *message,
                          const struct template_parts *parts, size_t second_place,
                          struct buffer *body)
{
    struct buffer text;
    enum err err = OK;

    buffer_init(&text, scratch->arena, 256);
    for (size_t i = 0; i < parts->count; i++) {
        buffer_append(&text, parts->texts[i]);
        template_put_sample(&text, &parts->places[i], i == second_place);
    }
    buffer_append(&text, parts->texts[parts->count]);
    if (!buffer_ok(&text)) {
        return ERR_MEMORY;
    }
    if (message == NULL) {
        buffer_append(body, buffer_slice(&text));
        return buffer_ok(body) ? OK : ERR_MEMORY;
    }
    for (size_t i = 0; i < GRPC_PREFIX_BYTES; i++) {
        buffer_append_byte(body, 0);
    }
    err = proto_json_read(scratch, message, buffer_slice(&text), true, body);
    if (err == OK) {
        put_length(body);
    }
    return err;
}

/* Finds the bytes from the first to the last difference; returns false if the sizes differ. */
static bool find_difference(struct slice a, struct slice b, size_t *ret_first, size_t *ret_last)
{
    size_t first = 0;
    size_t last = a.size;

    if (a.size != b.size) {
        return false;
    }
    while (first < a.size && a.data[first] == b.data[first]) {
        first++;
    }
    while (last > first && a.data[last - 1] == b.data[last - 1]) {
        last--;
    }
    *ret_first = first;
    *ret_last = last - 1;
    return first < last;
}

/* Reads the varint at the start of some bytes; returns its size, 0 if it is malformed. */
static size_t varint_at(struct slice bytes, uint64_t *ret_number)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes.size && i < VARINT_BYTES_MAX; i++) {
        number |= (uint64_t)(bytes.data[i] & 0x7f) << (7 * i);
        if (bytes.data[i] < 0x80) {
            *ret_number = number;
            return i + 1;
        }
    }
    return 0;
}

static bool sample_is_at(struct ctx *scratch, struct slice body, size_t at,
                         const struct template_place *place, bool second)
{
    struct buffer sample;

    buffer_init(&sample, scratch->arena, place->width);
    template_put_sample(&sample, place, second);
    return buffer_ok(&sample) && at + sample.size <= body.size &&
           slice_equal(buffer_slice(&sample), slice_of(body.data + at, sample.size));
}

/* Finds a place's sample in the two bodies. Returns false if it is encoded in another form. */
static bool locate(struct ctx *scratch, struct slice first_body, struct slice second_body,
                   struct template_place *place)
{
    size_t first = 0;
    size_t last = 0;
    uint64_t first_number = 0;
    uint64_t second_number = 0;
    size_t width = 0;

    if (!find_difference(first_body, second_body, &first, &last) || first != last) {
        return false;
    }
    if (first + 1 >= place->width) {
        place->at = first + 1 - place->width;
        if (sample_is_at(scratch, first_body, place->at, place, false) &&
            sample_is_at(scratch, second_body, place->at, place, true)) {
            return true;
        }
    }
    if (place->kind > TEMPLATE_SERIAL) {
        return false;
    }
    width = varint_at(slice_after(first_body, first), &first_number);
    if (width == 0 || varint_at(slice_after(second_body, first), &second_number) != width ||
        first_number != template_sample(place, false) ||
        second_number != template_sample(place, true)) {
        return false;
    }
    place->at = first;
    place->width = width;
    place->form = TEMPLATE_VARINT;
    return true;
}

/* Reports the JSON reader's faults as one sentence. */
static enum err say_why(struct ctx *ctx, const struct fault *fault, enum err err)
{
    const struct fault_entry *entry = fault->entries;

    if (fault->count == 0) {
        return fault_say(
            ctx->fault, err, "%.*s",
            SHOWN(fault->message.size > 0 ? fault->message : slice_text(err_text(err))));
    }
    return fault_say(ctx->fault, err, "%.*s%s%.*s", SHOWN(entry->field),
                     entry->field.size > 0 ? ": " : "", SHOWN(entry->description));
}

static enum err locate_all(struct ctx *ctx, struct ctx *scratch, const struct message_info *message,
                           struct template_parts *parts, struct slice body)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct buffer second;
        enum err err = OK;

        arena_reset(scratch->arena);
        fault_init(scratch->fault, scratch->arena);
        buffer_init(&second, scratch->arena, body.size);
        err = make_body(scratch, message, parts, i, &second);
        if (err == ERR_MEMORY) {
            return err;
        }
        if (err != OK || !locate(scratch, body, buffer_slice(&second), &parts->places[i])) {
            return fault_say(ctx->fault, ERR_INVALID,
                             "%.*s: cannot be used in this position; expected it inside a string, "
                             "or as the value of an int32, int64, uint32 or uint64 field",
                             SHOWN(parts->written[i]));
        }
    }
    return OK;
}

static enum err compile(struct ctx *ctx, struct ctx *scratch, const struct message_info *message,
                        struct template_parts *parts, struct template *ret_template)
{
    struct template template = {.place_count = parts->count};
    struct buffer body;
    enum err err = OK;

    buffer_init(&body, ctx->arena, 256);
    err = make_body(scratch, message, parts, NONE, &body);
    if (err == OK && !buffer_ok(&body)) {
        err = ERR_MEMORY;
    }
    if (err != OK) {
        return say_why(ctx, scratch->fault, err);
    }
    template.body = buffer_slice(&body);
    err = locate_all(ctx, scratch, message, parts, template.body);
    if (err != OK) {
        return err;
    }
    template.places = arena_calloc(ctx->arena, parts->count + 1, sizeof(*template.places));
    if (template.places == NULL) {
        return ERR_MEMORY;
    }
    memcpy(template.places, parts->places, parts->count * sizeof(*template.places));
    *ret_template = template;
    return OK;
}

enum err template_compile(struct ctx *ctx, const struct message_info *message, struct slice text,
                          const struct template_keys *keys, struct template *ret_template)
{
    struct template_parts *parts = arena_calloc(ctx->arena, 1, sizeof(*parts));
    struct arena arena;
    struct fault fault;
    struct ctx scratch = *ctx;
    enum err err = OK;

    if (parts == NULL) {
        return ERR_MEMORY;
    }
    err = template_cut(ctx, text, keys, parts);
    if (err != OK) {
        return err;
    }
    arena_init(&arena, SCRATCH_BYTES_MAX);
    fault_init(&fault, &arena);
    scratch.arena = &arena;
    scratch.fault = &fault;
    err = compile(ctx, &scratch, message, parts, ret_template);
    arena_deinit(&arena);
    return err;
}

/* --- rendering --- */

void template_source_init(struct template_source *source, uint64_t seed, uint64_t serial)
{
    source->draw = (struct draw){seed};
    source->serial = serial;
    for (size_t i = 0; i < TEMPLATE_NOISE_BYTES; i++) {
        uint64_t letter = draw_below(&source->draw, sizeof(letters) - 1 + 5);

        source->noise[i] = letter < sizeof(letters) - 1 ? (uint8_t)letters[letter] : ' ';
    }
}

static uint64_t draw_number(const struct template_place *place, struct template_source *source)
{
    switch (place->kind) {
    case TEMPLATE_UNIFORM:
        return place->from + draw_below(&source->draw, place->count);
    case TEMPLATE_ZIPF:
        return place->from + draw_zipf_next(&place->zipf, &source->draw) - 1;
    case TEMPLATE_SERIAL:
        return source->serial++ % place->count;
    case TEMPLATE_HEX:
    case TEMPLATE_TEXT:
    case TEMPLATE_UUID:
        break;
    }
    return 0;
}

static void put_decimal(uint8_t *bytes, size_t width, uint64_t number)
{
    for (size_t i = width; i-- > 0; number /= 10) {
        bytes[i] = (uint8_t)('0' + number % 10);
    }
}

static void put_hex(uint8_t *bytes, size_t width, uint64_t number)
{
    for (size_t i = width; i-- > 0; number >>= 4) {
        bytes[i] = (uint8_t)digits[number & 15];
    }
}

/* All bytes but the last announce that more follow, for any number. */
static void put_varint(uint8_t *bytes, size_t width, uint64_t number)
{
    for (size_t i = 0; i < width; i++, number >>= 7) {
        bytes[i] = (uint8_t)((number & 0x7f) | (i + 1 < width ? 0x80 : 0));
    }
}

static void put_random_hex(uint8_t *bytes, size_t width, struct draw *draw)
{
    for (size_t at = 0; at < width; at += 16) {
        put_hex(bytes + at, width - at < 16 ? width - at : 16, draw_next(draw));
    }
}

/* RFC 9562, version 4: random but for the version and the variant. */
static void put_uuid(uint8_t *bytes, struct draw *draw)
{
    put_random_hex(bytes, 36, draw);
    bytes[8] = bytes[13] = bytes[18] = bytes[23] = '-';
    bytes[14] = '4';
    bytes[19] = (uint8_t)digits[8 + (draw_next(draw) & 3)];
}

static void put_number(uint8_t *bytes, const struct template_place *place, uint64_t number)
{
    switch (place->form) {
    case TEMPLATE_DECIMAL:
        put_decimal(bytes, place->width, number);
        return;
    case TEMPLATE_HEXADECIMAL:
        put_hex(bytes, place->width, number);
        return;
    case TEMPLATE_VARINT:
        put_varint(bytes, place->width, number);
        return;
    }
}

void template_render(const struct template *template, struct template_source *source,
                     uint8_t *bytes)
{
    memcpy(bytes, template->body.data, template->body.size);
    for (size_t i = 0; i < template->place_count; i++) {
        const struct template_place *place = &template->places[i];
        uint8_t *at = bytes + place->at;

        switch (place->kind) {
        case TEMPLATE_UNIFORM:
        case TEMPLATE_ZIPF:
        case TEMPLATE_SERIAL:
            put_number(at, place, draw_number(place, source));
            break;
        case TEMPLATE_HEX:
            put_random_hex(at, place->width, &source->draw);
            break;
        case TEMPLATE_TEXT:
            memcpy(at,
                   source->noise +
                       draw_below(&source->draw, TEMPLATE_NOISE_BYTES - place->width + 1),
                   place->width);
            break;
        case TEMPLATE_UUID:
            put_uuid(at, &source->draw);
            break;
        }
    }
}
