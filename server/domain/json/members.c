/*
 * members.c: see members.h. Names are sorted, not hashed, so that callers cannot choose names that make it slow.
 */
#include "server/domain/json/members.h"

#include <stdlib.h>

static bool is_white(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

struct json_value members_value_of(struct slice json)
{
    while (json.size > 0 && is_white(json.data[0])) {
        json = slice_after(json, 1);
    }
    while (json.size > 0 && is_white(json.data[json.size - 1])) {
        json.size--;
    }
    if (json.size == 0) {
        json = SLICE("{}");
    }
    return (struct json_value){json.data[0] == '{' ? JSON_OBJECT : JSON_NULL, json};
}

static int compare_names(const void *a, const void *b)
{
    const struct member *const *left = a;
    const struct member *const *right = b;

    return slice_compare((*left)->name, (*right)->name);
}

enum err members_read(struct arena *arena, struct json_value object, struct members *ret_members)
{
    struct json_walk walk = json_walk_start(object);
    struct members members = {NULL, NULL, 0};
    struct slice key = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    size_t count = 0;

    if (object.kind != JSON_OBJECT) {
        *ret_members = members;
        return OK;
    }
    while (json_walk_next(&walk, &key, &value)) {
        count++;
    }
    members.items = arena_calloc(arena, count + 1, sizeof(struct member));
    members.by_name = arena_calloc(arena, count + 1, sizeof(struct member *));
    if (members.items == NULL || members.by_name == NULL) {
        return ERR_MEMORY;
    }
    walk = json_walk_start(object);
    while (members.count < count && json_walk_next(&walk, &key, &value)) {
        struct member *member = &members.items[members.count];
        enum err err = json_string(arena, key, &member->name);

        if (err != OK) {
            return err;
        }
        member->quoted = key;
        member->value = value;
        members.by_name[members.count] = member;
        members.count++;
    }
    qsort(members.by_name, members.count, sizeof(struct member *), compare_names);
    *ret_members = members;
    return OK;
}

/* Compares two values; the scratch arena is released at once, since a comparison of containers
 * takes 20 KB and there may be thousands. */
static enum err compare_values(struct arena *scratch, struct member *a, struct member *b)
{
    bool equal = false;
    enum err err = json_equal(scratch, a->value, b->value, &equal);

    arena_reset(scratch);
    a->differs = !equal;
    b->differs = !equal;
    return err;
}

enum err members_compare(struct arena *arena, struct members *a, struct members *b)
{
    struct arena scratch;
    size_t left = 0;
    size_t right = 0;
    enum err err = OK;

    arena_init(&scratch, arena->limit_bytes);
    while (err == OK && (left < a->count || right < b->count)) {
        int order = 0;

        if (left == a->count) {
            order = 1;
        } else if (right == b->count) {
            order = -1;
        } else {
            order = slice_compare(a->by_name[left]->name, b->by_name[right]->name);
        }
        if (order < 0) {
            a->by_name[left++]->differs = true;
        } else if (order > 0) {
            b->by_name[right++]->differs = true;
        } else {
            err = compare_values(&scratch, a->by_name[left++], b->by_name[right++]);
        }
    }
    arena_deinit(&scratch);
    return err;
}

const struct member *members_find(const struct members *members, struct slice name)
{
    size_t low = 0;
    size_t high = members->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(members->by_name[middle]->name, name);

        if (order == 0) {
            return members->by_name[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
