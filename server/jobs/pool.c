/*
 * pool.c: libuv's work queue with bounds. Its threads take what comes first, so no more is given to it
 * than has a thread: jobs without a kept place wait here for theirs. The requests are made once and
 * reused.
 */
#include "server/jobs/pool.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>
#include <uv.h>

struct pool_job {
    uv_work_t request; /* first: libuv gives it back */
    struct pool *pool;
    struct pool_line *line; /* where its place belongs */
    struct pool_job *next; /* in one of: free places, those that wait */
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

/* Places of one kind. */
struct pool_line {
    struct pool_job *free_jobs;
    struct pool_job *first; /* of those that wait, oldest first */
    struct pool_job *last;
    size_t running; /* given to libuv */
    size_t running_max;
};

struct pool {
    uv_loop_t *loop;
    struct pool_line open;
    struct pool_line kept;
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
    pool->open.running_max = POOL_THREADS - POOL_JOBS_KEPT;
    pool->kept.running_max = POOL_JOBS_KEPT;
    for (size_t i = 0; i < POOL_JOBS_MAX + POOL_JOBS_KEPT; i++) {
        struct pool_job *job = &pool->jobs[i];

        job->pool = pool;
        job->line = i < POOL_JOBS_MAX ? &pool->open : &pool->kept;
        job->next = job->line->free_jobs;
        job->line->free_jobs = job;
    }
    *ret_pool = pool;
    return OK;
}

static void on_work(uv_work_t *request)
{
    struct pool_job *job = (struct pool_job *)request;

    job->work(job->job);
}

static void on_after_work(uv_work_t *request, int status);

/* Returns libuv as many as may run. */
static void start_waiting(struct pool *pool, struct pool_line *line)
{
    while (line->first != NULL && line->running < line->running_max) {
        struct pool_job *job = line->first;
        int code = 0;

        line->first = job->next;
        line->running++;
        code = uv_queue_work(pool->loop, &job->request, on_work, on_after_work);
        ASSERT(code == 0); /* fails without a function alone */
    }
}

static void on_after_work(uv_work_t *request, int status)
{
    struct pool_job *job = (struct pool_job *)request;
    struct pool_line *line = job->line;
    struct pool *pool = job->pool;
    void (*done)(void *, enum err) = job->done;
    void *data = job->job;

    /* The place is free before the completion, which may submit the next job. */
    job->next = line->free_jobs;
    line->free_jobs = job;
    line->running--;
    pool->count--;
    start_waiting(pool, line);
    done(data, status == 0 ? OK : ERR_CANCELLED);
}

/* ERR_BUSY if the line has no free place. */
static enum err submit(struct pool *pool, struct pool_line *line, void (*work)(void *job),
                       void (*done)(void *job, enum err result), void *data)
{
    struct pool_job *job = line->free_jobs;

    if (job == NULL || FAULT("pool.submit")) {
        return ERR_BUSY;
    }
    line->free_jobs = job->next;
    job->next = NULL;
    job->work = work;
    job->done = done;
    job->job = data;
    if (line->first == NULL) {
        line->first = job;
    } else {
        line->last->next = job;
    }
    line->last = job;
    pool->count++;
    start_waiting(pool, line);
    return OK;
}

enum err pool_submit(struct pool *pool, void (*work)(void *job),
                     void (*done)(void *job, enum err result), void *job)
{
    return submit(pool, &pool->open, work, done, job);
}

enum err pool_submit_kept(struct pool *pool, void (*work)(void *job),
                          void (*done)(void *job, enum err result), void *job)
{
    return submit(pool, &pool->kept, work, done, job);
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
