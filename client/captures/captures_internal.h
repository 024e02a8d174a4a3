/*
 * captures_internal.h: a queue of captures over a channel, on the channel's loop; used by
 * captures.c, for a caller with a loop, and by captures_thread.c, which provides a loop.
 */
#ifndef ERRATA_CLIENT_CAPTURES_CAPTURES_INTERNAL_H
#define ERRATA_CLIENT_CAPTURES_CAPTURES_INTERNAL_H

#include "client/captures/queue.h"

#include <uv.h>

struct captures_thread;

typedef void captures_on_closed_fn(void *user, const struct errata_captures_statistics *statistics);

struct errata_captures {
    struct captures_intake intake;
    struct captures_queue queue;
    struct errata_channel *channel; /* on the loop of the caller or of the thread */
    uv_async_t wake; /* keeps the loop alive */
    uv_timer_t timer; /* timer of the queue's next step; does not keep the loop alive */
    unsigned handles; /* number of open handles of these two */
    bool stopped; /* the end was requested and the queue closed */
    captures_on_closed_fn *on_closed; /* may be NULL */
    void *on_closed_user;
    struct captures_thread *thread; /* NULL: the loop is the caller's */
};

/* Checks a configuration (NULL: the defaults) and fills in its zeros. Returns NULL, or a
 * description of the problem as static text. */
const char *captures_config_read(const struct errata_captures_config *config,
                                 struct errata_captures_config *ret_config);

#endif
