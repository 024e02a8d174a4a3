/*
 * sigpipe.h: writing to a connection that the other end has closed, without the signal for it: a
 * library that has a thread only for the length of a call can't ask its program to ignore signals.
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

/* Blocks SIGPIPE on this thread, until sigpipe_release, which takes away one that came meanwhile. */
void sigpipe_hold(struct sigpipe *ret_before);
void sigpipe_release(const struct sigpipe *before);

#endif
