/*
 * predicate.c: see predicate.h. Numbers are compared as doubles.
 */
#include "server/domain/scoring/predicate.h"

#include "server/domain/text/case_fold.h"

#include <stdlib.h>

/* Reads the value of a comparison, if it is a number. */
static enum err read_number(struct arena *arena, struct predicate *predicate)
{
    const struct json_rules rules = {.depth_max = 1};
    struct json_value value = {.kind = JSON_NULL};
    struct json_problem problem;
    struct slice terminated = {NULL, 0};
    enum err err = json_check(arena, predicate->value, &rules, &value, &problem);

    if (err == ERR_INVALID || (err == OK && value.kind != JSON_NUMBER)) {
        return OK;
    }
    if (err == OK && !arena_copy(arena, value.text, &terminated)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        predicate->has_number = value.text.size == predicate->value.size;
        predicate->number = strtod((const char *)terminated.data, NULL);
    }
    return err;
}

enum err predicate_read(struct arena *arena, struct slice pattern, struct predicate *ret_predicate)
{
    const struct slice prefix = SLICE("text:");
    struct predicate predicate = {.kind = PREDICATE_PLAIN};
    size_t at = 0;
    enum err err = OK;

    if (slice_starts_with(pattern, prefix)) {
        predicate.kind = PREDICATE_PHRASE;
        err = case_fold(arena, slice_after(pattern, prefix.size), &predicate.phrase);
        *ret_predicate = predicate;
        return err;
    }
    while (at < pattern.size && pattern.data[at] != '=' && pattern.data[at] != '>' &&
           pattern.data[at] != '<') {
        at++;
    }
    if (at < pattern.size) {
        predicate.kind = PREDICATE_COMPARISON;
        predicate.operator_byte = pattern.data[at];
        predicate.name = slice_of(pattern.data, at);
        predicate.value = slice_after(pattern, at + 1);
        err = read_number(arena, &predicate);
    }
    *ret_predicate = predicate;
    return err;
}

enum err feature_read(struct arena *arena, struct json_value value, struct feature *ret_feature)
{
    struct feature feature = {.kind = value.kind};
    enum err err = OK;

    if (value.kind == JSON_NUMBER) {
        /* Valid only within an object: a byte that is not part of a number follows. */
        feature.number = strtod((const char *)value.text.data, NULL);
    } else if (value.kind == JSON_STRING) {
        err = json_string(arena, value.text, &feature.text);
    }
    *ret_feature = feature;
    return err;
}

bool feature_is_set(const struct feature *feature)
{
    return feature->kind == JSON_TRUE ||
           (feature->kind == JSON_NUMBER && (feature->number < 0 || feature->number > 0)) ||
           (feature->kind == JSON_STRING && feature->text.size > 0);
}

static bool is_equal(const struct predicate *comparison, const struct feature *feature)
{
    switch (feature->kind) {
    case JSON_TRUE:
        return slice_equal(comparison->value, SLICE("true"));
    case JSON_FALSE:
        return slice_equal(comparison->value, SLICE("false"));
    case JSON_NUMBER:
        return comparison->has_number && !(comparison->number < feature->number) &&
               !(comparison->number > feature->number);
    case JSON_STRING:
        return slice_equal(comparison->value, feature->text);
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        return false;
    }
    return false;
}

bool predicate_holds(const struct predicate *comparison, const struct feature *feature)
{
    bool is_numeric = comparison->has_number && feature->kind == JSON_NUMBER;

    if (comparison->operator_byte == '=') {
        return is_equal(comparison, feature);
    }
    return is_numeric && (comparison->operator_byte == '>' ? feature->number > comparison->number
                                                           : feature->number < comparison->number);
}
