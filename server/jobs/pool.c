/*
 * pool.c: libuv's work queue with a bound. The requests are made once and reused.
 */
#include "server/jobs/pool.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>
#include <uv.h>

struct pool_job {
    uv_work_t request; /* first: libuv gives it back */
    struct pool *pool;
    struct pool_job **free_list; /* where its place goes back to */
    struct pool_job *next_free;
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

struct pool {
    uv_loop_t *loop;
    struct pool_job *free_jobs;
    struct pool_job *free_kept;
    size_t count; /* under way */
    struct pool_job jobs[POOL_JOBS_MAX + POOL_JOBS_KEPT];
};

enum err pool_new(struct uv_loop_s *loop, struct pool **ret_pool)
{
    struct pool *pool = (struct pool *)calloc(1, sizeof(*pool));

    if (pool == NULL) {
        return ERR_MEMORY;
    }
    pool->loop = loop;
    for (size_t i = 0; i < POOL_JOBS_MAX + POOL_JOBS_KEPT; i++) {
        struct pool_job *job = &pool->jobs[i];

        job->pool = pool;
        job->free_list = i < POOL_JOBS_MAX ? &pool->free_jobs : &pool->free_kept;
        job->next_free = *job->free_list;
        *job->free_list = job;
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
    job->next_free = *job->free_list;
    *job->free_list = job;
    pool->count--;
    done(data, status == 0 ? OK : ERR_CANCELLED);
}

/* Takes the place that is given; NULL: there is none. */
static enum err submit(struct pool_job *free_job, void (*work)(void *job),
                       void (*done)(void *job, enum err result), void *job)
{
    struct pool *pool = NULL;

    if (free_job == NULL || FAULT("pool.submit")) {
        return ERR_BUSY;
    }
    pool = free_job->pool;
    free_job->work = work;
    free_job->done = done;
    free_job->job = job;
    if (uv_queue_work(pool->loop, &free_job->request, on_work, on_after_work) != 0) {
        return ERR_INTERNAL;
    }
    *free_job->free_list = free_job->next_free;
    pool->count++;
    return OK;
}

enum err pool_submit(struct pool *pool, void (*work)(void *job),
                     void (*done)(void *job, enum err result), void *job)
{
    return submit(pool->free_jobs, work, done, job);
}

enum err pool_submit_kept(struct pool *pool, void (*work)(void *job),
                          void (*done)(void *job, enum err result), void *job)
{
    return submit(pool->free_kept, work, done, job);
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
