/*
 * list_items.h: pairs the objects of two JSON lists. Items are paired by the first of `id`,
 * `line_id`, `line_no` that items of both lists have, and those without it by their order.
 * Reduction, the changed fields and the diff all use it, so that they agree.
 */
#ifndef ERRATA_SERVER_DOMAIN_JSON_LIST_ITEMS_H
#define ERRATA_SERVER_DOMAIN_JSON_LIST_ITEMS_H

#include "server/domain/json/members.h"

/* Maximum items of a list that are paired: those of a text of 10 MB with short items. A longer list
 * is compared as a whole. */
#define LIST_ITEMS_MAX 200000

/* An item of a list. Slices are borrowed from the list's text. */
struct list_item {
    struct json_value value; /* an object */
    struct slice key; /* canonical form of the value that identifies the item; empty: it has none */
    size_t place; /* index in its list, from 0 */
    const struct list_item *partner; /* matching item of the other list; NULL: none */
};

struct list_items {
    struct list_item *items; /* items in the order of the list */
    size_t count;
};

/* Two lists. */
struct list_pair {
    struct list_items before;
    struct list_items after;
    struct slice key_name; /* the member that identifies items; empty: items are paired by order */
};

/* Reads and pairs two values. `ret_paired` is false if one of them is not a list of objects, or too
 * long; `ret_pair` is then empty. Returns OK or ERR_MEMORY. */
MUST_CHECK enum err list_items_pair(struct arena *arena, struct json_value before,
                                    struct json_value after, struct list_pair *ret_pair,
                                    bool *ret_paired);
/* Reads the members of an item and of its partner, which is empty if there is none, and compares them.
 * The first of `ret_sides` is the item's. Returns OK or ERR_MEMORY. */
MUST_CHECK enum err list_item_compare(struct arena *arena, const struct list_item *item,
                                      struct members ret_sides[2]);

#endif
