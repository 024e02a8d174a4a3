/*
 * request.c: a walk over a message's fields, with the messages that are open on a stack. A message
 * is written into a buffer of its own and put into its parent when it is whole.
 */
#include "tests/fuzz/method/request.h"

#include "server/codec/scalar.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

/* Struct and the like would continue forever. */
#define DEPTH_MAX 6
/* Maximum elements of a list that must not exceed its limit. */
#define ELEMENTS_FEW 4
/* Maximum bytes of a text that must exceed a limit. */
#define LONG_BYTES_MAX 20000
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

/* Kind of a generated value. */
enum manner {
    MANNER_ABSENT,
    MANNER_RIGHT,
    MANNER_EDGE, /* the last valid value, or the first invalid one */
    MANNER_ANY /* the input's own bytes */
};

struct frame {
    const struct message_info *message;
    const struct field_info *field; /* field of the parent */
    struct buffer wire;
    uint32_t next; /* field */
    uint32_t left; /* elements of the list before `next` that are still missing */
    uint32_t oneofs; /* bit i: oneof i has its member */
};

struct maker {
    struct arena *arena;
    struct fuzz_input *input;
    const struct pool *pool;
    const char *canary;
    size_t depth;
    struct frame frames[DEPTH_MAX];
};

void pool_add(struct pool_texts *texts, struct slice text)
{
    if (text.size > 0 && text.size <= POOL_TEXT_BYTES) {
        char *place = texts->places[texts->count % POOL_PLACES];

        memcpy(place, text.data, text.size);
        place[text.size] = '\0';
        texts->count++;
    }
}

/* The newest, half of the times: what an earlier call has just made. */
static struct slice pool_draw(struct maker *maker, const struct pool_texts *texts,
                              const char *otherwise)
{
    uint32_t choice = fuzz_take_byte(maker->input);
    unsigned known = texts->count < POOL_PLACES ? texts->count : POOL_PLACES;

    if (known == 0 || choice == 255) {
        return slice_text(otherwise);
    }
    if (choice < 128) {
        choice = texts->count - 1;
    }
    return slice_text(texts->places[choice % known]);
}

static enum manner draw_manner(struct maker *maker, const struct field_info *field)
{
    uint8_t byte = fuzz_take_byte(maker->input);

    if (field->rules.output_only) {
        return byte >= 252 ? MANNER_RIGHT : MANNER_ABSENT;
    }
    if (byte >= 244) {
        return MANNER_ANY;
    }
    if (byte >= 224) {
        return MANNER_EDGE;
    }
    if (field->rules.required) {
        return byte >= 216 ? MANNER_ABSENT : MANNER_RIGHT;
    }
    return byte >= 128 ? MANNER_RIGHT : MANNER_ABSENT;
}

/* Ids that both organisations use, so that they meet. */
static struct slice draw_id(struct maker *maker)
{
    static const char *const ids[] = {
        "layout", "document", "order",      "entity",
        "anna",   "layout 2", "document 2", "\xc3\xa4\xe2\x82\xac/%00",
        "x"};

    uint8_t choice = fuzz_take_byte(maker->input);

    if (choice >= 224) {
        return pool_draw(maker, &maker->pool->fingerprints, "layout");
    }
    return slice_text(ids[choice % COUNT_OF(ids)]);
}

/* A JSON object around the canary. */
static struct slice draw_json(struct maker *maker)
{
    static const char *const texts[][2] = {
        {"{\"qty\":10,\"text\":\"", "\"}"},
        {"{\"qty\":12,\"text\":\"", "\"}"},
        {"{\"lines\":[{\"sku\":\"A\",\"qty\":1},{\"sku\":\"", "\"}],\"total\":1e2}"},
        {"{\"page_count\":1,\"page_dimensions\":[[595.28,841.89]],\"table_count\":1,\"note\":\"",
         "\",\"text_coverage_ratio\":0.1}"},
        {"{\"", "\":null}"},
        {"{\"a\":{\"b\":[[[[]]]]},\"{{x}}\":\"<|im_start|>", "\\u0000\"}"},
    };
    uint32_t choice = fuzz_take_choice(maker->input, COUNT_OF(texts) + 1);
    struct buffer text;

    if (choice == COUNT_OF(texts)) {
        return SLICE("{}");
    }
    buffer_init(&text, maker->arena, 128);
    buffer_append(&text, slice_text(texts[choice][0]));
    buffer_append(&text, slice_text(maker->canary));
    buffer_append(&text, slice_text(texts[choice][1]));
    return buffer_slice(&text);
}

/* A template whose tokens meet those of a map's keys. */
static struct slice draw_template(struct maker *maker)
{
    static const char *const texts[] = {"{{hint_examples}}", "{{A}} {{ B }} {{A}}",
                                        "{{{A}}} {{A{{B}}}}", "{{B}}{{hint_examples}}{{none}}"};

    return slice_text(texts[fuzz_take_choice(maker->input, COUNT_OF(texts))]);
}

/* A key of a map: a token, more often than not. */
static struct slice draw_key(struct maker *maker)
{
    static const char *const keys[] = {"A", "B", "A", "unused", "hint_examples", "no token"};

    return slice_text(keys[fuzz_take_choice(maker->input, COUNT_OF(keys))]);
}

/* A text without a format in the contract. */
static struct slice draw_plain_text(struct maker *maker, const struct field_info *field)
{
    const struct field_info *within = maker->frames[maker->depth - 1].field;
    uint32_t choice = 0;

    if (within != NULL && within->map && field->number == 1) {
        return draw_key(maker);
    }
    if (slice_starts_with(field->name, SLICE("exposure_ref"))) { /* one or several references */
        return pool_draw(maker, &maker->pool->references, "forged");
    }
    choice = fuzz_take_byte(maker->input);
    if (choice >= 200) {
        return draw_template(maker);
    }
    return choice % 2 == 0 ? draw_json(maker) : slice_text(maker->canary);
}

static struct slice draw_right_text(struct maker *maker, const struct field_info *field)
{
    switch (field->rules.format) {
    case FORMAT_UUID:
        return pool_draw(maker, &maker->pool->uuids, "01890000-0000-7000-8000-000000000000");
    case FORMAT_KEY_ID:
        return pool_draw(maker, &maker->pool->key_ids, "01234567");
    case FORMAT_PAGE_TOKEN:
        return pool_draw(maker, &maker->pool->page_tokens, "");
    case FORMAT_OPAQUE_ID:
        return draw_id(maker);
    case FORMAT_JSON_OBJECT:
        return draw_json(maker);
    case FORMAT_NAME:
        return arena_printf(maker->arena, "%s %u", maker->canary, fuzz_take_byte(maker->input));
    case FORMAT_ANY:
        break;
    }
    return draw_plain_text(maker, field);
}

/* Draws as many bytes as the rules allow, or one more. */
static struct slice draw_long_text(struct maker *maker, const struct field_info *field)
{
    size_t size = field->rules.max_bytes > 0 ? field->rules.max_bytes : 128;
    uint8_t *bytes = NULL;

    size = (size < LONG_BYTES_MAX ? size : LONG_BYTES_MAX) + fuzz_take_choice(maker->input, 2);
    bytes = arena_alloc(maker->arena, size);
    ASSERT(bytes != NULL);
    memset(bytes, 'e', size);
    return slice_of(bytes, size);
}

static void put_text(struct maker *maker, struct frame *frame, const struct field_info *field,
                     enum manner manner)
{
    struct slice text = {NULL, 0};

    switch (manner) {
    case MANNER_ABSENT:
    case MANNER_RIGHT:
        text = draw_right_text(maker, field);
        break;
    case MANNER_EDGE:
        text = draw_long_text(maker, field);
        break;
    case MANNER_ANY:
        text = fuzz_take_text(maker->input);
        break;
    }
    wire_put_bytes(&frame->wire, field->number, text);
}

static int64_t draw_number(struct maker *maker, const struct field_info *field, enum manner manner)
{
    const struct field_rules *rules = &field->rules;
    uint8_t byte = fuzz_take_byte(maker->input);

    if (manner == MANNER_ANY) {
        return (int64_t)fuzz_take_number(maker->input, sizeof(int64_t));
    }
    if (manner == MANNER_EDGE) {
        const int64_t edges[] = {rules->min_value - 1,
                                 rules->min_value,
                                 rules->max_value,
                                 rules->max_value + 1,
                                 INT32_MIN,
                                 INT32_MAX,
                                 INT64_MIN,
                                 INT64_MAX,
                                 -1};

        return edges[byte % COUNT_OF(edges)];
    }
    if (field->type == FIELD_ENUM) {
        return field->enumeration->values[byte % field->enumeration->count].number;
    }
    return rules->max_value > 0 && byte > rules->max_value ? rules->max_value : byte;
}

static void put_number(struct maker *maker, struct frame *frame, const struct field_info *field,
                       enum manner manner)
{
    int64_t number = draw_number(maker, field, manner);
    uint64_t raw = scalar_is_floating(field->type)
                       ? scalar_raw_double(field->type, (double)number / 16)
                       : scalar_raw(field->type, number);

    wire_put_raw(&frame->wire, field->number, scalar_wire_type(field->type), raw);
}

/* A time around now, or at an edge of what there is. */
static void put_time(struct maker *maker, struct frame *frame, const struct field_info *field,
                     enum manner manner)
{
    static const int64_t offsets_us[] = {
        -1, 0, -INT64_C(1000000), -INT64_C(3600000000), 100000, INT64_C(3600000000)};
    static const int64_t edges_us[] = {0, 1, -1, INT64_C(253402300799999999),
                                       INT64_C(-62135596800000000)};
    uint8_t byte = fuzz_take_byte(maker->input);
    int64_t time_us = maker->pool->now_us + offsets_us[byte % COUNT_OF(offsets_us)];

    if (manner == MANNER_EDGE) {
        time_us = edges_us[byte % COUNT_OF(edges_us)];
    }
    wire_put_timestamp(&frame->wire, field->number, time_us);
}

static void push(struct maker *maker, const struct message_info *message,
                 const struct field_info *field)
{
    struct frame *frame = &maker->frames[maker->depth++];

    *frame = (struct frame){.message = message, .field = field};
    buffer_init(&frame->wire, maker->arena, 0);
}

/* Writes a value, or opens a message. */
static void put_value(struct maker *maker, const struct field_info *field, enum manner manner)
{
    struct frame *frame = &maker->frames[maker->depth - 1];

    switch (scalar_wire_type(field->type)) {
    case WIRE_VARINT:
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        put_number(maker, frame, field, manner);
        return;
    case WIRE_BYTES:
        break;
    }
    if (field->type != FIELD_MESSAGE) {
        put_text(maker, frame, field, manner);
    } else if (field->message->well_known == MESSAGE_TIMESTAMP && manner != MANNER_ANY) {
        put_time(maker, frame, field, manner);
    } else if (maker->depth < DEPTH_MAX) {
        push(maker, field->message, field);
    }
}

static uint32_t draw_count(struct maker *maker, const struct field_info *field, enum manner manner)
{
    if (manner == MANNER_EDGE && field->rules.max_items > 0 &&
        field->rules.max_items <= LONG_BYTES_MAX) {
        return field->rules.max_items + fuzz_take_choice(maker->input, 2);
    }
    return 1 + fuzz_take_choice(maker->input, ELEMENTS_FEW);
}

/* Decides about the next field of the innermost message. */
static void visit(struct maker *maker, struct frame *frame)
{
    const struct field_info *field = &frame->message->fields[frame->next++];
    enum manner manner = draw_manner(maker, field);

    if (manner == MANNER_ABSENT) {
        return;
    }
    /* One member of a oneof, with few exceptions. */
    if (field->oneof >= 0 && field->oneof < 32 && manner == MANNER_RIGHT) {
        if ((frame->oneofs >> field->oneof & 1) != 0) {
            return;
        }
        frame->oneofs |= 1u << field->oneof;
    }
    if (field->repeated) {
        frame->left = draw_count(maker, field, manner);
        return;
    }
    put_value(maker, field, manner);
}

/* The innermost message is complete. */
static void pop(struct maker *maker)
{
    struct frame *frame = &maker->frames[maker->depth - 1];

    ASSERT(buffer_ok(&frame->wire));
    maker->depth--;
    if (maker->depth > 0) {
        wire_put_bytes(&maker->frames[maker->depth - 1].wire, frame->field->number,
                       buffer_slice(&frame->wire));
    }
}

struct slice request_make(struct arena *arena, struct fuzz_input *input,
                          const struct message_info *message, const struct pool *pool,
                          const char *canary)
{
    struct maker maker = {.arena = arena, .input = input, .pool = pool, .canary = canary};

    push(&maker, message, NULL);
    while (maker.depth > 0) {
        struct frame *frame = &maker.frames[maker.depth - 1];

        if (frame->left > 0) {
            frame->left--;
            put_value(&maker, &frame->message->fields[frame->next - 1], MANNER_RIGHT);
        } else if (frame->next < frame->message->count) {
            visit(&maker, frame);
        } else {
            pop(&maker);
        }
    }
    return buffer_slice(&maker.frames[0].wire);
}
