/*
 * pool.c: libuv's work queue with a bound. The requests are made once and reused.
 */
#include "server/jobs/pool.h"

#include "store/base/assert.h"

#include <stdlib.h>
#include <uv.h>

struct pool_job {
    uv_work_t request; /* first: libuv gives it back */
    struct pool *pool;
    struct pool_job *next_free;
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

struct pool {
    uv_loop_t *loop;
    struct pool_job *free_jobs;
    size_t count; /* under way */
    struct pool_job jobs[POOL_JOBS_MAX];
};

enum err pool_new(struct uv_loop_s *loop, struct pool **ret_pool)
{
    struct pool *pool = (struct pool *)calloc(1, sizeof(*pool));

    if (pool == NULL) {
        return ERR_MEMORY;
    }
    pool->loop = loop;
    for (size_t i = 0; i < POOL_JOBS_MAX; i++) {
        pool->jobs[i].pool = pool;
        pool->jobs[i].next_free = pool->free_jobs;
        pool->free_jobs = &pool->jobs[i];
    }
    *ret_pool = pool;
    return OK;
}

static void on_work(uv_work_t *request)
{
    struct pool_job *job = (struct pool_job *)request;

    job->work(job->job);
}

static void on_after_work(uv_work_t *request, int status)
{
    struct pool_job *job = (struct pool_job *)request;
    struct pool *pool = job->pool;
    void (*done)(void *, enum err) = job->done;
    void *data = job->job;

    /* The place is free before the completion, which may submit the next job. */
    job->next_free = pool->free_jobs;
    pool->free_jobs = job;
    pool->count--;
    done(data, status == 0 ? OK : ERR_CANCELLED);
}

enum err pool_submit(struct pool *pool, void (*work)(void *job),
                     void (*done)(void *job, enum err result), void *job)
{
    struct pool_job *free_job = pool->free_jobs;

    if (free_job == NULL) {
        return ERR_BUSY;
    }
    free_job->work = work;
    free_job->done = done;
    free_job->job = job;
    if (uv_queue_work(pool->loop, &free_job->request, on_work, on_after_work) != 0) {
        return ERR_INTERNAL;
    }
    pool->free_jobs = free_job->next_free;
    pool->count++;
    return OK;
}

size_t pool_count(const struct pool *pool)
{
    return pool->count;
}

void pool_free(struct pool *pool)
{
    if (pool != NULL) {
        ASSERT(pool->count == 0);
        free(pool);
    }
}
