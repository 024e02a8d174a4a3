/*
 * backup_ring.h: a bounded ring of bytes between the thread that copies and the loop that sends: one
 * thread puts and may wait, the other takes and never waits.
 */
#ifndef ERRATA_SERVER_APP_BACKUP_RING_H
#define ERRATA_SERVER_APP_BACKUP_RING_H

#include "store/base/err.h"
#include "store/base/slice.h"

#include <uv.h>

/* Some pieces of the copy, so that it goes on while the loop has a turn. */
#define BACKUP_RING_BYTES ((size_t)1 << 20)

struct backup_ring {
    uv_mutex_t lock;
    uv_cond_t room; /* or the end of waiting for it */
    uint8_t *bytes;
    uint64_t put_bytes; /* in all */
    uint64_t taken_bytes; /* in all */
    uint64_t lent_bytes; /* after those: what the last take gave */
    bool is_stopped;
};

/* ERR_MEMORY alone. */
MUST_CHECK enum err backup_ring_init(struct backup_ring *ring);
/* Neither thread uses it any more. */
void backup_ring_deinit(struct backup_ring *ring);
/* Puts all of it, waiting for room; ERR_CANCELLED once it is stopped. */
MUST_CHECK enum err backup_ring_put(struct backup_ring *ring, struct slice bytes);
/* The next bytes, at most `max`; empty: there are none. They stay until the next take. */
struct slice backup_ring_take(struct backup_ring *ring, size_t max);
/* Bytes wait to be taken. */
bool backup_ring_has_bytes(struct backup_ring *ring);
/* Ends a put that waits, and all that follow. */
void backup_ring_stop(struct backup_ring *ring);

#endif
