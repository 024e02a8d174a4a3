/*
 * pdf_jobs.h: documents in the server: their bytes, a bounded queue that is fair by organisation, a
 * few slots of the pool, and the worker program, which is restarted after a growing pause if it
 * dies. Used on the loop, except for the functions that server/pipeline/document_jobs.h runs on the
 * pool; the functions below implement that header, with the same contracts.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_JOBS_H
#define ERRATA_SERVER_JOBS_PDF_PDF_JOBS_H

#include "server/jobs/pdf/pdf_starved.h"
#include "server/jobs/pdf/pdf_worker.h"
#include "server/jobs/pool.h"
#include "store/base/clock.h"

/* Maximum bytes of all documents that arrive, wait or are measured: four of the largest. */
#define PDF_HELD_BYTES_MAX (4 * PDF_DOCUMENT_BYTES_MAX)
/* Documents that arrive, wait or are measured: a few seconds of work for two slots. */
#define PDF_JOBS_MAX 256
/* An organisation gets at most half of both limits, and the last quarter is reserved for
 * organisations without other documents: even if two of them send as much as they can, a third
 * one's first document is accepted. */
#define PDF_ORG_DIVISOR 2
#define PDF_KEPT_DIVISOR 4
/* Documents measured at once, in kept slots of the pool; long reads use the others. */
#define PDF_SLOTS_MAX 2
/* Pause before the worker is restarted, doubled up to the maximum; it is reset once the worker has
 * been ready for the maximum. */
#define PDF_RESTART_MS_MIN 100
#define PDF_RESTART_MS_MAX 30000
/* Jobs stay queued while the worker's next start is due within this time after it was lost, so that
 * callers do not notice a short restart. If the worker cannot be started, jobs do not wait: queued
 * ones end with ERR_UNAVAILABLE, and no new one is accepted until it is ready. */
#define PDF_OUTAGE_MS 3000

struct uv_loop_s;
struct pdf_jobs;
struct pdf_job;

/* The document to measure, and its options. */
struct pdf_job_request {
    struct slice password; /* or empty */
    uint32_t flags; /* as in struct pdf_request */
};

struct pdf_jobs_config {
    struct uv_loop_s *loop;
    struct pool *pool;
    const struct clock *clock; /* clock for the list of starved documents */
    const char *program; /* path of the worker program */
    unsigned slots; /* maximum concurrent documents: 1 to PDF_SLOTS_MAX */
    uint32_t ready_ms; /* time for the worker to become ready; 0: PDF_READY_MS */
    uint32_t restart_ms_max; /* maximum pause; 0: PDF_RESTART_MS_MAX */
    /* Called on the loop when the worker becomes ready or is lost; first when it is ready. */
    void (*on_health)(void *user, bool serving);
    void *user;
};

/* Counters since the start. */
struct pdf_jobs_stats {
    uint64_t jobs_live;
    uint64_t jobs_waiting;
    uint64_t jobs_running;
    uint64_t held_bytes;
    uint64_t measured_total; /* documents measured successfully */
    uint64_t refused_total; /* documents refused with a reason */
    uint64_t cut_total; /* documents measured without tables */
    uint64_t cancelled_total;
    uint64_t failed_total; /* errors of the worker, not of the document */
    uint64_t busy_total; /* refused because the server is busy */
    uint64_t cpu_us_total; /* CPU time of the children */
    uint64_t worker_starts_total;
};

MUST_CHECK enum err pdf_jobs_new(const struct pdf_jobs_config *config, struct pdf_jobs **ret_jobs);
/* Starts the worker; the loop has handles of it from here on. No job is accepted before. */
void pdf_jobs_start(struct pdf_jobs *jobs);
/* Stops the worker, waiting for it, and closes the handles; no job may exist. No callback is called
 * afterwards. */
void pdf_jobs_stop(struct pdf_jobs *jobs);
/* Call after the loop has ended, or without a start. Accepts NULL. */
void pdf_jobs_free(struct pdf_jobs *jobs);
struct pdf_jobs_stats pdf_jobs_read_stats(const struct pdf_jobs *jobs);

MUST_CHECK enum err pdf_job_open(struct pdf_jobs *jobs, struct uuid org, struct pdf_job **ret_job);
MUST_CHECK enum err pdf_job_reserve(struct pdf_job *job, size_t size);
MUST_CHECK enum err pdf_job_append(struct pdf_job *job, struct slice bytes);
/* The queue has room for every open job. `done` reports later errors: ERR_CANCELLED,
 * ERR_UNAVAILABLE if the worker is lost, ERR_MEMORY; `work` did not run then. */
MUST_CHECK enum err pdf_job_submit(struct pdf_job *job, void (*work)(void *user),
                                   void (*done)(void *user, enum err result), void *user);
/* Also ERR_UNAVAILABLE for a starved document the first time; the second time (pdf_starved.h) the
 * partial answer counts: a text without tables, or PDF_WALL_LIMIT. */
MUST_CHECK enum err pdf_job_measure(struct pdf_job *job, const struct pdf_job_request *request,
                                    struct arena *arena, struct sha256_digest *ret_sha256,
                                    uint64_t *ret_size_bytes, struct pdf_answer *ret_answer);
void pdf_job_cancel(struct pdf_job *job);
void pdf_job_close(struct pdf_job *job);

#endif
