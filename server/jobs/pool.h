/*
 * pool.h: work off the loop, on libuv's threads: a bounded number of jobs at once, each with a
 * completion on the loop. A job uses no data of the loop until its completion. main sets the number
 * of threads before the first job (POOL_THREADS, UV_THREADPOOL_SIZE).
 */
#ifndef ERRATA_SERVER_JOBS_POOL_H
#define ERRATA_SERVER_JOBS_POOL_H

#include "store/base/err.h"

#include <stddef.h>

/* Jobs that wait or run: at 100 ms each (the time to parse 10 MB) this is about 10 s of work on
 * several threads. */
#define POOL_JOBS_MAX 256
/* Additional slots, each with a reserved thread, for users that bound and queue their own jobs:
 * documents (at most PDF_SLOTS_MAX) and long reads (PIPELINE_POOL_READS_MAX). A job in a kept slot
 * begins at once, however many other jobs wait. */
#define POOL_JOBS_KEPT 4
/* Threads. The others are for large bodies, each of which uses at most a core. */
#define POOL_THREADS 8

struct uv_loop_s;
struct pool;

MUST_CHECK enum err pool_new(struct uv_loop_s *loop, struct pool **ret_pool);
/* Runs `work` on a thread, then `done` on the loop with OK, never inside this call. ERR_BUSY if
 * POOL_JOBS_MAX jobs wait or run; POOL_THREADS - POOL_JOBS_KEPT of them run at once. */
MUST_CHECK enum err pool_submit(struct pool *pool, void (*work)(void *job),
                                void (*done)(void *job, enum err result), void *job);
/* Does the same in a kept slot; ERR_BUSY if all POOL_JOBS_KEPT are in use. */
MUST_CHECK enum err pool_submit_kept(struct pool *pool, void (*work)(void *job),
                                     void (*done)(void *job, enum err result), void *job);
/* Returns the number of jobs that wait or run. */
size_t pool_count(const struct pool *pool);
/* Frees the pool, which must not have waiting or running jobs. NULL is allowed. */
void pool_free(struct pool *pool);

#endif
