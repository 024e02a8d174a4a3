/*
 * plain.c: see plain.h.
 */
#include "server/call/plain.h"

/* Returns whether a handler's path is that path, or a folder above it. */
static bool plain_matches(struct slice handled, struct slice path)
{
    if (handled.size > 1 && handled.data[handled.size - 1] == '/') {
        return slice_starts_with(path, handled);
    }
    return slice_equal(handled, path);
}

const struct plain_handler *plain_find(const struct plain_table *table, struct slice path)
{
    for (uint32_t i = 0; table != NULL && i < table->count; i++) {
        if (plain_matches(table->handlers[i].path, path)) {
            return &table->handlers[i];
        }
    }
    return NULL;
}
