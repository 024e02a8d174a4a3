/*
 * writer_gather.h: how long a batch waits for callers that were just answered. Callers that send
 * their next request once the last is answered form two groups: one waits while the commit of the
 * other syncs, so each request waits for two syncs. On a disk with slow syncs it pays to wait a
 * little after a commit until the answered callers are back: then one sync serves both groups.
 * A wait ends once most of them are back, and at the latest after a third of a sync. If fewer than
 * half came back, as with callers that send on a schedule, the next commits do not wait. A single
 * caller never causes a wait. It measures nothing and reads no clock: the caller passes the times.
 */
#ifndef ERRATA_STORE_WRITER_GATHER_H
#define ERRATA_STORE_WRITER_GATHER_H

#include "store/base/attributes.h"

#include <stdint.h>

/* Minimum duration of a sync for waiting: on a faster disk the wait saves less than the wake-ups of
 * threads cost. */
#define GATHER_SYNC_LEAST_US 4000
/* Maximum wait as a part of a sync. With callers that send on a schedule, fewer than half of a commit's number arrive in it. */
#define GATHER_SYNC_PART 3
/* Callers are back after some milliseconds, however slow the disk is. */
#define GATHER_US_MAX 20000
/* Maximum number of commits without a wait, before one is tried again. */
#define GATHER_SKIP_MAX 64

/* Zeroed: no wait. */
struct writer_gather {
    int64_t until_us; /* end of the wait, by the monotonic clock; 0: none */
    uint32_t wanted; /* number of waiting requests that ends the wait early */
    uint32_t answered; /* number of requests answered by the commit before the wait */
    uint32_t queued; /* number of queued requests at the start of the wait */
    uint32_t skip_next; /* number of commits without a wait after the next useless wait */
    uint32_t skip; /* remaining commits without a wait */
};

/* Starts a wait after a commit that answered `answered` requests at `now_us`, while `queued` wait
 * already; `sync_us` is the forecast of a sync, and a batch takes at most `batch_max`. */
void writer_gather_begin(struct writer_gather *gather, uint32_t answered, uint32_t queued,
                         uint32_t batch_max, int64_t sync_us, int64_t now_us);
/* Returns how long the batch of these `queued` requests should still wait; 0: it starts now. */
int64_t writer_gather_wait_us(const struct writer_gather *gather, uint32_t queued, int64_t now_us);
/* Ends the wait: the batch starts with this number of queued requests. */
void writer_gather_end(struct writer_gather *gather, uint32_t queued);

#endif
