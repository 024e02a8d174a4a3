/*
 * backup_ring.h: a bounded ring of bytes from the thread that copies to the loop that sends: one
 * thread puts and may wait, the other takes and never waits.
 */
#ifndef ERRATA_SERVER_APP_BACKUP_RING_H
#define ERRATA_SERVER_APP_BACKUP_RING_H

#include "store/base/err.h"
#include "store/base/slice.h"

#include <uv.h>

/* A few pieces of the copy, so that it continues during the loop's turn. */
#define BACKUP_RING_BYTES ((size_t)1 << 20)

struct backup_ring {
    uv_mutex_t lock;
    uv_cond_t room; /* signalled if there is room, or if the ring was stopped */
    uint8_t *bytes;
    uint64_t put_bytes; /* total */
    uint64_t taken_bytes; /* total */
    uint64_t lent_bytes; /* bytes returned by the last take, after taken_bytes */
    bool is_stopped;
};

/* The only error is ERR_MEMORY. */
MUST_CHECK enum err backup_ring_init(struct backup_ring *ring);
/* Call when neither thread uses it any more. */
void backup_ring_deinit(struct backup_ring *ring);
/* Puts all bytes, waiting for room; ERR_CANCELLED once the ring is stopped. */
MUST_CHECK enum err backup_ring_put(struct backup_ring *ring, struct slice bytes);
/* Returns the next bytes, at most `max`; empty if there are none. They are valid until the next
 * take. */
struct slice backup_ring_take(struct backup_ring *ring, size_t max);
/* Returns whether bytes wait to be taken. */
bool backup_ring_has_bytes(struct backup_ring *ring);
/* Makes a waiting put, and all later ones, fail. */
void backup_ring_stop(struct backup_ring *ring);

#endif
