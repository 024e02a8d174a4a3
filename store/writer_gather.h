/*
 * writer_gather.h: how long a batch waits for callers that were just answered. Callers that send their
 * next request once the last is answered form two groups: one waits while the commit of the other
 * syncs, so each request waits for two syncs. On a disk with slow syncs it pays to wait a little after
 * a commit, until the callers that it answered are back: then one sync serves both groups.
 *
 * A wait ends once most of them are back, and after a third of a sync at the latest. If fewer than
 * half came back, as with callers that send by a schedule, the next commits do without. A caller that
 * is alone never waits. It measures nothing and knows no clock: the caller gives the times.
 */
#ifndef ERRATA_STORE_WRITER_GATHER_H
#define ERRATA_STORE_WRITER_GATHER_H

#include "store/base/attributes.h"

#include <stdint.h>

/* On a faster disk the wait gains less than the threads' wake-ups cost. */
#define GATHER_SYNC_LEAST_US 4000
/* Of a sync. With callers that send by a schedule, fewer than half of a commit's number come in it. */
#define GATHER_SYNC_PART 3
/* Callers are back after some milliseconds, however slow the disk is. */
#define GATHER_US_MAX 20000
/* So many commits do without at most, before a wait is tried again. */
#define GATHER_SKIP_MAX 64

/* Zeroed: no wait. */
struct writer_gather {
    int64_t until_us; /* monotonic; no wait goes on after it. 0: none */
    uint32_t wanted; /* waiting requests, with which it ends before */
    uint32_t answered; /* by the commit before the wait */
    uint32_t queued; /* when the wait began */
    uint32_t skip_next; /* commits without, after the next wait that does not pay */
    uint32_t skip; /* commits without a wait, still */
};

/* A commit answered `answered` requests at `now_us`, and `queued` wait already; `sync_us` is the forecast
 * for a sync, and a batch takes at most `batch_max`. */
void writer_gather_begin(struct writer_gather *gather, uint32_t answered, uint32_t queued,
                         uint32_t batch_max, int64_t sync_us, int64_t now_us);
/* How long the batch of these `queued` requests still waits; 0: it starts now. */
int64_t writer_gather_wait_us(const struct writer_gather *gather, uint32_t queued, int64_t now_us);
/* The batch starts, with this number queued. */
void writer_gather_end(struct writer_gather *gather, uint32_t queued);

#endif
