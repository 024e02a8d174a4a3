/*
 * pdf_jobs.h: documents on their way through the server: their bytes, a queue that is fair by
 * organisation and bounded, a few slots of the pool, and the worker program, which is kept running
 * and started again with a growing pause where it dies. Belongs to the loop, but for what
 * server/pipeline/document_jobs.h lets run on the pool; the functions below are what implements
 * that header, with the same contracts.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_JOBS_H
#define ERRATA_SERVER_JOBS_PDF_PDF_JOBS_H

#include "server/jobs/pdf/pdf_starved.h"
#include "server/jobs/pdf/pdf_worker.h"
#include "server/jobs/pool.h"
#include "store/base/clock.h"

/* All bytes of documents that arrive, wait or are measured: four of the largest. */
#define PDF_HELD_BYTES_MAX (4 * PDF_DOCUMENT_BYTES_MAX)
/* Documents that arrive, wait or are measured: what two slots do in a few seconds. */
#define PDF_JOBS_MAX 256
/* Of both an organisation gets half at most, and the last quarter is kept for organisations that have
 * no other document here: however much two of them send, a third one's first document is taken. */
#define PDF_ORG_DIVISOR 2
#define PDF_KEPT_DIVISOR 4
/* Documents measured at once, in kept places of the pool; long reads have the rest of those. */
#define PDF_SLOTS_MAX 2
/* The worker is started again after this pause, doubled up to the greatest; once it has been ready
 * for the greatest pause, it starts over. */
#define PDF_RESTART_MS_MIN 100
#define PDF_RESTART_MS_MAX 30000
/* Jobs stay queued over an outage of the worker while its next start is due within this time after
 * the worker was lost: a short restart is seen by no one. A worker that can't even be started is no
 * such outage. Else those that wait end with ERR_UNAVAILABLE, and no new one is taken until it is
 * ready. */
#define PDF_OUTAGE_MS 3000

struct uv_loop_s;
struct pdf_jobs;
struct pdf_job;

struct pdf_jobs_config {
    struct uv_loop_s *loop;
    struct pool *pool;
    const struct clock *clock; /* of how long a starved document is remembered */
    const char *program; /* path of the worker program */
    unsigned slots; /* documents measured at once: 1 to PDF_SLOTS_MAX */
    uint32_t ready_ms; /* how long the worker may take until it is ready; 0: PDF_READY_MS */
    uint32_t restart_ms_max; /* the greatest pause; 0: PDF_RESTART_MS_MAX */
    /* On the loop: the worker became ready, or was lost; first called when it is ready. */
    void (*on_health)(void *user, bool serving);
    void *user;
};

/* Numbers since start. */
struct pdf_jobs_stats {
    uint64_t jobs_live;
    uint64_t jobs_waiting;
    uint64_t jobs_running;
    uint64_t held_bytes;
    uint64_t measured_total; /* answered, without a reason for refusal */
    uint64_t refused_total; /* with one */
    uint64_t cut_total; /* measured, but without tables */
    uint64_t cancelled_total;
    uint64_t failed_total; /* the worker's fault, not the document's */
    uint64_t busy_total; /* turned away */
    uint64_t cpu_us_total; /* of the children */
    uint64_t worker_starts_total;
};

MUST_CHECK enum err pdf_jobs_new(const struct pdf_jobs_config *config, struct pdf_jobs **ret_jobs);
/* Starts the worker; from here on the loop has handles of ours. Until then no job is taken. */
void pdf_jobs_start(struct pdf_jobs *jobs);
/* Stops the worker, which is waited for, and closes the handles; no job may be live. Nothing is called
 * back from here on. */
void pdf_jobs_stop(struct pdf_jobs *jobs);
/* After the loop has ended, or without a start. Accepts NULL. */
void pdf_jobs_free(struct pdf_jobs *jobs);
struct pdf_jobs_stats pdf_jobs_read_stats(const struct pdf_jobs *jobs);

MUST_CHECK enum err pdf_job_open(struct pdf_jobs *jobs, struct uuid org, struct pdf_job **ret_job);
MUST_CHECK enum err pdf_job_reserve(struct pdf_job *job, size_t size);
MUST_CHECK enum err pdf_job_append(struct pdf_job *job, struct slice bytes);
/* The queue has room for every job that is open. What goes wrong later is told by `done`:
 * ERR_CANCELLED, ERR_UNAVAILABLE if the worker stayed away, ERR_MEMORY; `work` did not run then. */
MUST_CHECK enum err pdf_job_submit(struct pdf_job *job, void (*work)(void *user),
                                   void (*done)(void *user, enum err result), void *user);
/* ERR_UNAVAILABLE too for a document that the machine had no time for; the second time (pdf_starved.h) what
 * there is of its answer counts: a text without tables, or PDF_WALL_LIMIT. */
MUST_CHECK enum err pdf_job_measure(struct pdf_job *job, struct slice password, struct arena *arena,
                                    struct sha256_digest *ret_sha256, uint64_t *ret_size_bytes,
                                    struct pdf_answer *ret_answer);
void pdf_job_cancel(struct pdf_job *job);
void pdf_job_close(struct pdf_job *job);

#endif
