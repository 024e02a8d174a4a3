/*
 * fork_server.h: the loop of the worker program: jobs come in over the control socket, each gets a
 * child, and each end is told. It reads no document, and allocates nothing while it serves. What the
 * server sends is checked: a datagram that is none of the protocol costs nothing but itself.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_WORKER_FORK_SERVER_H
#define ERRATA_SERVER_JOBS_PDF_WORKER_FORK_SERVER_H

#include "server/jobs/pdf/worker/cage/cage.h"
#include "store/base/clock.h"

struct fork_server_config {
    int control; /* the socket; borrowed */
    uint32_t wall_ms; /* a child's time */
    struct cage *cage;
    const struct clock *clock;
    const char *poppler_version;
};

/* Says READY and serves until the control socket closes; then no child is left. OK, or
 * ERR_UNAVAILABLE if it could not start. */
MUST_CHECK enum err fork_server_run(const struct fork_server_config *config);

#endif
