/*
 * writer_cost.h: the cost of a write, learned from the last commits. A commit has a fixed part (the
 * sync) and a part per request (the pages that it writes); running a request before the commit has
 * a constant cost. Measured separately, they give the number of requests that fit into a batch, and
 * the time until a waiting request is answered.
 * Each figure is a median over the last COST_SAMPLES commits, so a single stall of the disk changes
 * nothing, and a disk that becomes slow is noticed after half of them. Non-goals: it measures
 * nothing, holds no lock, and reads no clock: the caller passes the times.
 */
#ifndef ERRATA_STORE_WRITER_COST_H
#define ERRATA_STORE_WRITER_COST_H

#include "store/base/attributes.h"

#include <stddef.h>
#include <stdint.h>

/* Three small, two middle and three large ones: the least for a median on each side. */
#define COST_SAMPLES 8
/* A forecast is halved after this time without a commit, quartered after twice this time: so a
 * wrong one that refuses every request is forgotten within seconds. The next commit then begins a
 * new window. */
#define COST_HALF_LIFE_US 1000000

struct cost_sample {
    uint32_t requests; /* number of requests, at least 1 */
    int64_t duration_us;
};

/* The last samples of one kind; the oldest is replaced. */
struct cost_window {
    struct cost_sample samples[COST_SAMPLES];
    size_t count;
    size_t next;
};

/* Zeroed: nothing is known. */
struct writer_cost {
    struct cost_window runs;
    struct cost_window commits;
    int64_t run_ns; /* time of one request before the commit */
    int64_t page_ns; /* time of one request in the commit */
    int64_t sync_us; /* time of a commit, independent of its requests */
    int64_t shortest_us; /* shortest time of the commits in the window */
    int64_t learned_us; /* end of the last commit, by the monotonic clock */
};

/* Records that a batch ran `requests` requests, at least 1, in this time. */
void writer_cost_learn_run(struct writer_cost *cost, uint32_t requests, int64_t duration_us);
/* Records that a commit of `requests` requests, at least 1, succeeded after this time, at
 * `end_us`. */
void writer_cost_learn_commit(struct writer_cost *cost, uint32_t requests, int64_t duration_us,
                              int64_t end_us);
/* Returns how many requests a batch may have: 1 to WORK_BATCH_REQUESTS_MAX. Their work takes
 * WORK_BATCH_WORK_US, or as long as the sync if that is longer. */
uint32_t writer_cost_batch_requests(const struct writer_cost *cost);
/* Returns the forecast time of a batch of `requests` requests; 0 before COST_SAMPLES commits.
 * `idle_us` is, here and below, the time since which there was no commit: now, or the start of the
 * running batch. */
int64_t writer_cost_batch_us(const struct writer_cost *cost, uint32_t requests, int64_t idle_us);
/* Returns the forecast time from the end of the running batch until a request with `ahead` requests
 * before it is answered. */
int64_t writer_cost_wait_us(const struct writer_cost *cost, uint32_t ahead, int64_t idle_us);
/* Returns the shortest known commit; 0 before COST_SAMPLES commits. */
int64_t writer_cost_shortest_us(const struct writer_cost *cost, int64_t idle_us);

#endif
