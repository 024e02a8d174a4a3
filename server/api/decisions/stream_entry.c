/*
 * stream_entry.c: see stream_entry.h. The fields are written as the JSON of a request, which is then read as any other.
 */
#include "server/api/decisions/stream_entry.h"

#include "server/codec/proto_json.h"
#include "server/pipeline/decode.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "store/base/timestamp.h"

#define DATA_FIELD SLICE("data")
/* Digits of a second that are read of an epoch. */
#define FRACTION_DIGITS_MAX 9
/* Digits of an epoch: more than TIMESTAMP_SECONDS_MAX has. */
#define EPOCH_DIGITS_MAX 12

/* The JSON text that is being written. */
struct writing {
    struct ctx *ctx;
    struct buffer decision; /* members of the decision */
    struct buffer others; /* members of the request beside it */
    int64_t ahead_us; /* time by which the decision's is ahead, within the limit; else 0 */
};

static bool is_time(struct slice name)
{
    return slice_equal(name, SLICE("timestamp")) || slice_equal(name, SLICE("created_at"));
}

static bool is_list(struct slice name)
{
    return slice_equal(name, SLICE("tags")) || slice_equal(name, SLICE("exposure_refs"));
}

/* Returns where a member is written: in the decision, or beside it. */
static struct buffer *place_of(struct writing *writing, struct slice name)
{
    return slice_equal(name, SLICE("exposure_refs")) ? &writing->others : &writing->decision;
}

/* Returns how a member is named in messages. */
static struct slice path_of(struct writing *writing, struct slice name)
{
    return arena_printf(writing->ctx->fault->arena, "%s%.*s",
                        place_of(writing, name) == &writing->decision ? "decision." : "",
                        (int)name.size, (const char *)name.data);
}

static void put_name(struct buffer *json, struct slice name)
{
    if (json->size > 0) {
        buffer_append_byte(json, ',');
    }
    json_write_string(json, name, false);
    buffer_append_byte(json, ':');
}

/* Reads digits at the start of `*text`, at most `max`, and moves it after them; returns their number. */
static size_t take_digits(struct slice *text, size_t max, int64_t *ret_number)
{
    size_t count = 0;

    *ret_number = 0;
    while (count < text->size && count < max && text->data[count] >= '0' &&
           text->data[count] <= '9') {
        *ret_number = *ret_number * 10 + (text->data[count] - '0');
        count++;
    }
    *text = slice_after(*text, count);
    return count;
}

/* Reads seconds since 1970, such as 1767225600 or 1767225600.25. */
static bool read_epoch(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos)
{
    int64_t nanos = 0;
    size_t digits = take_digits(&text, EPOCH_DIGITS_MAX, ret_seconds);

    if (digits == 0 || *ret_seconds > TIMESTAMP_SECONDS_MAX) {
        return false;
    }
    if (text.size > 1 && text.data[0] == '.') {
        text = slice_after(text, 1);
        digits = take_digits(&text, FRACTION_DIGITS_MAX, &nanos);
        for (; digits < FRACTION_DIGITS_MAX; digits++) {
            nanos *= 10;
        }
        int64_t more = 0;

        while (take_digits(&text, FRACTION_DIGITS_MAX, &more) > 0) {
        } /* a float may have more digits than a nanosecond */
    }
    *ret_nanos = (int32_t)nanos;
    return text.size == 0;
}

/* Notes the time by which a decision is ahead of the clock. */
static void note_ahead(struct writing *writing, int64_t seconds, int32_t nanos)
{
    int64_t ahead_us = seconds * 1000000 + nanos / 1000 - clock_wall_us(writing->ctx->clock);

    if (ahead_us > writing->ahead_us && ahead_us <= STREAM_ENTRY_AHEAD_US_MAX) {
        writing->ahead_us = ahead_us;
    }
}

static void put_time(struct writing *writing, struct slice name, struct slice text)
{
    struct fault *fault = writing->ctx->fault;
    char formatted[TIMESTAMP_TEXT_BYTES_MAX];
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (!read_epoch(text, &seconds, &nanos) && !timestamp_parse(text, &seconds, &nanos)) {
        struct slice shown = fault_shorten(fault, text);

        fault_add(fault, path_of(writing, name),
                  "invalid value '%.*s'; expected a time by RFC 3339, or seconds since 1970",
                  (int)shown.size, (const char *)shown.data);
        return;
    }
    note_ahead(writing, seconds, nanos);
    put_name(&writing->decision, SLICE("created_at"));
    json_write_string(&writing->decision,
                      slice_of(formatted, timestamp_format(seconds, nanos, formatted)), false);
}

/* Writes a list that a flat entry has as a text of JSON. */
static enum err put_list(struct writing *writing, struct slice name, struct slice text)
{
    const struct json_rules rules = {.depth_max = 2};
    struct json_problem problem;
    struct json_value value;
    enum err err = json_check(writing->ctx->arena, text, &rules, &value, &problem);

    if (err == ERR_INVALID || (err == OK && value.kind != JSON_ARRAY)) {
        fault_add(writing->ctx->fault, path_of(writing, name),
                  "not a JSON list; expected a list of texts, such as [\"style\"]");
        return OK;
    }
    if (err == OK) {
        put_name(place_of(writing, name), name);
        buffer_append(place_of(writing, name), value.text);
    }
    return err;
}

/* Returns whether an earlier field has the same name. */
static bool is_second(const struct stream_entry *entry, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (slice_equal(entry->fields[i].name, entry->fields[index].name)) {
            return true;
        }
    }
    return false;
}

static enum err put_field(struct writing *writing, const struct stream_entry *entry, size_t index)
{
    const struct entry_field *field = &entry->fields[index];
    struct fault *fault = writing->ctx->fault;

    if (!text_is_utf8(field->name) || !text_is_utf8(field->value) || is_second(entry, index)) {
        struct slice shown = fault_shorten(fault, field->name);

        fault_add(fault, shown, "%s",
                  is_second(entry, index) ? "given twice; expected a field once"
                                          : "not UTF-8; expected names and values in UTF-8");
        return OK;
    }
    if (field->value.size == 0) {
        return OK;
    }
    if (is_time(field->name)) {
        put_time(writing, field->name, field->value);
        return OK;
    }
    if (is_list(field->name)) {
        return put_list(writing, field->name, field->value);
    }
    put_name(&writing->decision, field->name);
    json_write_string(&writing->decision, field->value, false);
    return OK;
}

static enum err put_flat(struct writing *writing, const struct stream_entry *entry)
{
    enum err err = OK;

    for (size_t i = 0; i < entry->field_count && err == OK; i++) {
        err = put_field(writing, entry, i);
    }
    return err;
}

/* Writes a member of `data`. */
static enum err put_member(struct writing *writing, struct slice quoted, struct json_value value)
{
    struct slice name = {NULL, 0};
    enum err err = json_string(writing->ctx->arena, quoted, &name);

    if (err != OK) {
        return err;
    }
    if (is_time(name) && (value.kind == JSON_NUMBER || value.kind == JSON_STRING)) {
        struct slice text = value.text;

        if (value.kind == JSON_STRING) {
            err = json_string(writing->ctx->arena, value.text, &text);
        }
        if (err == OK) {
            put_time(writing, name, text);
        }
        return err;
    }
    if (is_time(name)) {
        name = SLICE("created_at");
    }
    put_name(place_of(writing, name), name);
    buffer_append(place_of(writing, name), value.text);
    return OK;
}

static enum err put_data(struct writing *writing, struct slice data)
{
    const struct json_rules rules = {.depth_max = JSON_FIELD_DEPTH_MAX};
    struct json_problem problem;
    struct json_value value;
    struct json_walk walk;
    struct slice quoted = {NULL, 0};
    enum err err = json_check(writing->ctx->arena, data, &rules, &value, &problem);

    if (err == ERR_INVALID) {
        fault_add(writing->ctx->fault, DATA_FIELD,
                  "%s at byte %zu; expected a JSON object with the fields of a decision",
                  problem.what, problem.at);
        return OK;
    }
    if (err == OK && value.kind != JSON_OBJECT) {
        fault_add(writing->ctx->fault, DATA_FIELD,
                  "not an object; expected a JSON object with the fields of a decision");
        return OK;
    }
    if (err != OK) {
        return err;
    }
    walk = json_walk_start(value);
    while (err == OK && json_walk_next(&walk, &quoted, &value)) {
        err = put_member(writing, quoted, value);
    }
    return err;
}

/* Returns the value of the field `data`; false if there is none. */
static bool find_data(const struct stream_entry *entry, struct slice *ret_data)
{
    for (size_t i = 0; i < entry->field_count; i++) {
        if (slice_equal(entry->fields[i].name, DATA_FIELD)) {
            *ret_data = entry->fields[i].value;
            return true;
        }
    }
    return false;
}

/* Writes the JSON of the request. ERR_UNAVAILABLE if its time is ahead by `ret_ahead_us`. */
static enum err write_json(struct ctx *ctx, const struct stream_entry *entry, int64_t *ret_ahead_us,
                           struct slice *ret_json)
{
    struct writing writing = {.ctx = ctx};
    struct slice data = {NULL, 0};
    struct buffer json;
    enum err err = OK;

    buffer_init(&writing.decision, ctx->arena, 0);
    buffer_init(&writing.others, ctx->arena, 0);
    err = find_data(entry, &data) ? put_data(&writing, data) : put_flat(&writing, entry);
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK && writing.ahead_us > 0) {
        *ret_ahead_us = writing.ahead_us;
        err =
            fault_say(ctx->fault, ERR_UNAVAILABLE,
                      "decision.created_at: %lld us in the future; expected another attempt after "
                      "that time",
                      (long long)writing.ahead_us);
    }
    if (err != OK) {
        return err;
    }
    buffer_init(&json, ctx->arena, writing.decision.size + writing.others.size + 64);
    buffer_append(&json, SLICE("{\"decision\":{"));
    buffer_append(&json, buffer_slice(&writing.decision));
    buffer_append_byte(&json, '}');
    if (writing.others.size > 0) {
        buffer_append_byte(&json, ',');
        buffer_append(&json, buffer_slice(&writing.others));
    }
    buffer_append_byte(&json, '}');
    *ret_json = buffer_slice(&json);
    return buffer_ok(&json) && buffer_ok(&writing.decision) && buffer_ok(&writing.others)
               ? OK
               : ERR_MEMORY;
}

enum err stream_entry_read(struct ctx *ctx, const struct stream_entry *entry, int64_t *ret_ahead_us,
                           const Errata__V1__RecordDecisionRequest **ret_request)
{
    const struct method_info *method = contract_find_method(SLICE(STREAM_ENTRY_METHOD_PATH));
    ProtobufCMessage *request = NULL;
    struct slice json = {NULL, 0};
    struct buffer wire;
    enum err err = OK;

    ASSERT(method != NULL);
    if (!stream_entry_is_within_limits(entry)) {
        fault_add(ctx->fault, SLICE("entry"),
                  "too large; expected at most %u fields, and %u bytes of names and values",
                  STREAM_ENTRY_FIELDS_MAX, STREAM_ENTRY_BYTES_MAX);
        return ERR_INVALID;
    }
    buffer_init(&wire, ctx->arena, 0);
    err = write_json(ctx, entry, ret_ahead_us, &json);
    if (err == OK) {
        err = proto_json_read_plain(ctx, method->request, json, false, &wire);
    }
    if (err == OK && !buffer_ok(&wire)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = decode_request(ctx, method, &errata__v1__record_decision_request__descriptor,
                             buffer_slice(&wire), &request);
    }
    if (err == OK) {
        *ret_request = (const Errata__V1__RecordDecisionRequest *)request;
    }
    return err;
}
