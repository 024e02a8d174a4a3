/*
 * request_maker.c: see request_maker.h. Messages within messages lie on an explicit stack, the
 * innermost on top; its bytes go into its parent when it ends.
 */
#include "tests/isolation/request_maker.h"

#include "server/codec/scalar.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/contract_messages.h>

#include <string.h>

#define DEPTH_MAX 8
#define FIELDS_IN_TEN 5 /* probability of optional fields, in tenths */
#define PAGE_TOKENS_IN_TEN                                                                         \
    1 /* probability in tenths; a page token of another request refuses the whole request */
#define VERSIONS_IN_TEN 1 /* probability in tenths, since there are few versions */
#define DAY_US (INT64_C(24) * 3600 * 1000000)

struct open_message {
    const struct message_info *message;
    const struct field_info *field; /* field of the parent; NULL for the whole request */
    uint32_t next; /* next field to fill */
    uint32_t again; /* elements of the repeated message at next - 1 that are still missing */
    uint32_t oneofs; /* bit of each oneof that has a member */
    struct buffer bytes;
};

struct making {
    struct request_maker *maker;
    enum maker_part part;
    size_t depth;
    struct open_message open[DEPTH_MAX];
};

void pool_put(struct pool *pool, struct slice text)
{
    size_t at = pool->count;

    if (pool_has(pool, text)) {
        return;
    }
    if (at >= POOL_TEXTS_MAX) {
        at = POOL_TEXTS_KEPT + at % (POOL_TEXTS_MAX - POOL_TEXTS_KEPT);
    }
    pool->texts[at] = text;
    pool->count++;
}

size_t pool_size(const struct pool *pool)
{
    return pool->count < POOL_TEXTS_MAX ? pool->count : POOL_TEXTS_MAX;
}

bool pool_has(const struct pool *pool, struct slice text)
{
    for (size_t i = 0; i < pool_size(pool); i++) {
        if (slice_equal(pool->texts[i], text)) {
            return true;
        }
    }
    return false;
}

static bool is_target_in(const struct message_info *message, const struct field_info *target)
{
    return target >= message->fields && target < message->fields + message->count;
}

bool is_mapping_id(const struct field_info *field)
{
    static const struct message_info *const messages[] = {
        &contract_errata_v1_sku_mapping, &contract_errata_v1_get_mapping_request,
        &contract_errata_v1_confirm_mapping_request, &contract_errata_v1_reject_mapping_request};

    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        if (is_target_in(messages[i], field)) {
            return slice_equal(field->name, SLICE("id"));
        }
    }
    return slice_equal(field->name, SLICE("mapping_id"));
}

/* A rule is also named by the fields `artifact_id` of SetArtifactState and `rule_id` of ChosenWeight. */
bool is_rule_id(const struct field_info *field)
{
    static const struct message_info *const messages[] = {
        &contract_errata_v1_learned_rule, &contract_errata_v1_get_learned_rule_request,
        &contract_errata_v1_set_learned_rule_enabled_request};

    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        if (is_target_in(messages[i], field)) {
            return slice_equal(field->name, SLICE("id"));
        }
    }
    return (is_target_in(&contract_errata_v1_set_artifact_state_request, field) &&
            slice_equal(field->name, SLICE("artifact_id"))) ||
           (is_target_in(&contract_errata_v1_chosen_weight, field) &&
            slice_equal(field->name, SLICE("rule_id")));
}

bool is_dead_letter_id(const struct field_info *field)
{
    return slice_equal(field->name, SLICE("dead_letter_id")) ||
           (is_target_in(&contract_errata_v1_dead_letter, field) &&
            slice_equal(field->name, SLICE("id")));
}

bool is_family_id(const struct field_info *field)
{
    return slice_equal(field->name, SLICE("layout_family_id")) ||
           slice_equal(field->name, SLICE("from_layout_family_id")) ||
           slice_equal(field->name, SLICE("into_layout_family_id"));
}

/* The pool of ids of what a field names. */
static struct pool *pool_of_uuids(struct pools *pools, const struct field_info *field)
{
    if (is_family_id(field)) {
        return &pools->family_ids;
    }
    if (is_rule_id(field)) {
        return &pools->rule_ids;
    }
    if (is_dead_letter_id(field)) {
        return &pools->dead_letter_ids;
    }
    return is_mapping_id(field) ? &pools->mapping_ids : &pools->uuids;
}

struct pool *pools_of(struct pools *pools, const struct field_info *field)
{
    if (field->type == FIELD_BYTES) {
        return &pools->names;
    }
    if (field->type != FIELD_STRING) {
        return NULL;
    }
    if (slice_starts_with(field->name, SLICE("exposure_ref"))) { /* one or several references */
        return &pools->references;
    }
    switch (field->rules.format) {
    case FORMAT_UUID:
        return pool_of_uuids(pools, field);
    case FORMAT_KEY_ID:
        return &pools->key_ids;
    case FORMAT_PAGE_TOKEN:
        return &pools->page_tokens;
    case FORMAT_JSON_OBJECT:
        return NULL;
    case FORMAT_ANY:
    case FORMAT_OPAQUE_ID:
    case FORMAT_NAME:
        return &pools->names;
    }
    return NULL;
}

uint64_t maker_draw(struct request_maker *maker, uint64_t count)
{
    uint64_t number = 0;

    random_fill(&maker->random.random, &number, sizeof(number));
    return number % count;
}

/* Returns the next letter or digit of its kind, so that UUIDs, key ids and base64 remain valid. */
static uint8_t next_of_its_kind(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c == '9' ? '0' : (uint8_t)(c + 1);
    }
    if (c >= 'a' && c <= 'f') {
        return c == 'f' ? 'a' : (uint8_t)(c + 1);
    }
    if (c >= 'g' && c <= 'z') {
        return c == 'z' ? 'g' : (uint8_t)(c + 1);
    }
    if (c >= 'A' && c <= 'Z') {
        return c == 'Z' ? 'A' : (uint8_t)(c + 1);
    }
    return c;
}

struct slice maker_strange(struct arena *arena, struct slice text)
{
    uint8_t *copy = arena_alloc(arena, text.size + 1);

    ASSERT(copy != NULL);
    for (size_t i = 0; i < text.size; i++) {
        copy[i] = next_of_its_kind(text.data[i]);
    }
    return slice_of(copy, text.size);
}

static bool is_message(const struct field_info *field)
{
    return field->type == FIELD_MESSAGE && field->message->well_known == MESSAGE_PLAIN;
}

/* Returns the probability of an optional field, in tenths. */
static uint64_t fields_in_ten(const struct field_info *field)
{
    if (field->rules.format == FORMAT_PAGE_TOKEN) {
        return PAGE_TOKENS_IN_TEN;
    }
    return slice_equal(field->name, SLICE("version")) ||
                   slice_equal(field->name, SLICE("template_version"))
               ? VERSIONS_IN_TEN
               : FIELDS_IN_TEN;
}

/* Returns whether the field is the target, or a message that contains it. */
static bool leads_to(const struct field_info *field, const struct field_info *target)
{
    return field == target || (is_message(field) && is_target_in(field->message, target));
}

static bool oneof_leads_to(const struct message_info *message, int oneof,
                           const struct field_info *target)
{
    for (uint32_t i = 0; i < message->count; i++) {
        if (message->fields[i].oneof == oneof && leads_to(&message->fields[i], target)) {
            return true;
        }
    }
    return false;
}

/* Returns whether an optional field is included. */
static bool is_wanted(struct making *making, const struct open_message *open,
                      const struct field_info *field)
{
    struct request_maker *maker = making->maker;

    if (field->rules.output_only || (making->part == MAKER_FIRST && field->type == FIELD_BYTES)) {
        return false;
    }
    if (making->part != MAKER_WHOLE) {
        return (making->part == MAKER_BYTES) == (field->type == FIELD_BYTES);
    }
    if (field->oneof >= 0 && (open->oneofs & (1u << field->oneof)) != 0) {
        return false;
    }
    if (maker->target != NULL) {
        if (field->oneof >= 0 && oneof_leads_to(open->message, field->oneof, maker->target)) {
            return leads_to(field, maker->target);
        }
        return field == maker->target || field->rules.required || is_message(field) ||
               field->oneof >= 0;
    }
    return field->rules.required || is_message(field) ||
           maker_draw(maker, 10) < fields_in_ten(field);
}

/* `map` is the field whose key it is, or NULL. */
static struct slice draw_text(struct request_maker *maker, const struct field_info *field,
                              const struct field_info *map)
{
    struct pool *pool = pools_of(maker->pools, field);
    struct slice text = {NULL, 0};
    uint64_t range = 0;
    uint64_t index = 0;

    if (map != NULL) { /* the key: a token of the template below, another in each map */
        return slice_of(map->name.data, 1);
    }
    /* Different bytes are stored under separate ids: a conflict would be reported. */
    if (maker->target != NULL && maker->target->type == FIELD_BYTES &&
        slice_equal(field->name, SLICE("document_id"))) {
        return arena_printf(maker->arena, "probe %u", maker->probes++);
    }
    if (slice_equal(field->name, SLICE("cue_class"))) {
        return SLICE("RETRY");
    }
    if (slice_equal(field->name, SLICE("template"))) {
        return SLICE("{{hint_examples}} {{c}} {{t}} {{none}}");
    }
    if (slice_equal(field->name, SLICE("document_json"))) { /* the rules are the same for both */
        return arena_printf(maker->arena,
                            "{\"schema_version\":1,\"rules\":[{\"rule_type\":\"missed_indicator\","
                            "\"pattern\":\"imported %u\",\"confidence_adjustment\":0.04}]}",
                            (unsigned)maker_draw(maker, 20));
    }
    if (pool == NULL || slice_equal(field->name, SLICE("metadata_json"))) {
        uint64_t quantity = maker_draw(maker, 1000);

        return arena_printf(
            maker->arena,
            "{\"page_count\":1,\"page_dimensions\":[{\"width\":612.0,\"height\":792.0}],"
            "\"table_count\":1,\"text_coverage_ratio\":0.5,\"qty\":%u,\"note\":\"%s\"}",
            (unsigned)quantity, maker->strange ? "theirs" : "mine.!");
    }
    /* Draws as often if the pool is empty: the requests that follow must not depend on it. */
    range = maker_draw(maker, UINT64_MAX);
    index = maker_draw(maker, UINT64_MAX);
    if (pool_size(pool) == 0) {
        return field->rules.format == FORMAT_UUID ? SLICE("01890000-0000-7000-8000-000000000000")
                                                  : SLICE("00000000");
    }
    /* The first ones most, so that the same thing is named again and again. */
    text = pool->texts[index % (1 + range % pool_size(pool))];
    return maker->strange ? maker_strange(maker->arena, text) : text;
}

static struct slice target_text(const struct request_maker *maker, const struct field_info *field)
{
    if (field->rules.format != FORMAT_JSON_OBJECT) {
        return maker->target_text;
    }
    return arena_printf(maker->arena, "{\"note\":\"%.*s\"}", (int)maker->target_text.size,
                        (const char *)maker->target_text.data);
}

static uint64_t draw_number(struct request_maker *maker, const struct field_info *field)
{
    const struct field_rules *rules = &field->rules;

    if (field == maker->target) {
        return maker->target_number;
    }
    if (field->type == FIELD_BOOL) {
        return maker_draw(maker, 4) == 0;
    }
    if (field->type == FIELD_ENUM) { /* 0 is "unspecified", which required fields refuse */
        uint64_t value = maker_draw(maker, field->enumeration->count - rules->required);

        return (uint64_t)field->enumeration->values[value + rules->required].number;
    }
    /* Small ones where there is a most: pages that have a next one. */
    return 1 + maker_draw(maker, rules->max_value != 0 ? 3 : 20);
}

static void put_leaf(struct making *making, struct open_message *open,
                     const struct field_info *field)
{
    struct request_maker *maker = making->maker;
    bool is_key = open->field != NULL && open->field->map && field->number == 1;

    if (field->type == FIELD_STRING || field->type == FIELD_BYTES) {
        wire_put_bytes(&open->bytes, field->number,
                       field == maker->target
                           ? target_text(maker, field)
                           : draw_text(maker, field, is_key ? open->field : NULL));
    } else if (field->type == FIELD_MESSAGE) {
        ASSERT(field->message->well_known == MESSAGE_TIMESTAMP);
        wire_put_timestamp(&open->bytes, field->number,
                           maker->now_us -
                               (int64_t)(1 + maker_draw(maker, 3)) * DAY_US *
                                   (field->rules.not_future || maker_draw(maker, 2) == 0 ? 1 : -1));
    } else {
        uint64_t number = draw_number(maker, field);

        /* A number with a fraction is a share, from 0 to 1. */
        wire_put_raw(&open->bytes, field->number, scalar_wire_type(field->type),
                     scalar_is_floating(field->type)
                         ? scalar_raw_double(field->type, (double)(number % 5) / 4)
                         : number);
    }
}

static void open_message(struct making *making, const struct message_info *message,
                         const struct field_info *field)
{
    struct open_message *open = &making->open[making->depth++];

    ASSERT(making->depth <= DEPTH_MAX);
    *open = (struct open_message){.message = message, .field = field};
    buffer_init(&open->bytes, making->maker->arena, 256);
}

static void close_message(struct making *making)
{
    const struct open_message *ended = &making->open[--making->depth];

    if (making->depth > 0) {
        wire_put_bytes(&making->open[making->depth - 1].bytes, ended->field->number,
                       buffer_slice(&ended->bytes));
    }
}

static void look_at_field(struct making *making, struct open_message *open,
                          const struct field_info *field)
{
    uint32_t count = 1;

    if (!is_wanted(making, open, field)) {
        return;
    }
    if (field->oneof >= 0) {
        open->oneofs |= 1u << field->oneof;
    }
    if (field->repeated && making->maker->target == NULL) {
        count += (uint32_t)maker_draw(making->maker, 3);
    }
    if (is_message(field)) {
        open->again = count - 1;
        open_message(making, field->message, field);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        put_leaf(making, open, field);
    }
}

struct slice maker_make(struct request_maker *maker, const struct message_info *message,
                        enum maker_part part)
{
    struct making making = {.maker = maker, .part = part};

    open_message(&making, message, NULL);
    while (making.depth > 0) {
        struct open_message *open = &making.open[making.depth - 1];

        if (open->again > 0) {
            const struct field_info *field = &open->message->fields[open->next - 1];

            open->again--;
            open_message(&making, field->message, field);
        } else if (open->next < open->message->count) {
            look_at_field(&making, open, &open->message->fields[open->next++]);
        } else {
            close_message(&making);
        }
    }
    return buffer_slice(&making.open[0].bytes);
}
