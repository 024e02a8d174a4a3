/*
 * child.h: the work of a forked child with its one document: enters the sandbox, measures, writes
 * the answer frame by frame, ends.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_WORKER_CHILD_H
#define ERRATA_SERVER_JOBS_PDF_WORKER_CHILD_H

#include "server/jobs/pdf/worker/sandbox/sandbox.h"

#include <sys/types.h>

struct child {
    const struct pdf_control_job *job; /* job, already checked by the fork server */
    int document; /* descriptor; the child moves these descriptors, and closes all others */
    int answer;
    struct sandbox *sandbox;
    pid_t parent; /* the fork server */
};

/* Does not return: ends with an enum pdf_exit, or by a signal. */
NORETURN void child_run(const struct child *child);

#endif
