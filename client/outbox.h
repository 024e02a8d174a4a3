/*
 * outbox.h: messages that a call has to send: framed messages on the heap, oldest first, taken out
 * in pieces as the server's window allows. Independent of HTTP/2. It has no limit: the caller
 * checks `bytes` before adding.
 */
#ifndef ERRATA_CLIENT_OUTBOX_H
#define ERRATA_CLIENT_OUTBOX_H

#include "store/base/err.h"
#include "store/base/slice.h"

struct outbox_message;

/* Zeroed: empty. */
struct client_outbox {
    struct outbox_message *first; /* owned, like those after it */
    struct outbox_message *last; /* valid if `first` is not NULL */
    size_t bytes; /* number of waiting bytes */
};

/* Frames a message and adds it. ERR_MEMORY, or ERR_TOO_LARGE over 4 GiB. */
MUST_CHECK enum err client_outbox_add(struct client_outbox *outbox, struct slice message,
                                      bool gzip);
/* Takes out as many bytes as fit, and returns their number. */
size_t client_outbox_take(struct client_outbox *outbox, uint8_t *bytes, size_t capacity);
/* Frees the waiting messages. */
void client_outbox_deinit(struct client_outbox *outbox);

#endif
