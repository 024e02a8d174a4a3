/*
 * pool.h: work off the loop, on libuv's threads: a bounded number of jobs at once, each with its
 * completion back on the loop. A job touches nothing of the loop's until its completion. How many
 * threads there are is main's to say, before the first job (POOL_THREADS, UV_THREADPOOL_SIZE).
 */
#ifndef ERRATA_SERVER_JOBS_POOL_H
#define ERRATA_SERVER_JOBS_POOL_H

#include "store/base/err.h"

#include <stddef.h>

/* Jobs that wait or run: what parsing 10 MB takes (about 100 ms) times this is some 10 s of work. */
#define POOL_JOBS_MAX 256
/* Places beside those, with a thread kept for each, for users that bound their own jobs and queue what
 * waits: documents (PDF_SLOTS_MAX at once) and long reads (PIPELINE_POOL_READS_MAX). However many of
 * the others wait, or wait for something, a job in a kept place begins at once. */
#define POOL_JOBS_KEPT 4
/* Threads. The rest is for large bodies, which take at most a core each. */
#define POOL_THREADS 8

struct uv_loop_s;
struct pool;

MUST_CHECK enum err pool_new(struct uv_loop_s *loop, struct pool **ret_pool);
/* Runs `work` on a thread, then `done` on the loop with OK, never inside this call. ERR_BUSY when
 * POOL_JOBS_MAX are under way; POOL_THREADS - POOL_JOBS_KEPT of them run at once. */
MUST_CHECK enum err pool_submit(struct pool *pool, void (*work)(void *job),
                                void (*done)(void *job, enum err result), void *job);
/* The same in a kept place; ERR_BUSY when POOL_JOBS_KEPT are under way. */
MUST_CHECK enum err pool_submit_kept(struct pool *pool, void (*work)(void *job),
                                     void (*done)(void *job, enum err result), void *job);
/* Jobs that wait or run. */
size_t pool_count(const struct pool *pool);
/* No job may be under way. Accepts NULL. */
void pool_free(struct pool *pool);

#endif
