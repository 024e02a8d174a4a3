/*
 * outbox.c: see outbox.h.
 */
#include "client/outbox.h"

#include "client/message.h"
#include "store/base/assert.h"

#include <stdlib.h>

struct outbox_message {
    struct outbox_message *next;
    uint8_t *bytes; /* owned; framed */
    size_t size;
    size_t taken;
};

enum err client_outbox_add(struct client_outbox *outbox, struct slice message, bool gzip)
{
    struct outbox_message *added = calloc(1, sizeof(*added));
    enum err err = OK;

    if (added == NULL) {
        return ERR_MEMORY;
    }
    err = client_message_frame(message, gzip, &added->bytes, &added->size);
    if (err != OK) {
        free(added);
        return err;
    }
    if (outbox->first == NULL) {
        outbox->first = added;
    } else {
        outbox->last->next = added;
    }
    outbox->last = added;
    outbox->bytes += added->size;
    return OK;
}

static void outbox_drop_first(struct client_outbox *outbox)
{
    struct outbox_message *first = outbox->first;

    outbox->first = first->next;
    free(first->bytes);
    free(first);
}

size_t client_outbox_take(struct client_outbox *outbox, uint8_t *bytes, size_t capacity)
{
    size_t size = 0;

    while (outbox->first != NULL && size < capacity) {
        struct outbox_message *first = outbox->first;
        size_t left = first->size - first->taken;
        size_t piece = left < capacity - size ? left : capacity - size;

        memcpy(bytes + size, first->bytes + first->taken, piece);
        first->taken += piece;
        size += piece;
        if (first->taken == first->size) {
            outbox_drop_first(outbox);
        }
    }
    ASSERT(size <= outbox->bytes);
    outbox->bytes -= size;
    return size;
}

void client_outbox_deinit(struct client_outbox *outbox)
{
    while (outbox->first != NULL) {
        outbox_drop_first(outbox);
    }
    outbox->bytes = 0;
}
