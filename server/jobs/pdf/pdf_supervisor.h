/*
 * pdf_supervisor.h: keeps one worker running on the loop: starts it, waits until it is ready,
 * notices its end, restarts it after a growing pause (times in pdf_jobs.h). Independent of jobs.
 * Private to this folder.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_SUPERVISOR_H
#define ERRATA_SERVER_JOBS_PDF_PDF_SUPERVISOR_H

#include "server/jobs/pdf/pdf_worker.h"

#include <uv.h>

/* Size of the stored text of a failure, which is logged once. */
#define PDF_SUPERVISOR_PROBLEM_BYTES 256

/* STOPPED --start--> STARTING --READY--> READY
 * STARTING, READY --it ended, or is late--> PAUSED --pause over--> STARTING
 * any --stop--> STOPPED */
enum pdf_supervisor_state {
    PDF_SUPERVISOR_STOPPED,
    PDF_SUPERVISOR_STARTING,
    PDF_SUPERVISOR_READY,
    PDF_SUPERVISOR_PAUSED
};

struct pdf_supervisor {
    uv_loop_t *loop;
    char *program; /* owned */
    uint64_t ready_ms;
    uint64_t pause_ms_max;
    void (*on_change)(void *user); /* called if the worker became ready, was lost, or is given up */
    void *user;

    enum pdf_supervisor_state state;
    struct pdf_worker worker;
    uint64_t starts; /* number of starts, which identifies a worker */
    uv_poll_t poll; /* watches the control socket; open while STARTING and READY */
    uv_timer_t timer; /* STARTING: deadline; PAUSED: time of the next start */
    uint64_t pause_ms; /* the next pause */
    uint64_t ready_at_ms; /* time of readiness, by the loop's clock */
    uint64_t lost_at_ms; /* time at which it was last ready, or first started */
    bool given_up; /* no start is scheduled, so jobs should not wait; cleared when it is ready */
    char problem[PDF_SUPERVISOR_PROBLEM_BYTES]; /* last logged problem; empty when it is ready */
};

/* The struct must be zeroed. Copies `program`. Times of 0 select the defaults. */
MUST_CHECK enum err pdf_supervisor_init(struct pdf_supervisor *supervisor, const char *program,
                                        uint32_t ready_ms, uint32_t pause_ms_max);
/* Starts the first worker; the loop has handles of it from here on. */
void pdf_supervisor_start(struct pdf_supervisor *supervisor, uv_loop_t *loop,
                          void (*on_change)(void *user), void *user);
/* Stops a worker that misbehaves; another one is started after a pause. */
void pdf_supervisor_replace(struct pdf_supervisor *supervisor);
void pdf_supervisor_stop(struct pdf_supervisor *supervisor);
/* Call after the loop has ended. Accepts a zeroed struct. */
void pdf_supervisor_deinit(struct pdf_supervisor *supervisor);

static inline bool pdf_supervisor_is_ready(const struct pdf_supervisor *supervisor)
{
    return supervisor->state == PDF_SUPERVISOR_READY;
}

/* Returns whether the worker is ready, or is expected to be soon. */
static inline bool pdf_supervisor_is_worth_waiting(const struct pdf_supervisor *supervisor)
{
    return supervisor->state != PDF_SUPERVISOR_STOPPED && !supervisor->given_up;
}

#endif
