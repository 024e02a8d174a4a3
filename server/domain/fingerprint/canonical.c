/*
 * canonical.c: see canonical.h. Nested values are handled with an explicit stack; json_check has
 * limited the depth.
 */
#include "server/domain/fingerprint/canonical.h"

#include "store/base/assert.h"

#include <math.h>
#include <stdlib.h>

struct member {
    struct slice name; /* unescaped */
    struct json_value value;
};

/* An open object or array. */
struct level {
    bool is_object;
    struct member *members; /* members of an object, sorted by name */
    size_t count;
    size_t next;
    struct json_walk walk; /* position in an array */
    bool started; /* at least one of its items has been written */
};

struct canonical_writer {
    struct arena *arena;
    struct buffer *buffer;
    struct level levels[JSON_DEPTH_MAX];
    size_t depth;
};

static bool contains(struct slice text, const char *any)
{
    for (size_t i = 0; i < text.size; i++) {
        if (strchr(any, text.data[i]) != NULL) {
            return true;
        }
    }
    return false;
}

struct canonical_number canonical_read_number(struct slice text)
{
    char *end = NULL;

    /* `N` and `I` begin NaN and Infinity. A number is followed by at least the closing bracket of
     * its object, so strtod stops inside the document. */
    if (!contains(text, ".eENI")) {
        return (struct canonical_number){false, 0};
    }
    return (struct canonical_number){true, strtod((const char *)text.data, &end)};
}

void canonical_write_double(struct buffer *buffer, double value)
{
    if (isnan(value)) {
        buffer_append(buffer, SLICE("NaN"));
    } else if (isinf(value)) {
        buffer_append(buffer, value > 0 ? SLICE("Infinity") : SLICE("-Infinity"));
    } else {
        json_write_double(buffer, value);
    }
}

static void write_number(struct buffer *buffer, struct slice text)
{
    struct canonical_number number = canonical_read_number(text);

    if (number.is_float) {
        canonical_write_double(buffer, number.value);
    } else {
        buffer_append(buffer, slice_equal(text, SLICE("-0")) ? SLICE("0") : text);
    }
}

static enum err write_string(struct canonical_writer *writer, struct slice quoted)
{
    struct slice text = {NULL, 0};
    enum err err = json_string(writer->arena, quoted, &text);

    if (err == OK) {
        json_write_string(writer->buffer, text, true);
    }
    return err;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;

    /* UTF-8 bytes sort in the order of the code points. */
    return slice_compare(left->name, right->name);
}

static enum err sort_members(struct arena *arena, struct json_value object, struct level *level)
{
    struct json_walk walk = json_walk_start(object);
    struct slice key = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};

    while (json_walk_next(&walk, &key, &value)) {
        level->count++;
    }
    level->members = arena_calloc(arena, level->count + 1, sizeof(struct member));
    if (level->members == NULL) {
        return ERR_MEMORY;
    }
    walk = json_walk_start(object);
    for (size_t i = 0; i < level->count && json_walk_next(&walk, &key, &value); i++) {
        enum err err = json_string(arena, key, &level->members[i].name);

        if (err != OK) {
            return err;
        }
        level->members[i].value = value;
    }
    qsort(level->members, level->count, sizeof(struct member), compare_members);
    return OK;
}

static enum err open_level(struct canonical_writer *writer, struct json_value value)
{
    struct level *level = &writer->levels[writer->depth];

    ASSERT(writer->depth < JSON_DEPTH_MAX);
    memset(level, 0, sizeof(*level));
    level->is_object = value.kind == JSON_OBJECT;
    writer->depth++;
    buffer_append_byte(writer->buffer, level->is_object ? '{' : '[');
    if (level->is_object) {
        return sort_members(writer->arena, value, level);
    }
    level->walk = json_walk_start(value);
    return OK;
}

static enum err write_start(struct canonical_writer *writer, struct json_value value)
{
    switch (value.kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        buffer_append(writer->buffer, value.text);
        return OK;
    case JSON_NUMBER:
        write_number(writer->buffer, value.text);
        return OK;
    case JSON_STRING:
        return write_string(writer, value.text);
    case JSON_ARRAY:
    case JSON_OBJECT:
        return open_level(writer, value);
    }
    return ERR_INTERNAL;
}

/* Returns the next value of the innermost level; false at its end. Writes the separator before the
 * value. */
static bool next_value(struct canonical_writer *writer, struct level *level,
                       struct json_value *ret_value)
{
    struct slice no_key = {NULL, 0};

    if (level->is_object ? level->next == level->count
                         : !json_walk_next(&level->walk, &no_key, ret_value)) {
        return false;
    }
    if (level->started) {
        buffer_append(writer->buffer, SLICE(", "));
    }
    level->started = true;
    if (level->is_object) {
        json_write_string(writer->buffer, level->members[level->next].name, true);
        buffer_append(writer->buffer, SLICE(": "));
        *ret_value = level->members[level->next].value;
        level->next++;
    }
    return true;
}

enum err canonical_write(struct arena *arena, struct buffer *buffer, struct json_value value)
{
    struct canonical_writer *writer = arena_calloc(arena, 1, sizeof(*writer));
    enum err err = OK;

    if (writer == NULL) {
        return ERR_MEMORY;
    }
    writer->arena = arena;
    writer->buffer = buffer;
    err = write_start(writer, value);
    while (err == OK && writer->depth > 0) {
        struct level *level = &writer->levels[writer->depth - 1];

        if (next_value(writer, level, &value)) {
            err = write_start(writer, value);
        } else {
            buffer_append_byte(buffer, level->is_object ? '}' : ']');
            writer->depth--;
        }
    }
    if (err == OK && !buffer_ok(buffer)) {
        err = ERR_MEMORY;
    }
    return err;
}
