/*
 * sigpipe.h: suppresses SIGPIPE for writes to a connection that the other end has closed. A library
 * that uses a thread only for the duration of a call cannot require that its program ignores the
 * signal.
 */
#ifndef ERRATA_CLIENT_LIBRARY_SIGPIPE_H
#define ERRATA_CLIENT_LIBRARY_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

/* State of this thread before blocking the signal. */
struct sigpipe {
    sigset_t mask;
    bool was_pending;
};

/* Blocks SIGPIPE on this thread, until sigpipe_release, which consumes one that arrived
 * meanwhile. */
void sigpipe_hold(struct sigpipe *ret_before);
void sigpipe_release(const struct sigpipe *before);

#endif
