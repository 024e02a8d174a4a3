/*
 * pdf_jobs.c: the states of jobs, between the queue, the pool and the supervisor's worker.
 * Everything runs on the loop except run_work, pdf_job_append and pdf_job_measure.
 *   ARRIVING --submit--> WAITING --turn--> RUNNING --worked--> DONE
 *   ARRIVING, WAITING --cancelled, or the worker is lost--> ENDING --next turn of the loop--> DONE
 */
#include "server/jobs/pdf/pdf_jobs.h"

#include "server/jobs/pdf/pdf_queue.h"
#include "server/jobs/pdf/pdf_supervisor.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum job_state {
    JOB_ARRIVING,
    JOB_WAITING,
    JOB_RUNNING,
    JOB_ENDING, /* `done` will be called without running the job */
    JOB_DONE
};

struct pdf_job {
    struct pdf_queue_entry entry; /* must be the first member: the queue returns a pointer to it */
    struct pdf_jobs *jobs;
    struct uuid org;
    enum job_state state;
    bool cancelled; /* cancelled before it ran */
    struct pdf_bytes bytes; /* used by the pool's thread while RUNNING */
    void (*work)(void *user);
    void (*done)(void *user, enum err result);
    void *user;
    /* ENDING */
    enum err result;
    struct pdf_job *next_ending;
    /* RUNNING: a duplicate of the control socket, which a restart does not close */
    int control;
    uint64_t worker_start; /* identifies the worker of the job */
    struct pdf_cancel cancel;
    /* Written on the pool's thread, read when the work is done. */
    bool began;
    bool measured;
    bool worker_broken;
    enum err measure_result;
    struct pdf_answer answer; /* only numbers are valid: the data it points to may be freed */
};

struct pdf_jobs {
    struct pdf_jobs_config config;
    struct pdf_supervisor supervisor;
    bool serving; /* last reported state */
    struct pdf_queue queue;
    struct pdf_starved starved;
    unsigned running_count;
    /* ENDING jobs, oldest first; the idle handle is active while there are any. */
    struct pdf_job *ending_first;
    struct pdf_job *ending_last;
    uv_idle_t idle;
    struct pdf_jobs_stats stats; /* totals */
};

enum err pdf_jobs_new(const struct pdf_jobs_config *config, struct pdf_jobs **ret_jobs)
{
    struct pdf_jobs *jobs = (struct pdf_jobs *)calloc(1, sizeof(*jobs));

    ASSERT(config->slots >= 1 && config->slots <= PDF_SLOTS_MAX);
    if (jobs == NULL) {
        return ERR_MEMORY;
    }
    jobs->config = *config;
    if (pdf_supervisor_init(&jobs->supervisor, config->program, config->ready_ms,
                            config->restart_ms_max) != OK) {
        free(jobs);
        return ERR_MEMORY;
    }
    jobs->config.program = jobs->supervisor.program; /* the caller's text may be freed */
    pdf_starved_init(&jobs->starved);
    *ret_jobs = jobs;
    return OK;
}

static void end_running(struct pdf_job *job)
{
    (void)close(job->control);
    job->control = -1;
    pdf_cancel_close(&job->cancel);
}

static void on_idle(uv_idle_t *idle)
{
    struct pdf_jobs *jobs = (struct pdf_jobs *)idle->data;
    struct pdf_job *job = jobs->ending_first;

    jobs->ending_first = NULL;
    jobs->ending_last = NULL;
    (void)uv_idle_stop(idle); /* before the completions, which may add more jobs */
    while (job != NULL) {
        struct pdf_job *next = job->next_ending;

        job->state = JOB_DONE;
        job->done(job->user, job->result); /* may close the job */
        job = next;
    }
}

/* Schedules `done` for another turn of the loop. */
static void end_later(struct pdf_job *job, enum err result)
{
    struct pdf_jobs *jobs = job->jobs;

    job->state = JOB_ENDING;
    job->result = result;
    job->next_ending = NULL;
    if (jobs->ending_last != NULL) {
        jobs->ending_last->next_ending = job;
    } else {
        jobs->ending_first = job;
        ASSERT(uv_idle_start(&jobs->idle, on_idle) == 0);
    }
    jobs->ending_last = job;
    if (result == ERR_CANCELLED) {
        jobs->stats.cancelled_total++;
    } else {
        jobs->stats.failed_total++;
    }
}

static void dispatch_jobs(struct pdf_jobs *jobs);

/* Counts the result of a job that has run. */
static void count_outcome(struct pdf_jobs_stats *stats, const struct pdf_job *job)
{
    if (!job->began || (job->measured && job->measure_result == ERR_CANCELLED)) {
        stats->cancelled_total++;
        return;
    }
    if (!job->measured) {
        return;
    }
    if (job->measure_result != OK) {
        stats->failed_total++;
        return;
    }
    stats->cpu_us_total += job->answer.cpu_us;
    if (job->answer.reason != PDF_READ) {
        stats->refused_total++;
        return;
    }
    stats->measured_total++;
    stats->cut_total += job->answer.cut != PDF_CUT_NONE;
}

/* Runs on the pool's thread. */
static void run_work(void *data)
{
    struct pdf_job *job = data;

    job->began = !atomic_load(&job->cancel.cancelled);
    if (job->began) {
        job->work(job->user);
    }
}

static void on_worked(void *data, enum err result)
{
    struct pdf_job *job = data;
    struct pdf_jobs *jobs = job->jobs;

    (void)UNEXPECTED(result != OK);
    end_running(job);
    job->state = JOB_DONE;
    jobs->running_count--;
    count_outcome(&jobs->stats, job);
    if (job->worker_broken && job->worker_start == jobs->supervisor.starts) {
        pdf_supervisor_replace(&jobs->supervisor);
    }
    dispatch_jobs(jobs);
    job->done(job->user, job->began ? OK : ERR_CANCELLED); /* may close the job */
}

static enum err run_job(struct pdf_job *job)
{
    struct pdf_jobs *jobs = job->jobs;
    enum err err = pdf_cancel_open(&job->cancel);

    if (err != OK) {
        return err;
    }
    job->worker_start = jobs->supervisor.starts;
    job->control = fcntl(jobs->supervisor.worker.control, F_DUPFD_CLOEXEC, 0);
    job->state = JOB_RUNNING; /* before submitting, since the pool's thread may start immediately */
    err = job->control < 0 ? ERR_MEMORY
                           : pool_submit_kept(jobs->config.pool, run_work, on_worked, job);
    if (err == OK) {
        jobs->running_count++;
        return OK;
    }
    job->state = JOB_WAITING;
    if (job->control >= 0) {
        end_running(job);
    } else {
        pdf_cancel_close(&job->cancel);
    }
    return err;
}

/* Assigns free slots to the next jobs. */
static void dispatch_jobs(struct pdf_jobs *jobs)
{
    while (jobs->running_count < jobs->config.slots && pdf_supervisor_is_ready(&jobs->supervisor)) {
        struct pdf_job *job = (struct pdf_job *)pdf_queue_pop(&jobs->queue);
        enum err err = OK;

        if (job == NULL) {
            return;
        }
        err = run_job(job);
        if (err != OK) {
            end_later(job, err);
        }
    }
}

static void on_worker_change(void *user)
{
    struct pdf_jobs *jobs = user;
    bool serving = pdf_supervisor_is_ready(&jobs->supervisor);
    struct pdf_queue_entry *entry = NULL;

    if (serving) {
        dispatch_jobs(jobs);
    }
    if (!pdf_supervisor_is_worth_waiting(&jobs->supervisor)) {
        while ((entry = pdf_queue_pop(&jobs->queue)) != NULL) {
            end_later((struct pdf_job *)entry, ERR_UNAVAILABLE);
        }
    }
    if (serving != jobs->serving) {
        jobs->serving = serving;
        jobs->config.on_health(jobs->config.user, serving);
    }
}

void pdf_jobs_start(struct pdf_jobs *jobs)
{
    ASSERT(uv_idle_init(jobs->config.loop, &jobs->idle) == 0);
    jobs->idle.data = jobs;
    pdf_supervisor_start(&jobs->supervisor, jobs->config.loop, on_worker_change, jobs);
}

void pdf_jobs_stop(struct pdf_jobs *jobs)
{
    ASSERT(jobs->queue.job_count == 0);
    if (jobs->supervisor.state != PDF_SUPERVISOR_STOPPED) {
        pdf_supervisor_stop(&jobs->supervisor);
        uv_close((uv_handle_t *)&jobs->idle, NULL);
    }
}

void pdf_jobs_free(struct pdf_jobs *jobs)
{
    if (jobs != NULL) {
        ASSERT(jobs->queue.job_count == 0 && jobs->queue.held_bytes == 0);
        pdf_supervisor_deinit(&jobs->supervisor);
        pdf_starved_deinit(&jobs->starved);
        free(jobs);
    }
}

struct pdf_jobs_stats pdf_jobs_read_stats(const struct pdf_jobs *jobs)
{
    struct pdf_jobs_stats stats = jobs->stats;

    stats.jobs_live = jobs->queue.job_count;
    stats.jobs_waiting = jobs->queue.waiting_count;
    stats.jobs_running = jobs->running_count;
    stats.held_bytes = jobs->queue.held_bytes;
    stats.worker_starts_total = jobs->supervisor.starts;
    return stats;
}

enum err pdf_job_open(struct pdf_jobs *jobs, struct uuid org, struct pdf_job **ret_job)
{
    struct pdf_job *job = NULL;
    enum err err = OK;

    if (!pdf_supervisor_is_worth_waiting(&jobs->supervisor)) {
        return ERR_UNAVAILABLE;
    }
    job = FAULT("pdf.job") ? NULL : (struct pdf_job *)calloc(1, sizeof(*job));
    if (job == NULL) {
        return ERR_MEMORY;
    }
    err = pdf_queue_enter(&jobs->queue, org, &job->entry);
    if (err != OK) {
        jobs->stats.busy_total++;
        free(job);
        return err;
    }
    job->jobs = jobs;
    job->org = org;
    job->bytes.fd = -1;
    job->control = -1;
    job->cancel.fd = -1;
    *ret_job = job;
    return OK;
}

enum err pdf_job_reserve(struct pdf_job *job, size_t size)
{
    enum err err = OK;

    if (UNEXPECTED(job->state != JOB_ARRIVING)) {
        return ERR_INTERNAL;
    }
    err = pdf_queue_hold(&job->jobs->queue, &job->entry, size);
    job->jobs->stats.busy_total += err == ERR_BUSY || err == ERR_QUOTA;
    return err;
}

enum err pdf_job_append(struct pdf_job *job, struct slice bytes)
{
    enum err err = OK;

    if (UNEXPECTED(job->state != JOB_ARRIVING && job->state != JOB_RUNNING) ||
        UNEXPECTED(job->measured) ||
        UNEXPECTED(bytes.size > job->entry.held_bytes - job->bytes.size)) {
        return ERR_INTERNAL;
    }
    if (job->bytes.fd < 0) {
        err = pdf_bytes_open(&job->bytes);
    }
    return err != OK ? err : pdf_bytes_append(&job->bytes, bytes);
}

enum err pdf_job_submit(struct pdf_job *job, void (*work)(void *user),
                        void (*done)(void *user, enum err result), void *user)
{
    struct pdf_jobs *jobs = job->jobs;

    if (UNEXPECTED(job->state != JOB_ARRIVING)) {
        return ERR_INTERNAL;
    }
    job->work = work;
    job->done = done;
    job->user = user;
    if (job->cancelled) {
        end_later(job, ERR_CANCELLED);
        return OK;
    }
    if (!pdf_supervisor_is_worth_waiting(&jobs->supervisor)) {
        end_later(job, ERR_UNAVAILABLE);
        return OK;
    }
    job->state = JOB_WAITING;
    pdf_queue_push(&jobs->queue, &job->entry);
    dispatch_jobs(jobs);
    return OK;
}

/* Returns whether an answer is final: the answer about a starved document is final only the second
 * time. */
static bool is_final(struct pdf_job *job, const struct sha256_digest *sha256)
{
    struct pdf_jobs *jobs = job->jobs;

    if (job->answer.starved) {
        return pdf_starved_note(&jobs->starved, job->org, sha256,
                                clock_monotonic_us(jobs->config.clock));
    }
    pdf_starved_forget(&jobs->starved, job->org, sha256);
    return true;
}

/* Seals the bytes and has them measured; runs on the pool's thread. */
static enum err measure_job(struct pdf_job *job, const struct pdf_job_request *asked,
                            struct arena *arena, struct sha256_digest *ret_sha256)
{
    const struct pdf_request request = {.control = job->control,
                                        .bytes = &job->bytes,
                                        .password = asked->password,
                                        .flags = asked->flags,
                                        .cancel = &job->cancel};
    enum err err = OK;

    if (atomic_load(&job->cancel.cancelled)) {
        return ERR_CANCELLED;
    }
    if (job->bytes.fd < 0) {
        err = pdf_bytes_open(&job->bytes);
    }
    if (err == OK) {
        err = pdf_bytes_seal(&job->bytes);
    }
    if (err == OK) {
        err = pdf_bytes_hash(&job->bytes, ret_sha256);
    }
    if (err != OK) {
        return err;
    }
    err = pdf_worker_measure(&request, arena, &job->answer);
    job->worker_broken = err == ERR_INTERNAL;
    if (job->worker_broken || (err == OK && !is_final(job, ret_sha256))) {
        return ERR_UNAVAILABLE;
    }
    return err;
}

enum err pdf_job_measure(struct pdf_job *job, const struct pdf_job_request *request,
                         struct arena *arena, struct sha256_digest *ret_sha256,
                         uint64_t *ret_size_bytes, struct pdf_answer *ret_answer)
{
    struct sha256_digest sha256;
    uint64_t size_bytes = job->bytes.size;

    if (UNEXPECTED(job->state != JOB_RUNNING) || UNEXPECTED(job->measured)) {
        return ERR_INTERNAL;
    }
    job->measured = true;
    job->measure_result = measure_job(job, request, arena, &sha256);
    pdf_bytes_close(&job->bytes);
    if (job->measure_result != OK) {
        return job->measure_result;
    }
    *ret_sha256 = sha256;
    *ret_size_bytes = size_bytes;
    *ret_answer = job->answer;
    return OK;
}

void pdf_job_cancel(struct pdf_job *job)
{
    switch (job->state) {
    case JOB_ARRIVING:
        job->cancelled = true;
        break;
    case JOB_WAITING:
        pdf_queue_remove(&job->jobs->queue, &job->entry);
        end_later(job, ERR_CANCELLED);
        break;
    case JOB_RUNNING:
        pdf_cancel_set(&job->cancel);
        break;
    case JOB_ENDING:
    case JOB_DONE:
        break;
    }
}

void pdf_job_close(struct pdf_job *job)
{
    ASSERT(job->state == JOB_ARRIVING || job->state == JOB_DONE);
    pdf_bytes_close(&job->bytes);
    pdf_queue_leave(&job->jobs->queue, &job->entry);
    free(job);
}
