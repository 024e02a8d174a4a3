/*
 * diff.c: see diff.h. Values are returned as written.
 */
#include "server/domain/json/diff.h"

#include "server/domain/json/list_items.h"

#include <errata/v1/feedback_event.views.h>

/* A diff that is being written. */
struct diff {
    struct arena *arena;
    struct buffer *buffer;
    uint32_t field;
    size_t count; /* number of entries so far */
};

/* Appends one entry; NULL for the side that lacks it. */
static void append_one(struct diff *diff, struct slice name, struct slice path,
                       const struct json_value *before, const struct json_value *after)
{
    const struct slice none = {NULL, 0};
    const struct field_diff_view view = {
        .name = name,
        .before = before != NULL ? before->text : none,
        .has_before = before != NULL,
        .after = after != NULL ? after->text : none,
        .has_after = after != NULL,
        .path = path,
    };

    if (diff->count < DIFF_ENTRIES_MAX) {
        field_diff_view_put(&view, diff->field, diff->buffer);
        diff->count++;
    }
}

/* `lines[line_no=3]`, or `lines[2]`. */
static struct slice item_path(struct arena *arena, struct slice list_name,
                              const struct list_pair *pair, const struct list_item *item)
{
    struct buffer path;

    buffer_init(&path, arena, list_name.size + pair->key_name.size + item->key.size + 24);
    buffer_append(&path, list_name);
    buffer_append_byte(&path, '[');
    if (item->key.size == 0) {
        buffer_printf(&path, "%zu", item->place);
    } else {
        buffer_append(&path, pair->key_name);
        buffer_append_byte(&path, '=');
        buffer_append(&path, item->key);
    }
    buffer_append_byte(&path, ']');
    return buffer_slice(&path);
}

static void append_member(struct diff *diff, struct slice item, struct slice name,
                          const struct member *before, const struct member *after)
{
    struct buffer path;

    buffer_init(&path, diff->arena, item.size + name.size + 1);
    buffer_append(&path, item);
    buffer_append_byte(&path, '.');
    buffer_append(&path, name);
    append_one(diff, name, buffer_slice(&path), before != NULL ? &before->value : NULL,
               after != NULL ? &after->value : NULL);
}

/* Appends the members of an item of `after` that differ from its partner's. */
static enum err append_item(struct diff *diff, struct slice path, const struct list_item *item)
{
    struct members sides[2] = {{NULL, NULL, 0}, {NULL, NULL, 0}};
    enum err err = list_item_compare(diff->arena, item, sides);

    for (size_t i = 0; i < sides[1].count && err == OK; i++) {
        const struct member *before = &sides[1].items[i];

        if (before->differs) {
            append_member(diff, path, before->name, before, members_find(&sides[0], before->name));
        }
    }
    for (size_t i = 0; i < sides[0].count && err == OK; i++) {
        const struct member *after = &sides[0].items[i];

        if (members_find(&sides[1], after->name) == NULL) {
            append_member(diff, path, after->name, NULL, after);
        }
    }
    return err;
}

/* Appends the differences of one item: an item of the list in `after`, or one that it lacks. */
static enum err append_pair(struct diff *diff, struct slice list_name, const struct list_pair *pair,
                            const struct list_item *item, bool is_after)
{
    struct slice path = {NULL, 0};

    if (item->partner != NULL &&
        (!is_after || slice_equal(item->value.text, item->partner->value.text))) {
        return OK;
    }
    path = item_path(diff->arena, list_name, pair, item);
    if (item->partner != NULL) {
        return append_item(diff, path, item);
    }
    append_one(diff, list_name, path, is_after ? NULL : &item->value,
               is_after ? &item->value : NULL);
    return OK;
}

/* Appends a member whose values differ: item by item if both are lists of objects. */
static enum err append_changed(struct diff *diff, const struct member *before,
                               const struct member *after)
{
    size_t count = diff->count;
    struct list_pair pair;
    bool paired = false;
    enum err err = list_items_pair(diff->arena, before->value, after->value, &pair, &paired);

    for (size_t i = 0; i < pair.after.count && err == OK && diff->count < DIFF_ENTRIES_MAX; i++) {
        err = append_pair(diff, before->name, &pair, &pair.after.items[i], true);
    }
    for (size_t i = 0; i < pair.before.count && err == OK && diff->count < DIFF_ENTRIES_MAX; i++) {
        err = append_pair(diff, before->name, &pair, &pair.before.items[i], false);
    }
    if (err == OK && diff->count == count) { /* no lists of objects, or only the order differs */
        append_one(diff, before->name, before->name, &before->value, &after->value);
    }
    return err;
}

static enum err append_all(struct diff *diff, const struct members *before,
                           const struct members *after)
{
    enum err err = OK;

    for (size_t i = 0; i < before->count && err == OK; i++) {
        const struct member *member = &before->items[i];
        const struct member *other = member->differs ? members_find(after, member->name) : NULL;

        if (other != NULL) {
            err = append_changed(diff, member, other);
        } else if (member->differs) {
            append_one(diff, member->name, member->name, &member->value, NULL);
        }
    }
    for (size_t i = 0; i < after->count && err == OK; i++) {
        const struct member *member = &after->items[i];

        if (members_find(before, member->name) == NULL) {
            append_one(diff, member->name, member->name, NULL, &member->value);
        }
    }
    return err;
}

enum err diff_append(struct arena *arena, uint32_t field, struct slice before_json,
                     struct slice after_json, struct buffer *buffer)
{
    struct diff diff = {.arena = arena, .buffer = buffer, .field = field};
    struct members before = {NULL, NULL, 0};
    struct members after = {NULL, NULL, 0};
    enum err err = members_read(arena, members_value_of(before_json), &before);

    if (err == OK) {
        err = members_read(arena, members_value_of(after_json), &after);
    }
    if (err == OK) {
        err = members_compare(arena, &before, &after);
    }
    if (err == OK) {
        err = append_all(&diff, &before, &after);
    }
    if (err != OK) {
        return err;
    }
    return buffer_ok(buffer) ? OK : ERR_MEMORY;
}
