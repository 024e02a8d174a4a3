/*
 * rule_import_read.c: see rule_import_read.h.
 */
#include "server/domain/rule_files/rule_import_read.h"

#include "server/domain/json/members.h"
#include "server/domain/rule_files/rule_file.h"
#include "server/domain/verdicts/learners.h"
#include "store/base/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rule that is read, and where its mistakes are reported. */
struct reading {
    struct ctx *ctx;
    struct rule_import_item *item;
    bool has_type;
    bool has_action;
    bool has_adjustment;
    double adjustment;
    uint32_t action;
    enum err err; /* ERR_MEMORY */
};

/* Reports a mistake of a member of the rule; or of the rule itself if `member` is NULL. */
static void PRINTF_LIKE(4, 5) report(const struct reading *reading, const char *member,
                                     struct json_value value, const char *format, ...)
{
    struct fault *fault = reading->ctx->fault;
    struct arena *arena = reading->ctx->arena;
    struct slice field = arena_printf(arena, "rules[%zu]%s%s", reading->item->place,
                                      member != NULL ? "." : "", member != NULL ? member : "");
    struct slice shown = fault_shorten(fault, value.text);
    char expected[160];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(expected, sizeof(expected), format, arguments);
    va_end(arguments);
    fault_add(fault, field, "%.*s; expected %s", (int)shown.size, (const char *)shown.data,
              expected);
}

static bool read_text(struct reading *reading, struct json_value value, struct slice *ret_text)
{
    enum err err = OK;

    if (value.kind != JSON_STRING) {
        return false;
    }
    err = json_string(reading->ctx->arena, value.text, ret_text);
    reading->err = err != OK ? err : reading->err;
    return err == OK;
}

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

/* Returns whether a text is a word, in lower or upper case, with or without the prefix of its type. */
static bool is_word(struct slice text, struct slice word, struct slice prefix)
{
    if (slice_starts_with(text, prefix)) {
        text = slice_after(text, prefix.size);
    }
    if (text.size != word.size || word.size == 0) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (lower(text.data[i]) != word.data[i]) {
            return false;
        }
    }
    return true;
}

/* Reads an enum value of at most `last` by its words. */
static bool read_word(struct reading *reading, struct json_value value, struct slice prefix,
                      struct slice (*word_of)(uint32_t value), uint32_t last, uint32_t *ret_value)
{
    struct slice text = {NULL, 0};

    if (!read_text(reading, value, &text)) {
        return false;
    }
    for (uint32_t i = 1; i <= last; i++) {
        if (is_word(text, word_of(i), prefix)) {
            *ret_value = i;
            return true;
        }
    }
    return false;
}

/* Reads a number within limits. Valid only within an object: a byte that is not part of a number follows. */
static bool read_number(struct json_value value, double min, double max, double *ret_number)
{
    double number = value.kind == JSON_NUMBER ? strtod((const char *)value.text.data, NULL) : NAN;

    if (!(number >= min && number <= max)) {
        return false;
    }
    *ret_number = number;
    return true;
}

static void read_type(struct reading *reading, const char *name, struct json_value value)
{
    uint32_t type = 0;

    if (read_word(reading, value, SLICE("LEARNED_RULE_TYPE_"), rule_file_type_word,
                  LEARNED_RULE_TYPE_MISSED_INDICATOR, &type)) {
        reading->item->rule_type = (enum learned_rule_type)type;
        reading->has_type = true;
    } else {
        report(reading, name, value, "false_negative, false_positive or missed_indicator");
    }
}

static void read_action(struct reading *reading, const char *name, struct json_value value)
{
    reading->has_action =
        read_word(reading, value, SLICE("LEARNED_RULE_ACTION_"), rule_file_action_word,
                  LEARNED_RULE_ACTION_ADD_CHECK, &reading->action);
    if (!reading->has_action) {
        report(reading, name, value, "increase_weight, decrease_weight or add_check");
    }
}

static void read_state(struct reading *reading, const char *name, struct json_value value)
{
    uint32_t state = 0;

    if (read_word(reading, value, SLICE("ARTIFACT_STATE_"), rule_file_state_word,
                  ARTIFACT_STATE_REJECTED, &state)) {
        reading->item->values.state = (enum artifact_state)state;
    } else {
        report(reading, name, value,
               "proposed, shadow, active, sunset_proposed, retired or rejected");
    }
}

static void read_pattern(struct reading *reading, const char *name, struct json_value value)
{
    struct slice pattern = {NULL, 0};

    if (read_text(reading, value, &pattern) && pattern.size > 0 &&
        pattern.size <= RULE_IMPORT_PATTERN_BYTES_MAX &&
        memchr(pattern.data, '\0', pattern.size) == NULL) {
        reading->item->pattern = pattern;
    } else {
        report(reading, name, value, "a text of 1 to %d bytes without NUL",
               RULE_IMPORT_PATTERN_BYTES_MAX);
    }
}

static void read_adjustment(struct reading *reading, const char *name, struct json_value value)
{
    reading->has_adjustment = read_number(value, -1, 1, &reading->adjustment);
    if (reading->has_adjustment) {
        reading->item->values.adjustment =
            (int64_t)llround(reading->adjustment * (double)VERDICT_UNIT);
    } else {
        report(reading, name, value, "a number from -1 to 1");
    }
}

static void read_accuracy(struct reading *reading, const char *name, struct json_value value)
{
    double accuracy = 0;

    if (read_number(value, 0, 1, &accuracy)) {
        reading->item->values.accuracy = (uint64_t)llround(accuracy * (double)VERDICT_UNIT);
    } else {
        report(reading, name, value, "a number from 0 to 1");
    }
}

static void read_count(struct reading *reading, const char *name, struct json_value value)
{
    bool is_negative = false;
    uint64_t count = 0;

    if (value.kind == JSON_NUMBER && json_integer(value.text, &is_negative, &count) &&
        !is_negative && count <= RULE_IMPORT_COUNT_MAX) {
        reading->item->values.count = count;
    } else {
        report(reading, name, value, "an integer from 0 to %" PRIu64, RULE_IMPORT_COUNT_MAX);
    }
}

static bool read_flag(struct reading *reading, const char *name, struct json_value value)
{
    if (value.kind != JSON_TRUE && value.kind != JSON_FALSE) {
        report(reading, name, value, "true or false");
    }
    return value.kind == JSON_TRUE;
}

static void read_enabled(struct reading *reading, const char *name, struct json_value value)
{
    reading->item->values.enabled = read_flag(reading, name, value);
}

static void read_auto_learned(struct reading *reading, const char *name, struct json_value value)
{
    reading->item->values.auto_learned = read_flag(reading, name, value);
}

static void read_uuid(struct reading *reading, const char *name, struct json_value value,
                      struct uuid *id)
{
    struct slice text = {NULL, 0};

    if (!read_text(reading, value, &text) || !uuid_parse(text, id) ||
        bytes_are_zero(id->bytes, UUID_BYTES)) {
        report(reading, name, value, "a UUID in 36 characters");
    }
}

static void read_id(struct reading *reading, const char *name, struct json_value value)
{
    read_uuid(reading, name, value, &reading->item->id);
}

static void read_source_id(struct reading *reading, const char *name, struct json_value value)
{
    read_uuid(reading, name, value, &reading->item->values.source_id);
}

static void read_time(struct reading *reading, const char *name, struct json_value value)
{
    if (value.kind != JSON_STRING) {
        report(reading, name, value, "a time as text");
    }
}

static const struct {
    const char *name;
    void (*read)(struct reading *reading, const char *name, struct json_value value);
} members[] = {
    {"rule_id", read_id},
    {"rule_type", read_type},
    {"pattern", read_pattern},
    {"action", read_action},
    {"confidence_adjustment", read_adjustment},
    {"learned_from_feedback_count", read_count},
    {"accuracy_on_validation", read_accuracy},
    {"enabled", read_enabled},
    {"auto_learned", read_auto_learned},
    {"state", read_state},
    {"source_rule_id", read_source_id},
    {"created_at", read_time},
    {"last_updated", read_time},
};

/* Reads a member by its name; null is absent. */
static void read_member(struct reading *reading, struct slice key, struct json_value value)
{
    const struct json_value as_key = {JSON_STRING, key};

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (json_key_is(key, slice_text(members[i].name))) {
            if (value.kind != JSON_NULL) {
                members[i].read(reading, members[i].name, value);
            }
            return;
        }
    }
    report(reading, NULL, as_key, "only members of version %d", RULE_FILE_VERSION);
}

/* Checks the rules that concern several members. */
static void check_rule(const struct reading *reading)
{
    const struct json_value missing = {JSON_NULL, SLICE("missing")};
    const struct learner *learner = NULL;
    struct slice number = {NULL, 0};

    if (reading->item->pattern.size == 0) {
        report(reading, "pattern", missing, "a text of 1 to %d bytes",
               RULE_IMPORT_PATTERN_BYTES_MAX);
    }
    if (!reading->has_type) {
        report(reading, "rule_type", missing, "a type");
        return;
    }
    learner = learner_of_type(reading->item->rule_type);
    if (reading->has_action && reading->action != (uint32_t)learner->action) {
        report(reading, "action",
               (struct json_value){JSON_STRING, rule_file_action_word(reading->action)},
               "the action of the rule_type");
    }
    if (reading->has_adjustment && reading->adjustment * (double)learner->adjustment < 0) {
        number = arena_printf(reading->ctx->arena, "%g", reading->adjustment);
        report(reading, "confidence_adjustment", (struct json_value){JSON_NUMBER, number},
               "a number %s for this rule_type",
               learner->adjustment < 0 ? "from -1 to 0" : "from 0 to 1");
    }
}

static enum err read_rule(struct ctx *ctx, struct json_value value, struct rule_import_item *item)
{
    struct reading reading = {.ctx = ctx, .item = item};
    struct json_walk walk;
    struct slice key = {NULL, 0};
    struct json_value member = {.kind = JSON_NULL};

    item->values = (struct learned_rule_values){
        .count = 1,
        .accuracy = (uint64_t)LEARNED_RULE_ACCURACY,
        .enabled = true,
        .auto_learned = true,
    };
    if (value.kind != JSON_OBJECT) {
        report(&reading, NULL, value, "an object");
        return OK;
    }
    walk = json_walk_start(value);
    while (reading.err == OK && json_walk_next(&walk, &key, &member)) {
        read_member(&reading, key, member);
    }
    check_rule(&reading);
    return reading.err;
}

static int compare_keys(uint32_t type, struct slice pattern, const struct rule_import_item *item)
{
    if (type != (uint32_t)item->rule_type) {
        return type < (uint32_t)item->rule_type ? -1 : 1;
    }
    return slice_compare(pattern, item->pattern);
}

static int compare_items(const void *a, const void *b)
{
    const struct rule_import_item *left = *(const struct rule_import_item *const *)a;
    const struct rule_import_item *right = *(const struct rule_import_item *const *)b;
    int order = compare_keys((uint32_t)left->rule_type, left->pattern, right);

    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Sorts the rules, and reports those with the type and pattern of an earlier one. */
static enum err sort(struct ctx *ctx, struct rule_import *import)
{
    import->by_key =
        arena_calloc(ctx->arena, import->count + 1, sizeof(const struct rule_import_item *));
    if (import->by_key == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < import->count; i++) {
        import->by_key[i] = &import->items[i];
    }
    qsort(import->by_key, import->count, sizeof(const struct rule_import_item *), compare_items);
    for (size_t i = 1; i < import->count; i++) {
        const struct rule_import_item *item = import->by_key[i];
        const struct rule_import_item *before = import->by_key[i - 1];

        if (item->pattern.size > 0 &&
            compare_keys((uint32_t)item->rule_type, item->pattern, before) == 0) {
            fault_add(ctx->fault, arena_printf(ctx->arena, "rules[%zu]", item->place),
                      "also rules[%zu]; expected each rule_type and pattern once", before->place);
        }
    }
    return OK;
}

static enum err read_rules(struct ctx *ctx, struct json_value rules, struct rule_import *import)
{
    struct json_walk walk = json_walk_start(rules);
    struct json_value value = {.kind = JSON_NULL};
    struct slice key = {NULL, 0};
    size_t count = 0;
    enum err err = OK;

    while (json_walk_next(&walk, &key, &value)) {
        count++;
    }
    if (count > RULE_IMPORT_RULES_MAX) {
        fault_add(ctx->fault, SLICE("rules"), "%zu; expected at most %d", count,
                  RULE_IMPORT_RULES_MAX);
        return ERR_INVALID;
    }
    import->items = arena_calloc(ctx->arena, count + 1, sizeof(*import->items));
    if (import->items == NULL) {
        return ERR_MEMORY;
    }
    walk = json_walk_start(rules);
    while (err == OK && json_walk_next(&walk, &key, &value)) {
        struct rule_import_item *item = &import->items[import->count];

        item->place = import->count;
        import->count++;
        err = read_rule(ctx, value, item);
    }
    return err != OK ? err : sort(ctx, import);
}

/* Checks the version: a document of another version is not read. */
static bool has_version(struct ctx *ctx, struct json_value document)
{
    struct json_value version = {JSON_NULL, SLICE("missing")};
    struct slice shown = {NULL, 0};
    bool is_negative = false;
    uint64_t number = 0;

    (void)json_member(document, SLICE("schema_version"), &version);
    if (version.kind == JSON_NUMBER && json_integer(version.text, &is_negative, &number) &&
        !is_negative && number == RULE_FILE_VERSION) {
        return true;
    }
    shown = fault_shorten(ctx->fault, version.text);
    fault_add(ctx->fault, SLICE("schema_version"), "%.*s; expected %d", (int)shown.size,
              (const char *)shown.data, RULE_FILE_VERSION);
    return false;
}

static void check_top(struct ctx *ctx, struct json_value document)
{
    struct json_walk walk = json_walk_start(document);
    struct json_value value = {.kind = JSON_NULL};
    struct slice key = {NULL, 0};

    while (json_walk_next(&walk, &key, &value)) {
        if (!json_key_is(key, SLICE("schema_version")) && !json_key_is(key, SLICE("rules"))) {
            struct slice shown = fault_shorten(ctx->fault, key);

            fault_add(ctx->fault, SLICE("document_json"),
                      "%.*s; expected only schema_version and rules", (int)shown.size,
                      (const char *)shown.data);
        }
    }
}

enum err rule_import_read(struct ctx *ctx, struct slice document, struct rule_import *ret_import)
{
    struct json_value object = members_value_of(document);
    struct json_value rules = {.kind = JSON_NULL};
    struct rule_import import = {.count = 0};
    enum err err = OK;

    if (!has_version(ctx, object)) {
        return ERR_INVALID;
    }
    check_top(ctx, object);
    if (!json_member(object, SLICE("rules"), &rules) || rules.kind != JSON_ARRAY) {
        fault_add(ctx->fault, SLICE("rules"), "missing or not a list; expected a list of rules");
    } else {
        err = read_rules(ctx, rules, &import);
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        *ret_import = import;
    }
    return err;
}

const struct rule_import_item *rule_import_find(const struct rule_import *import,
                                                uint32_t rule_type, struct slice pattern)
{
    size_t low = 0;
    size_t high = import->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(rule_type, pattern, import->by_key[middle]);

        if (order == 0) {
            return import->by_key[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}
