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
/* Threads: large bodies take at most a core each, and the loop and the writer need theirs too. */
#define POOL_THREADS 4
/* Places beside those, for a user that bounds its own jobs and queues what waits (documents: at most
 * PDF_SLOTS_MAX at once), so that a pool full of others' jobs does not turn it away. */
#define POOL_JOBS_KEPT POOL_THREADS

struct uv_loop_s;
struct pool;

MUST_CHECK enum err pool_new(struct uv_loop_s *loop, struct pool **ret_pool);
/* Runs `work` on a thread, then `done` on the loop with OK, never inside this call. ERR_BUSY when
 * POOL_JOBS_MAX are under way. */
MUST_CHECK enum err pool_submit(struct pool *pool, void (*work)(void *job),
                                void (*done)(void *job, enum err result), void *job);
/* The same in a kept place; ERR_BUSY when POOL_JOBS_KEPT are under way. */
MUST_CHECK enum err pool_submit_kept(struct pool *pool, void (*work)(void *job),
                                     void (*done)(void *job, enum err result), void *job);
/* Jobs that wait or run. */
size_t pool_count(const struct pool *pool);
/* No job may be under way. Takes NULL. */
void pool_free(struct pool *pool);

#endif
