/*
 * check_rules.c: the contract's rules for values: formats, limits, enums, times, required fields
 * and fields that only the server sets. Each broken rule is one fault that names the field, shows
 * the value shortened, and states what is expected.
 */
#include "server/codec/check_internal.h"

#include "store/base/base64.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "store/base/timestamp.h"
#include "store/base/uuid.h"

#include <ctype.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

/* A page token begins with the 16 bytes that authenticate it. */
#define PAGE_TOKEN_DIGITS_MIN BASE64_DIGITS(16)

static struct slice path_of(struct checker *checker, const struct checked_value *value)
{
    return check_path(checker, value->field, value->index);
}

static struct slice shorten(struct checker *checker, struct slice value)
{
    return fault_shorten(checker->ctx->fault, value);
}

/* Checks an id or name that the caller chooses: 1 to 128 bytes, no control characters. */
static void check_id(struct checker *checker, const struct checked_value *value)
{
    struct fault *fault = checker->ctx->fault;
    struct slice shown = {NULL, 0};

    if (value->bytes.size > CHECK_ID_BYTES_MAX) {
        shown = shorten(checker, value->bytes);
        fault_add(fault, path_of(checker, value), "%zu bytes, `%.*s`; expected at most %d",
                  value->bytes.size, SHOWN(shown), CHECK_ID_BYTES_MAX);
    }
    if (text_has_control(value->bytes)) {
        shown = shorten(checker, value->bytes);
        fault_add(fault, path_of(checker, value), "control character in `%.*s`; expected none",
                  SHOWN(shown));
    }
}

static void check_name(struct checker *checker, const struct checked_value *value)
{
    struct slice text = value->bytes;

    check_id(checker, value);
    if (text.data[0] == ' ' || text.data[text.size - 1] == ' ') {
        struct slice shown = shorten(checker, text);

        fault_add(checker->ctx->fault, path_of(checker, value),
                  "space at the beginning or end of `%.*s`; expected none", SHOWN(shown));
    }
}

static void check_uuid(struct checker *checker, const struct checked_value *value)
{
    struct uuid uuid = {{0}};

    if (!uuid_parse(value->bytes, &uuid)) {
        struct slice shown = shorten(checker, value->bytes);

        fault_add(checker->ctx->fault, path_of(checker, value),
                  "invalid UUID `%.*s`; expected 36 characters such as "
                  "018bcfe5-6800-7abc-8def-0123456789ab",
                  SHOWN(shown));
    }
}

static void check_key_id(struct checker *checker, const struct checked_value *value)
{
    struct slice text = value->bytes;
    bool is_good = text.size == 8;

    for (size_t i = 0; is_good && i < text.size; i++) {
        is_good = (text.data[i] >= '0' && text.data[i] <= '9') ||
                  (text.data[i] >= 'a' && text.data[i] <= 'f');
    }
    if (!is_good) {
        struct slice shown = shorten(checker, text);

        fault_add(checker->ctx->fault, path_of(checker, value),
                  "invalid key id `%.*s`; expected eight lower-case hex digits", SHOWN(shown));
    }
}

/* Reports a text that is not a page token together with other faults; the method checks whether
 * this server issued it. */
static void check_page_token(struct checker *checker, const struct checked_value *value)
{
    struct slice text = value->bytes;
    bool is_good = text.size >= PAGE_TOKEN_DIGITS_MIN;

    for (size_t i = 0; is_good && i < text.size; i++) {
        is_good = text.data[i] < 0x80 &&
                  (isalnum(text.data[i]) || text.data[i] == '-' || text.data[i] == '_');
    }
    if (!is_good) {
        struct slice shown = shorten(checker, text);

        fault_add(checker->ctx->fault, path_of(checker, value),
                  "invalid page token `%.*s`; expected the next_page_token of the previous page, "
                  "or no value for the first page",
                  SHOWN(shown));
    }
}

static const char *kind_name(enum json_kind kind)
{
    switch (kind) {
    case JSON_NULL:
        return "null";
    case JSON_FALSE:
    case JSON_TRUE:
        return "a boolean";
    case JSON_NUMBER:
        return "a number";
    case JSON_STRING:
        return "a string";
    case JSON_ARRAY:
        return "an array";
    case JSON_OBJECT:
        return "an object";
    }
    return "?";
}

static enum err check_json(struct checker *checker, const struct checked_value *value)
{
    const struct json_rules rules = {JSON_FIELD_DEPTH_MAX, false};
    struct json_value top = {0};
    struct json_problem problem = {NULL, 0};
    enum err err = json_check(&checker->scratch, value->bytes, &rules, &top, &problem);

    arena_reset(&checker->scratch);
    if (err == ERR_INVALID) {
        struct slice shown = shorten(checker, slice_after(value->bytes, problem.at));

        fault_add(
            checker->ctx->fault, path_of(checker, value),
            "invalid JSON, %s at byte %zu%s%.*s%s; expected an object (RFC 8259, depth at most %d)",
            problem.what, problem.at, shown.size > 0 ? ", `" : "", SHOWN(shown),
            shown.size > 0 ? "`" : "", JSON_FIELD_DEPTH_MAX);
        return OK;
    }
    if (err == OK && top.kind != JSON_OBJECT) {
        struct slice shown = shorten(checker, value->bytes);

        fault_add(checker->ctx->fault, path_of(checker, value),
                  "%s, `%.*s`; expected a JSON object", kind_name(top.kind), SHOWN(shown));
    }
    return err;
}

static enum err check_format(struct checker *checker, const struct checked_value *value)
{
    switch (value->field->rules.format) {
    case FORMAT_ANY:
        return OK;
    case FORMAT_PAGE_TOKEN:
        check_page_token(checker, value);
        return OK;
    case FORMAT_OPAQUE_ID:
        check_id(checker, value);
        return OK;
    case FORMAT_UUID:
        check_uuid(checker, value);
        return OK;
    case FORMAT_NAME:
        check_name(checker, value);
        return OK;
    case FORMAT_KEY_ID:
        check_key_id(checker, value);
        return OK;
    case FORMAT_JSON_OBJECT:
        return check_json(checker, value);
    }
    return OK;
}

/* Checks the encoding, before any format. */
static bool check_encoding(struct checker *checker, const struct checked_value *value)
{
    struct slice text = value->bytes;
    const uint8_t *nul = NULL;

    if (!text_is_utf8(text)) {
        struct slice shown = shorten(checker, text);

        fault_add(checker->ctx->fault, path_of(checker, value),
                  "invalid UTF-8 in `%.*s`; expected UTF-8", SHOWN(shown));
        return false;
    }
    nul = text.size > 0 ? memchr(text.data, 0, text.size) : NULL;
    if (nul != NULL) {
        fault_add(checker->ctx->fault, path_of(checker, value),
                  "NUL character at byte %zu; expected text without NUL",
                  (size_t)(nul - text.data));
        return false;
    }
    return true;
}

enum err check_text(struct checker *checker, const struct checked_value *value)
{
    const struct field_info *field = value->field;
    bool is_text = field->type == FIELD_STRING;

    if (is_text && !check_encoding(checker, value)) {
        return OK;
    }
    if (checker->is_stored) {
        return is_text && field->rules.format == FORMAT_JSON_OBJECT && value->bytes.size > 0
                   ? check_format(checker, value)
                   : OK;
    }
    if (checker->frames[checker->depth - 1].no_rules || field->rules.output_only) {
        return OK;
    }
    if (field->rules.max_bytes != 0 && value->bytes.size > field->rules.max_bytes) {
        fault_add(checker->ctx->fault, path_of(checker, value), "%zu bytes; expected at most %u",
                  value->bytes.size, field->rules.max_bytes);
    }
    if (is_text && value->bytes.size > 0) {
        return check_format(checker, value);
    }
    if (field->repeated && is_text && field->rules.format != FORMAT_ANY) {
        fault_add(checker->ctx->fault, path_of(checker, value),
                  "empty; expected a value in each element");
    }
    return OK;
}

static bool is_known(const struct enum_info *enumeration, int64_t number)
{
    uint32_t low = 0;
    uint32_t high = enumeration->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (enumeration->values[middle].number == number) {
            return true;
        }
        if (enumeration->values[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* Compares all 64 bits, so that a number that does not fit is not truncated to a valid one. */
static void check_enum(struct checker *checker, const struct checked_value *value)
{
    int64_t number = (int64_t)value->raw;

    if (!is_known(value->field->enumeration, number)) {
        struct slice words = contract_enum_words(checker->ctx->arena, value->field->enumeration);

        fault_add(checker->ctx->fault, path_of(checker, value), "unknown value %lld; expected %.*s",
                  (long long)number, SHOWN(words));
    }
}

static bool is_within(const struct checked_value *value)
{
    const struct field_rules *rules = &value->field->rules;
    enum field_type type = value->field->type;
    int64_t number = 0;

    if (scalar_is_floating(type)) {
        double real = scalar_double(type, value->raw); /* NaN is outside every range */

        return real >= (double)rules->min_value && real <= (double)rules->max_value;
    }
    if (scalar_is_unsigned64(type) && value->raw > INT64_MAX) {
        return false;
    }
    number = scalar_signed(type, value->raw);
    return number >= rules->min_value && number <= rules->max_value;
}

static struct slice number_text(struct checker *checker, const struct checked_value *value)
{
    struct arena *arena = checker->ctx->arena;
    enum field_type type = value->field->type;

    if (scalar_is_floating(type)) {
        return arena_printf(arena, "%.17g", scalar_double(type, value->raw));
    }
    if (scalar_is_unsigned64(type)) {
        return arena_printf(arena, "%llu", (unsigned long long)value->raw);
    }
    return arena_printf(arena, "%lld", (long long)scalar_signed(type, value->raw));
}

static bool is_negative(const struct checked_value *value)
{
    return !scalar_is_floating(value->field->type) && !scalar_is_unsigned64(value->field->type) &&
           scalar_signed(value->field->type, value->raw) < 0;
}

static void check_limits(struct checker *checker, const struct checked_value *value)
{
    const struct field_info *field = value->field;
    bool is_absent = value->raw == 0 && !field->optional && !field->repeated;
    struct slice shown = {NULL, 0};

    if (field->rules.not_negative && is_negative(value)) {
        shown = number_text(checker, value);
        fault_add(checker->ctx->fault, path_of(checker, value),
                  "%.*s is negative; expected 0 or more", SHOWN(shown));
        return;
    }
    if (field->rules.max_value == 0 || is_absent || is_within(value)) {
        return;
    }
    shown = number_text(checker, value);
    fault_add(checker->ctx->fault, path_of(checker, value),
              "%.*s is out of range; expected %lld to %lld", SHOWN(shown),
              (long long)field->rules.min_value, (long long)field->rules.max_value);
}

void check_scalar(struct checker *checker, const struct checked_value *value)
{
    if (value->field->rules.output_only && !checker->is_stored) {
        return;
    }
    if (value->field->type == FIELD_ENUM) {
        check_enum(checker, value);
    } else if (checker->is_stored) {
        return;
    } else if (value->field->type != FIELD_BOOL) {
        check_limits(checker, value);
    }
}

/* Returns the path of a whole field, without an index. */
static struct slice whole_path(struct checker *checker, const struct field_info *field)
{
    struct slice path = check_frame_path(checker);

    if (path.size == 0) {
        return field->name;
    }
    return arena_printf(checker->ctx->arena, "%.*s.%.*s", SHOWN(path), SHOWN(field->name));
}

static void add_missing(struct checker *checker, const struct field_info *field)
{
    struct slice words = {NULL, 0};

    if (field->type != FIELD_ENUM) {
        fault_add(checker->ctx->fault, whole_path(checker, field), "missing; expected %s",
                  field->repeated ? "at least one element" : "a value");
        return;
    }
    words = contract_enum_words(checker->ctx->arena, field->enumeration);
    fault_add(checker->ctx->fault, whole_path(checker, field), "missing; expected %.*s",
              SHOWN(words));
}

static void check_timestamp(struct checker *checker, const struct frame *frame)
{
    struct ctx *ctx = checker->ctx;
    char text[TIMESTAMP_TEXT_BYTES_MAX];
    size_t size = 0;
    int64_t now_us = 0;

    if (frame->seconds < TIMESTAMP_SECONDS_MIN || frame->seconds > TIMESTAMP_SECONDS_MAX) {
        fault_add(ctx->fault, check_frame_path(checker),
                  "%lld seconds since 1970; expected a time in the years 1 to 9999",
                  (long long)frame->seconds);
        return;
    }
    if (frame->nanos < 0 || frame->nanos > 999999999) {
        fault_add(ctx->fault, check_frame_path(checker), "%lld nanos; expected 0 to 999999999",
                  (long long)frame->nanos);
        return;
    }
    if (frame->field == NULL || !frame->field->rules.not_future || checker->is_stored) {
        return;
    }
    if (frame->seconds < 0) {
        fault_add(ctx->fault, check_frame_path(checker), "before 1970; expected a later time");
        return;
    }
    now_us = clock_wall_us(ctx->clock);
    if (frame->seconds * 1000000 + frame->nanos / 1000 > now_us) {
        size = timestamp_format(frame->seconds, (int32_t)frame->nanos, text);
        fault_add(ctx->fault, check_frame_path(checker),
                  "%.*s is in the future; expected a past time, or no value", (int)size, text);
    }
}

static bool is_id(const struct field_info *field)
{
    return field->rules.format == FORMAT_OPAQUE_ID || field->rules.format == FORMAT_UUID;
}

static void check_field_end(struct checker *checker, const struct field_info *field, uint32_t seen)
{
    const struct field_rules *rules = &field->rules;
    bool is_given = field->repeated ? seen > 0 : seen == SEEN_VALUE;
    bool is_zero_given = seen == SEEN_EMPTY && field->optional && field->type != FIELD_ENUM &&
                         field->type != FIELD_STRING && field->type != FIELD_BYTES;

    if (rules->output_only) {
        if (is_given) {
            fault_add(checker->ctx->fault, whole_path(checker, field),
                      "set by the server; expected no value");
        }
        return;
    }
    if (rules->required && !is_given && !is_zero_given) {
        add_missing(checker, field);
    } else if (checker->is_write && seen == SEEN_EMPTY && field->optional && is_id(field)) {
        fault_add(checker->ctx->fault, whole_path(checker, field),
                  "empty; expected an id, or no value");
    }
    if (field->repeated && rules->max_items != 0 && seen > rules->max_items) {
        fault_add(checker->ctx->fault, whole_path(checker, field),
                  "%u elements; expected at most %u", seen, rules->max_items);
    }
}

void check_message_end(struct checker *checker)
{
    const struct frame *frame = &checker->frames[checker->depth - 1];
    const struct message_info *message = frame->message;

    if (message->well_known == MESSAGE_TIMESTAMP) {
        check_timestamp(checker, frame);
        return;
    }
    if (checker->is_stored) {
        return;
    }
    for (uint32_t i = 0; i < message->count; i++) {
        if (frame->seen[i] == SEEN_NOTHING && !message->fields[i].rules.required) {
            continue; /* most fields have no rules */
        }
        check_field_end(checker, &message->fields[i], frame->seen[i]);
    }
}
