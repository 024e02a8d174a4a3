/*
 * status.h: the end of a call, in public types: texts with a NUL, in one piece
 * of memory.
 */
#ifndef ERRATA_CLIENT_LIBRARY_STATUS_H
#define ERRATA_CLIENT_LIBRARY_STATUS_H

#include "client/stub.h"

#include <errata/client.h>

struct library_status {
    struct errata_status
        status; /* borrows texts from `memory`, and bytes from the source of the status */
    void *memory; /* owned */
};

/* Never fails: if memory is exhausted, the message is a constant text, and the
 * key and metadata are left out. */
void library_status_init(struct library_status *status, const struct client_status *lower);
void library_status_deinit(struct library_status *status);

#endif
