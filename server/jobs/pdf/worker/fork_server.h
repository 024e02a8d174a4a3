/*
 * fork_server.h: the loop of the worker program: receives jobs over the control socket, forks a
 * child for each, and reports each end. It reads no document, and allocates nothing while it
 * serves. The server's messages are checked: an invalid datagram is ignored.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_WORKER_FORK_SERVER_H
#define ERRATA_SERVER_JOBS_PDF_WORKER_FORK_SERVER_H

#include "server/jobs/pdf/worker/sandbox/sandbox.h"
#include "store/base/clock.h"

struct fork_server_config {
    int control; /* the socket; borrowed */
    uint32_t wall_ms; /* a child's time */
    struct sandbox *sandbox;
    const struct clock *clock;
    const char *poppler_version;
};

/* Sends READY and serves until the control socket closes; no child is left then. OK, or
 * ERR_UNAVAILABLE if it could not start. */
MUST_CHECK enum err fork_server_run(const struct fork_server_config *config);

#endif
