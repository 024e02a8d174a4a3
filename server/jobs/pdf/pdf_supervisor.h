/*
 * pdf_supervisor.h: one worker kept running on the loop: started, waited for, noticed when it ends,
 * started again after a growing pause (the times are in pdf_jobs.h). Knows no jobs. For this
 * folder.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_SUPERVISOR_H
#define ERRATA_SERVER_JOBS_PDF_PDF_SUPERVISOR_H

#include "server/jobs/pdf/pdf_worker.h"

#include <uv.h>

/* Of a failure's text that is kept, so that it is logged once. */
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
    void (*on_change)(void *user); /* it became ready, was lost, or is given up */
    void *user;

    enum pdf_supervisor_state state;
    struct pdf_worker worker;
    uint64_t starts; /* distinguishes one worker from the next */
    uv_poll_t poll; /* of the control socket; open while STARTING and READY */
    uv_timer_t timer; /* STARTING: until it is late; PAUSED: until the next start */
    uint64_t pause_ms; /* the next pause */
    uint64_t ready_at_ms; /* by the loop's time */
    uint64_t lost_at_ms; /* when it was last ready, or first started */
    bool given_up; /* no start in sight: no one should wait; until it is ready */
    char problem[PDF_SUPERVISOR_PROBLEM_BYTES]; /* logged last; empty once it is ready */
};

/* Zeroed before. Copies `program`. 0 as times: the usual ones. */
MUST_CHECK enum err pdf_supervisor_init(struct pdf_supervisor *supervisor, const char *program,
                                        uint32_t ready_ms, uint32_t pause_ms_max);
/* Starts the first worker; from here on the loop has handles. */
void pdf_supervisor_start(struct pdf_supervisor *supervisor, uv_loop_t *loop,
                          void (*on_change)(void *user), void *user);
/* The worker does not do what it should: it is stopped, and another one started in time. */
void pdf_supervisor_replace(struct pdf_supervisor *supervisor);
void pdf_supervisor_stop(struct pdf_supervisor *supervisor);
/* After the loop has ended. Takes a zeroed one. */
void pdf_supervisor_deinit(struct pdf_supervisor *supervisor);

static inline bool pdf_supervisor_is_ready(const struct pdf_supervisor *supervisor)
{
    return supervisor->state == PDF_SUPERVISOR_READY;
}

/* It is ready, or soon will be. */
static inline bool pdf_supervisor_is_worth_waiting(const struct pdf_supervisor *supervisor)
{
    return supervisor->state != PDF_SUPERVISOR_STOPPED && !supervisor->given_up;
}

#endif
