/*
 * deadlines.h: the earliest of many deadlines: a binary heap of pointers to structs that their
 * owners embed, so that adding and removing one takes logarithmic time. Has no clock. Internal to
 * the client.
 */
#ifndef ERRATA_CLIENT_DEADLINES_H
#define ERRATA_CLIENT_DEADLINES_H

#include "store/base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed: it is in no heap. Must not be moved while it is in one. */
struct client_deadline {
    int64_t at_ms; /* time of the deadline; constant while it is in a heap */
    size_t place; /* position in the heap, from 1; 0: not in a heap */
};

/* Zeroed: empty. The owner bounds the number of deadlines. */
struct client_deadlines {
    struct client_deadline **heap; /* owned, but not the deadlines */
    size_t count;
    size_t capacity;
};

/* Adds a deadline. On ERR_MEMORY it was not added. */
MUST_CHECK enum err client_deadlines_add(struct client_deadlines *deadlines,
                                         struct client_deadline *deadline);
/* Removes a deadline; does nothing if it is in no heap. */
void client_deadlines_remove(struct client_deadlines *deadlines, struct client_deadline *deadline);
/* Returns the earliest deadline, which stays in the heap; NULL if the heap is empty. */
struct client_deadline *client_deadlines_first(const struct client_deadlines *deadlines);
void client_deadlines_deinit(struct client_deadlines *deadlines);

#endif
