/*
 * list_items.c: see list_items.h. Items are sorted by key, not hashed, so that callers cannot
 * choose keys that make it slow.
 */
#include "server/domain/json/list_items.h"

#include <stdlib.h>

static const char *const key_names[] = {"id", "line_id", "line_no"};

#define KEY_NAME_COUNT (sizeof(key_names) / sizeof(key_names[0]))

/* Writes the canonical form of a key: 1 and 1.0 are equal, and so are "a" and "\u0061". */
static enum err write_key(struct arena *arena, struct json_value value, struct slice *ret_key)
{
    struct slice text = {NULL, 0};
    struct buffer buffer = {0};
    bool is_negative = false;
    uint64_t magnitude = 0;
    enum err err = OK;

    *ret_key = value.text;
    if (value.kind == JSON_NUMBER && json_integer(value.text, &is_negative, &magnitude)) {
        *ret_key =
            arena_printf(arena, "%s%llu", is_negative ? "-" : "", (unsigned long long)magnitude);
        return ret_key->size > 0 ? OK : ERR_MEMORY;
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
    *ret_key = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* Counts the items of a list; false if it has one that is not an object, or too many. */
static bool count_objects(struct json_value list, size_t *ret_count)
{
    struct json_walk walk;
    struct slice key = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    size_t count = 0;

    if (list.kind != JSON_ARRAY) {
        return false;
    }
    walk = json_walk_start(list);
    while (json_walk_next(&walk, &key, &value)) {
        if (value.kind != JSON_OBJECT || count == LIST_ITEMS_MAX) {
            return false;
        }
        count++;
    }
    *ret_count = count;
    return true;
}

static enum err read_items(struct arena *arena, struct json_value list, size_t count,
                           struct list_items *ret_items)
{
    struct json_walk walk = json_walk_start(list);
    struct slice key = {NULL, 0};
    struct list_items items = {arena_calloc(arena, count + 1, sizeof(struct list_item)), 0};

    if (items.items == NULL) {
        return ERR_MEMORY;
    }
    while (items.count < count && json_walk_next(&walk, &key, &items.items[items.count].value)) {
        items.items[items.count].place = items.count;
        items.count++;
    }
    *ret_items = items;
    return OK;
}

static bool find_key(const struct list_item *item, const char *name, struct json_value *ret_value)
{
    return json_member(item->value, slice_text(name), ret_value) && ret_value->kind != JSON_NULL;
}

static bool any_has_key(const struct list_items *items, const char *name)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    for (size_t i = 0; i < items->count; i++) {
        if (find_key(&items->items[i], name, &value)) {
            return true;
        }
    }
    return false;
}

/* Returns the first name that items of both lists have; NULL if there is none. */
static const char *choose_key_name(const struct list_pair *pair)
{
    for (size_t i = 0; i < KEY_NAME_COUNT; i++) {
        if (any_has_key(&pair->before, key_names[i]) && any_has_key(&pair->after, key_names[i])) {
            return key_names[i];
        }
    }
    return NULL;
}

static enum err read_keys(struct arena *arena, const char *name, struct list_items *items)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};
    enum err err = OK;

    for (size_t i = 0; i < items->count && err == OK; i++) {
        if (find_key(&items->items[i], name, &value)) {
            err = write_key(arena, value, &items->items[i].key);
        }
    }
    return err;
}

/* Sorts by key, then by position; items without a key come first. */
static int compare_items(const void *a, const void *b)
{
    const struct list_item *const *left = a;
    const struct list_item *const *right = b;
    int order = slice_compare((*left)->key, (*right)->key);

    if (order != 0) {
        return order;
    }
    return (*left)->place < (*right)->place ? -1 : (*left)->place > (*right)->place;
}

static struct list_item **sort_items(struct arena *arena, const struct list_items *items)
{
    struct list_item **sorted = arena_calloc(arena, items->count + 1, sizeof(*sorted));

    if (sorted == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < items->count; i++) {
        sorted[i] = &items->items[i];
    }
    qsort(sorted, items->count, sizeof(*sorted), compare_items);
    return sorted;
}

/* Pairs the items of equal keys; equal keys within one list in their order. */
static enum err set_partners(struct arena *arena, const struct list_pair *pair)
{
    struct list_item **before = sort_items(arena, &pair->before);
    struct list_item **after = sort_items(arena, &pair->after);
    size_t left = 0;
    size_t right = 0;

    if (before == NULL || after == NULL) {
        return ERR_MEMORY;
    }
    while (left < pair->before.count && right < pair->after.count) {
        int order = slice_compare(before[left]->key, after[right]->key);

        if (order == 0) {
            before[left]->partner = after[right];
            after[right]->partner = before[left];
        }
        left += order <= 0;
        right += order >= 0;
    }
    return OK;
}

enum err list_items_pair(struct arena *arena, struct json_value before, struct json_value after,
                         struct list_pair *ret_pair, bool *ret_paired)
{
    struct list_pair pair = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    size_t before_count = 0;
    size_t after_count = 0;
    const char *name = NULL;
    enum err err = OK;

    *ret_paired = count_objects(before, &before_count) && count_objects(after, &after_count);
    *ret_pair = pair;
    if (!*ret_paired) {
        return OK;
    }
    err = read_items(arena, before, before_count, &pair.before);
    if (err == OK) {
        err = read_items(arena, after, after_count, &pair.after);
    }
    if (err != OK) {
        return err;
    }
    name = choose_key_name(&pair);
    if (name != NULL) {
        pair.key_name = slice_text(name);
        err = read_keys(arena, name, &pair.before);
        if (err == OK) {
            err = read_keys(arena, name, &pair.after);
        }
    }
    if (err == OK) {
        err = set_partners(arena, &pair);
    }
    *ret_pair = pair;
    return err;
}

enum err list_item_compare(struct arena *arena, const struct list_item *item,
                           struct members ret_sides[2])
{
    const struct json_value none = {JSON_OBJECT, SLICE("{}")};
    enum err err = members_read(arena, item->value, &ret_sides[0]);

    if (err == OK) {
        err =
            members_read(arena, item->partner != NULL ? item->partner->value : none, &ret_sides[1]);
    }
    return err != OK ? err : members_compare(arena, &ret_sides[0], &ret_sides[1]);
}
