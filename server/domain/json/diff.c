/*
 * diff.c: see diff.h. Values are answered as written.
 */
#include "server/domain/json/diff.h"

#include "server/domain/json/members.h"

#include <errata/v1/feedback_event.views.h>

/* Appends one FieldDiff; NULL for the side that has no such member. */
static void append_one(uint32_t field, const struct member *before, const struct member *after,
                       struct buffer *buffer)
{
    const struct slice none = {NULL, 0};
    const struct field_diff_view diff = {
        .name = before != NULL ? before->name : after->name,
        .before = before != NULL ? before->value.text : none,
        .has_before = before != NULL,
        .after = after != NULL ? after->value.text : none,
        .has_after = after != NULL,
    };

    field_diff_view_put(&diff, field, buffer);
}

enum err diff_append(struct arena *arena, uint32_t field, struct slice before_json,
                     struct slice after_json, struct buffer *buffer)
{
    struct members before = {NULL, NULL, 0};
    struct members after = {NULL, NULL, 0};
    enum err err = members_read(arena, members_value_of(before_json), &before);

    if (err == OK) {
        err = members_read(arena, members_value_of(after_json), &after);
    }
    if (err == OK) {
        err = members_compare(arena, &before, &after);
    }
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < before.count; i++) {
        const struct member *member = &before.items[i];

        if (member->differs) {
            append_one(field, member, members_find(&after, member->name), buffer);
        }
    }
    for (size_t i = 0; i < after.count; i++) {
        if (members_find(&before, after.items[i].name) == NULL) {
            append_one(field, NULL, &after.items[i], buffer);
        }
    }
    return buffer_ok(buffer) ? OK : ERR_MEMORY;
}
