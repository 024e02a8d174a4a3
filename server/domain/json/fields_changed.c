/*
 * fields_changed.c: see fields_changed.h. All members of an added item of `lines` count as changed,
 * those of a removed item do not.
 */
#include "server/domain/json/fields_changed.h"

#include "server/domain/json/list_items.h"
#include "store/base/text.h"

/* Members that describe the change, and are never changed fields. */
static const char *const never_changed[] = {"id",    "line_id",    "line_no",   "entity_id",
                                            "field", "field_name", "old_value", "new_value"};
#define LINES SLICE("lines")

static bool is_among(struct slice name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(name, slice_text(names[i]))) {
            return true;
        }
    }
    return false;
}

/* Adds a copy of the name, which may be in scratch memory. */
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

static enum err add_named(struct arena *arena, struct json_value value,
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

/* Adds the name that `after` or `meta` specifies, if any. */
static enum err add_first_named(struct arena *arena, const struct members *after,
                                struct json_value meta, struct fields_changed *fields)
{
    static const char *const naming[] = {"field", "field_name"};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    enum err err = OK;

    for (size_t i = 0; i < 2 && err == OK && fields->count == 0; i++) {
        const struct member *member = members_find(after, slice_text(naming[i]));

        if (member != NULL) {
            err = add_named(arena, member->value, fields);
        }
    }
    for (size_t i = 0; i < 2 && err == OK && fields->count == 0; i++) {
        if (json_member(meta, slice_text(naming[i]), &value)) {
            err = add_named(arena, value, fields);
        }
    }
    return err;
}

/* Adds the members that differ, except the one named `but`. */
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

/* Adds the members of an item of `after` that differ from its partner's, or that its partner lacks.
 * Items are read into scratch memory, since a draft may have thousands. */
static enum err add_item(struct arena *arena, struct arena *scratch, const struct list_item *item,
                         struct fields_changed *fields)
{
    const struct slice nothing = {NULL, 0};
    struct members sides[2] = {{NULL, NULL, 0}, {NULL, NULL, 0}};
    enum err err = OK;

    if (item->partner != NULL && slice_equal(item->value.text, item->partner->value.text)) {
        return OK;
    }
    err = list_item_compare(scratch, item, sides);
    if (err == OK) {
        err = add_differing(arena, &sides[1], nothing, fields);
    }
    if (err == OK) {
        err = add_differing(arena, &sides[0], nothing, fields);
    }
    arena_reset(scratch);
    return err;
}

/* Adds the changed members of the items of `lines`, or `lines` if there are none, since items were
 * removed or moved, or `lines` is not a list of objects. */
static enum err add_lines(struct arena *arena, const struct member *before,
                          const struct member *after, struct fields_changed *fields)
{
    const struct json_value none = {JSON_ARRAY, SLICE("[]")};
    size_t count = fields->count;
    struct list_pair pair;
    struct arena scratch;
    bool paired = false;
    enum err err = list_items_pair(arena, before != NULL ? before->value : none,
                                   after != NULL ? after->value : none, &pair, &paired);

    arena_init(&scratch, arena->limit_bytes);
    for (size_t i = 0; i < pair.after.count && err == OK; i++) {
        if (fields->count == FIELDS_CHANGED_MAX) {
            break;
        }
        err = add_item(arena, &scratch, &pair.after.items[i], fields);
    }
    arena_deinit(&scratch);
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
    err = add_first_named(arena, after, meta, ret_fields);
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
