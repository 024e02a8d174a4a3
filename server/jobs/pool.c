/*
 * pool.c: bounds libuv's work queue. Its threads run jobs in order of submission, so at most as
 * many are submitted as have a thread; jobs without a kept slot wait here. The requests are
 * allocated once and reused.
 */
#include "server/jobs/pool.h"

#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

/* Lower priority than the loop's: where all cores are busy, a thread at the same priority ends its time slice of some
 * milliseconds before a lookup is answered. */
#define THREAD_NICE 10

struct pool_job {
    uv_work_t request; /* must be the first member: libuv returns a pointer to it */
    struct pool *pool;
    struct pool_queue *queue; /* the kind of its slot */
    struct pool_job *next; /* next in the list of free slots, or of waiting jobs */
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

/* Slots of one kind. */
struct pool_queue {
    struct pool_job *free_jobs;
    struct pool_job *first; /* waiting jobs, oldest first */
    struct pool_job *last;
    size_t running; /* number of jobs submitted to libuv */
    size_t running_max;
};

struct pool {
    uv_loop_t *loop;
    struct pool_queue open;
    struct pool_queue kept;
    size_t count; /* number of waiting and running jobs */
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
        job->queue = i < POOL_JOBS_MAX ? &pool->open : &pool->kept;
        job->next = job->queue->free_jobs;
        job->queue->free_jobs = job;
    }
    *ret_pool = pool;
    return OK;
}

static void on_work(uv_work_t *request)
{
    struct pool_job *job = (struct pool_job *)request;

    /* libuv does not report when it starts a thread; the call takes a tenth of a microsecond, and
     * its failure is harmless. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), THREAD_NICE);
    job->work(job->job);
}

static void on_after_work(uv_work_t *request, int status);

/* Submits as many waiting jobs to libuv as may run. */
static void start_waiting(struct pool *pool, struct pool_queue *queue)
{
    while (queue->first != NULL && queue->running < queue->running_max) {
        struct pool_job *job = queue->first;
        int code = 0;

        queue->first = job->next;
        queue->running++;
        code = uv_queue_work(pool->loop, &job->request, on_work, on_after_work);
        ASSERT(code == 0); /* fails only without a callback */
    }
}

static void on_after_work(uv_work_t *request, int status)
{
    struct pool_job *job = (struct pool_job *)request;
    struct pool_queue *queue = job->queue;
    struct pool *pool = job->pool;
    void (*done)(void *, enum err) = job->done;
    void *data = job->job;

    /* The slot is freed before the completion, which may submit the next job. */
    job->next = queue->free_jobs;
    queue->free_jobs = job;
    queue->running--;
    pool->count--;
    start_waiting(pool, queue);
    done(data, status == 0 ? OK : ERR_CANCELLED);
}

/* ERR_BUSY if no slot of this kind is free. */
static enum err submit_job(struct pool *pool, struct pool_queue *queue, void (*work)(void *job),
                           void (*done)(void *job, enum err result), void *data)
{
    struct pool_job *job = queue->free_jobs;

    if (job == NULL || FAULT("pool.submit")) {
        return ERR_BUSY;
    }
    queue->free_jobs = job->next;
    job->next = NULL;
    job->work = work;
    job->done = done;
    job->job = data;
    if (queue->first == NULL) {
        queue->first = job;
    } else {
        queue->last->next = job;
    }
    queue->last = job;
    pool->count++;
    start_waiting(pool, queue);
    return OK;
}

enum err pool_submit(struct pool *pool, void (*work)(void *job),
                     void (*done)(void *job, enum err result), void *job)
{
    return submit_job(pool, &pool->open, work, done, job);
}

enum err pool_submit_kept(struct pool *pool, void (*work)(void *job),
                          void (*done)(void *job, enum err result), void *job)
{
    return submit_job(pool, &pool->kept, work, done, job);
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
