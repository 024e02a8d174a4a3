/*
 * fields_changed.c: see fields_changed.h. Items of `lines` are paired by what names them (line_id,
 * id, line_no, the first that an item has), else by their place; an item without a partner changed
 * in all its members.
 */
#include "server/domain/json/fields_changed.h"

#include "store/base/text.h"

#include <stdlib.h>

/* What only says where or what the change was. */
static const char *const never_changed[] = {"id",    "line_id",    "line_no",   "entity_id",
                                            "field", "field_name", "old_value", "new_value"};
static const char *const line_names[] = {"line_id", "id", "line_no"};

#define LINES SLICE("lines")

/* One item of `lines`. */
struct line {
    struct json_value value;
    struct slice name; /* the value that names it, written one way; empty: it has none */
    size_t place;
};

struct lines {
    struct line *items; /* by name, then place; those without a name first */
    size_t count;
};

static bool is_among(struct slice name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(name, slice_text(names[i]))) {
            return true;
        }
    }
    return false;
}

/* Adds a name as a copy: it may stand in memory that is given back. */
static enum err add_name(struct arena *arena, struct fields_changed *fields, struct slice name)
{
    name = text_first_bytes(name, FIELDS_CHANGED_NAME_BYTES_MAX);
    if (name.size == 0 || text_has_control(name) || fields->count == FIELDS_CHANGED_MAX ||
        is_among(name, never_changed, sizeof(never_changed) / sizeof(never_changed[0]))) {
        return OK;
    }
    for (size_t i = 0; i < fields->count; i++) {
        if (slice_equal(fields->names[i], name)) {
            return OK;
        }
    }
    if (!arena_copy(arena, name, &fields->names[fields->count])) {
        return ERR_MEMORY;
    }
    fields->count++;
    return OK;
}

static enum err add_told(struct arena *arena, struct json_value value,
                         struct fields_changed *fields)
{
    struct slice name = {NULL, 0};
    enum err err = OK;

    if (value.kind != JSON_STRING) {
        return OK;
    }
    err = json_string(arena, value.text, &name);
    return err != OK ? err : add_name(arena, fields, name);
}

/* Adds the one name that after or meta tells; none where neither does. */
static enum err add_first_told(struct arena *arena, const struct members *after,
                               struct json_value meta, struct fields_changed *fields)
{
    static const char *const tellers[] = {"field", "field_name"};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    enum err err = OK;

    for (size_t i = 0; i < 2 && err == OK && fields->count == 0; i++) {
        const struct member *member = members_find(after, slice_text(tellers[i]));

        if (member != NULL) {
            err = add_told(arena, member->value, fields);
        }
    }
    for (size_t i = 0; i < 2 && err == OK && fields->count == 0; i++) {
        if (json_member(meta, slice_text(tellers[i]), &value)) {
            err = add_told(arena, value, fields);
        }
    }
    return err;
}

/* Adds the members that differ, but for the one called `but`. */
static enum err add_differing(struct arena *arena, const struct members *members, struct slice but,
                              struct fields_changed *fields)
{
    enum err err = OK;

    for (size_t i = 0; i < members->count && err == OK; i++) {
        const struct member *member = &members->items[i];

        if (fields->count == FIELDS_CHANGED_MAX) {
            break;
        }
        if (member->differs && !slice_equal(member->name, but)) {
            err = add_name(arena, fields, member->name);
        }
    }
    return err;
}

/* One text for all ways to write a name: 1 and 1.0 are one, and so are "a" and "\u0061". */
static enum err write_name(struct arena *arena, struct json_value value, struct slice *ret_name)
{
    struct slice text = {NULL, 0};
    struct buffer buffer = {0};
    bool is_negative = false;
    uint64_t magnitude = 0;
    enum err err = OK;

    *ret_name = value.text;
    if (value.kind == JSON_NUMBER && json_integer(value.text, &is_negative, &magnitude)) {
        *ret_name =
            arena_printf(arena, "%s%llu", is_negative ? "-" : "", (unsigned long long)magnitude);
        return ret_name->size > 0 ? OK : ERR_MEMORY;
    }
    if (value.kind != JSON_STRING || memchr(value.text.data, '\\', value.text.size) == NULL) {
        return OK;
    }
    err = json_string(arena, value.text, &text);
    if (err != OK) {
        return err;
    }
    buffer_init(&buffer, arena, value.text.size);
    json_write_string(&buffer, text, false);
    *ret_name = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

static enum err name_of_line(struct arena *arena, struct json_value line, struct slice *ret_name)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    for (size_t i = 0; i < sizeof(line_names) / sizeof(line_names[0]); i++) {
        if (json_member(line, slice_text(line_names[i]), &value) && value.kind != JSON_NULL) {
            return write_name(arena, value, ret_name);
        }
    }
    *ret_name = slice_of(NULL, 0);
    return OK;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    int order = slice_compare(left->name, right->name);

    if (order != 0) {
        return order;
    }
    return left->place < right->place ? -1 : left->place > right->place;
}

static enum err read_lines(struct arena *arena, const struct member *member,
                           struct lines *ret_lines)
{
    struct json_value none = {JSON_ARRAY, SLICE("[]")};
    struct json_walk walk = json_walk_start(member != NULL ? member->value : none);
    struct slice key = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct lines lines = {NULL, 0};
    size_t count = 0;

    while (json_walk_next(&walk, &key, &value)) {
        count++;
    }
    lines.items = arena_calloc(arena, count + 1, sizeof(struct line));
    if (lines.items == NULL) {
        return ERR_MEMORY;
    }
    walk = json_walk_start(member != NULL ? member->value : none);
    while (lines.count < count && json_walk_next(&walk, &key, &value)) {
        struct line *line = &lines.items[lines.count];
        enum err err = name_of_line(arena, value, &line->name);

        if (err != OK) {
            return err;
        }
        line->value = value;
        line->place = lines.count;
        lines.count++;
    }
    qsort(lines.items, lines.count, sizeof(struct line), compare_lines);
    *ret_lines = lines;
    return OK;
}

/* Reads and compares two lines; NULL for one that is not there. */
static enum err compare_line(struct arena *scratch, const struct line *before,
                             const struct line *after, struct members ret_sides[2])
{
    const struct json_value none = {JSON_OBJECT, SLICE("{}")};
    enum err err = members_read(scratch, before != NULL ? before->value : none, &ret_sides[0]);

    if (err == OK) {
        err = members_read(scratch, after != NULL ? after->value : none, &ret_sides[1]);
    }
    return err != OK ? err : members_compare(scratch, &ret_sides[0], &ret_sides[1]);
}

/* Adds what differs between two lines. They are taken apart in memory that is given back, since a
 * draft may have thousands. */
static enum err add_line(struct arena *arena, struct arena *scratch, const struct line *before,
                         const struct line *after, struct fields_changed *fields)
{
    const struct slice nothing = {NULL, 0};
    struct members sides[2] = {{NULL, NULL, 0}, {NULL, NULL, 0}};
    enum err err = OK;

    if (before != NULL && after != NULL && slice_equal(before->value.text, after->value.text)) {
        return OK;
    }
    err = compare_line(scratch, before, after, sides);
    for (size_t i = 0; i < 2 && err == OK; i++) {
        err = add_differing(arena, &sides[i], nothing, fields);
    }
    arena_reset(scratch);
    return err;
}

/* The order in which lines are paired: by name, or by place where both have none. */
static int compare_pair(const struct line *before, const struct line *after)
{
    if (before->name.size == 0 && after->name.size == 0) {
        return before->place < after->place ? -1 : before->place > after->place;
    }
    return slice_compare(before->name, after->name);
}

static enum err add_paired_lines(struct arena *arena, const struct lines *before,
                                 const struct lines *after, struct fields_changed *fields)
{
    struct arena scratch;
    size_t left = 0;
    size_t right = 0;
    enum err err = OK;

    arena_init(&scratch, arena->limit_bytes);
    while (err == OK && (left < before->count || right < after->count) &&
           fields->count < FIELDS_CHANGED_MAX) {
        const struct line *a = left < before->count ? &before->items[left] : NULL;
        const struct line *b = right < after->count ? &after->items[right] : NULL;
        int order = a == NULL ? 1 : -1;

        if (a != NULL && b != NULL) {
            order = compare_pair(a, b);
        }
        left += order <= 0;
        right += order >= 0;
        err = add_line(arena, &scratch, order <= 0 ? a : NULL, order >= 0 ? b : NULL, fields);
    }
    arena_deinit(&scratch);
    return err;
}

static bool is_array_or_absent(const struct member *member)
{
    return member == NULL || member->value.kind == JSON_ARRAY;
}

/* Adds what changed in `lines`: the members of its items, or itself where those tell nothing. */
static enum err add_lines(struct arena *arena, const struct member *before,
                          const struct member *after, struct fields_changed *fields)
{
    size_t count = fields->count;
    struct lines left = {NULL, 0};
    struct lines right = {NULL, 0};
    enum err err = OK;

    if (is_array_or_absent(before) && is_array_or_absent(after)) {
        err = read_lines(arena, before, &left);
        if (err == OK) {
            err = read_lines(arena, after, &right);
        }
        if (err == OK) {
            err = add_paired_lines(arena, &left, &right, fields);
        }
    }
    return err != OK || fields->count > count ? err : add_name(arena, fields, LINES);
}

enum err fields_changed_derive(struct arena *arena, const struct members *before,
                               const struct members *after, struct json_value meta,
                               struct fields_changed *ret_fields)
{
    const struct member *before_lines = members_find(before, LINES);
    const struct member *after_lines = members_find(after, LINES);
    bool lines_differ = (before_lines != NULL && before_lines->differs) ||
                        (after_lines != NULL && after_lines->differs);
    enum err err = OK;

    ret_fields->count = 0;
    err = add_first_told(arena, after, meta, ret_fields);
    if (err != OK || ret_fields->count > 0) {
        return err;
    }
    err = add_differing(arena, before, LINES, ret_fields);
    if (err == OK) {
        err = add_differing(arena, after, LINES, ret_fields);
    }
    if (err == OK && lines_differ) {
        err = add_lines(arena, before_lines, after_lines, ret_fields);
    }
    return err;
}
