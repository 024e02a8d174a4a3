/*
 * keepalive.c: see keepalive.h.
 */
#include "client/keepalive.h"

void client_keepalive_hear(struct client_keepalive *keepalive)
{
    keepalive->heard = true;
}

/* After sending a PING, waits for its answer even if no call is left, so that no later call uses a
 * dead connection. */
static enum client_keepalive_verdict keepalive_wait(struct client_keepalive *keepalive,
                                                    int64_t now_ms)
{
    if (now_ms < keepalive->give_up_ms) {
        return CLIENT_KEEPALIVE_WAIT;
    }
    if (keepalive->in_grace) {
        return CLIENT_KEEPALIVE_GONE;
    }
    keepalive->in_grace = true;
    keepalive->give_up_ms = now_ms + CLIENT_KEEPALIVE_GRACE_MS;
    return CLIENT_KEEPALIVE_WAIT;
}

enum client_keepalive_verdict client_keepalive_step(struct client_keepalive *keepalive,
                                                    int64_t now_ms, bool waited_for,
                                                    int64_t *ret_next_ms)
{
    enum client_keepalive_verdict verdict = CLIENT_KEEPALIVE_WAIT;

    *ret_next_ms = 0;
    if (keepalive->heard) {
        keepalive->heard = false;
        keepalive->heard_ms = now_ms;
        keepalive->give_up_ms = 0;
        keepalive->in_grace = false;
    }
    if (keepalive->silence_ms == 0) {
        return CLIENT_KEEPALIVE_WAIT;
    }
    if (keepalive->give_up_ms != 0) {
        verdict = keepalive_wait(keepalive, now_ms);
        *ret_next_ms = keepalive->give_up_ms;
        return verdict;
    }
    if (!waited_for) {
        return CLIENT_KEEPALIVE_WAIT;
    }
    if (now_ms - keepalive->heard_ms < keepalive->silence_ms) {
        *ret_next_ms = keepalive->heard_ms + keepalive->silence_ms;
        return CLIENT_KEEPALIVE_WAIT;
    }
    keepalive->give_up_ms = now_ms + keepalive->timeout_ms;
    *ret_next_ms = keepalive->give_up_ms;
    return CLIENT_KEEPALIVE_ASK;
}
