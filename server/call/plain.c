/*
 * plain.c: see plain.h.
 */
#include "server/call/plain.h"

const struct plain_handler *plain_find(const struct plain_table *table, struct slice path)
{
    for (uint32_t i = 0; table != NULL && i < table->count; i++) {
        if (slice_equal(table->handlers[i].path, path)) {
            return &table->handlers[i];
        }
    }
    return NULL;
}
