/*
 * child.h: what a forked child does with its one document: shuts itself in, measures, writes the
 * answer frame by frame, ends.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_WORKER_CHILD_H
#define ERRATA_SERVER_JOBS_PDF_WORKER_CHILD_H

#include "server/jobs/pdf/worker/cage/cage.h"

#include <sys/types.h>

struct child {
    const struct pdf_control_job *job; /* checked by the fork server */
    int document; /* descriptors; the child's to move and to close the rest */
    int answer;
    struct cage *cage;
    pid_t parent; /* the fork server */
};

/* Never returns: ends with an enum pdf_exit, or by a signal. */
NORETURN void child_run(const struct child *child);

#endif
