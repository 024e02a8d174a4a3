/*
 * sigpipe.c: see sigpipe.h. A write raises SIGPIPE on the thread that writes (POSIX), so blocking and
 * taking it here hides none of other threads.
 */
#include "client/library/sigpipe.h"

#include <stddef.h>
#include <time.h>

static bool is_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static sigset_t sigpipe_set(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    return set;
}

void sigpipe_hold(struct sigpipe *ret_before)
{
    sigset_t set = sigpipe_set();

    ret_before->was_pending = is_pending();
    (void)pthread_sigmask(SIG_BLOCK, &set, &ret_before->mask);
}

void sigpipe_release(const struct sigpipe *before)
{
    static const struct timespec at_once = {0, 0};
    sigset_t set = sigpipe_set();

    if (!before->was_pending && is_pending()) {
        (void)sigtimedwait(&set, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}
