/*
 * example_output.c: see example_output.h. Texts are compared as JSON: the order of members, white space and the
 * notation of numbers and strings are ignored.
 */
#include "server/domain/corrections/example_output.h"

#include "server/domain/corrections/reduce.h"
#include "server/domain/json/members.h"

static bool is_empty(struct slice json)
{
    struct json_walk walk = json_walk_start(members_value_of(json));
    struct slice key = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};

    return !json_walk_next(&walk, &key, &value);
}

/* Returns whether a member reports the size of bytes that reduction removed. */
static bool is_cut(struct slice key, struct json_value value)
{
    struct json_walk walk = {.is_object = true};
    struct slice inner_key = {NULL, 0};
    struct json_value inner = {JSON_NULL, {NULL, 0}};

    if (json_key_is(key, SLICE(REDUCE_OMITTED_NAME))) {
        return true;
    }
    if (value.kind != JSON_OBJECT) {
        return false;
    }
    walk = json_walk_start(value);
    return json_walk_next(&walk, &inner_key, &inner) &&
           json_key_is(inner_key, SLICE(REDUCE_OMITTED_NAME)) &&
           !json_walk_next(&walk, &inner_key, &inner);
}

enum err example_output_cut(struct arena *arena, struct slice output, struct slice *ret_output,
                            bool *ret_cut)
{
    struct json_walk walk = json_walk_start(members_value_of(output));
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer buffer = {0};
    bool cut = false;

    buffer_init(&buffer, arena, output.size + 2);
    buffer_append_byte(&buffer, '{');
    while (json_walk_next(&walk, &key, &value)) {
        if (is_cut(key, value)) {
            cut = true;
            continue;
        }
        buffer_append(&buffer, buffer.size > 1 ? SLICE(",") : slice_of(NULL, 0));
        buffer_append(&buffer, key);
        buffer_append_byte(&buffer, ':');
        buffer_append(&buffer, value.text);
    }
    buffer_append_byte(&buffer, '}');
    if (!buffer_ok(&buffer)) {
        return ERR_MEMORY;
    }
    *ret_output = cut ? buffer_slice(&buffer) : output;
    *ret_cut = cut;
    return OK;
}

/* Finds whether a member of the output differs from `before`. */
static enum err find_change(struct arena *arena, struct slice before, struct slice output,
                            bool *ret_changed)
{
    struct members sides[2] = {{NULL, NULL, 0}, {NULL, NULL, 0}};
    bool changed = false;
    enum err err = members_read(arena, members_value_of(before), &sides[0]);

    if (err == OK) {
        err = members_read(arena, members_value_of(output), &sides[1]);
    }
    if (err == OK) {
        err = members_compare(arena, &sides[0], &sides[1]);
    }
    for (size_t i = 0; i < sides[1].count; i++) {
        changed = changed || sides[1].items[i].differs;
    }
    *ret_changed = changed;
    return err;
}

enum err example_output_check(struct arena *arena, struct slice before, struct slice given,
                              struct slice output, enum warning_code *ret_reason)
{
    bool equal = false;
    bool changed = true;
    enum err err = OK;

    *ret_reason = WARNING_CODE_UNSPECIFIED;
    if (is_empty(given)) {
        *ret_reason = WARNING_CODE_NO_OUTPUT;
        return OK;
    }
    err = json_equal(arena, members_value_of(before), members_value_of(given), &equal);
    if (err == OK && !equal && !slice_equal(given, output)) {
        err = find_change(arena, before, output, &changed);
    }
    if (equal) {
        *ret_reason = WARNING_CODE_OUTPUT_UNCHANGED;
    } else if (!changed) {
        *ret_reason = WARNING_CODE_OUTPUT_LOST;
    }
    return err;
}
