/*
 * verdict.h: the consequence of the end of a capture's call for this and for later captures.
 */
#ifndef ERRATA_CLIENT_CAPTURES_VERDICT_H
#define ERRATA_CLIENT_CAPTURES_VERDICT_H

#include <errata/client.h>

enum captures_verdict {
    CAPTURES_VERDICT_STORED,
    /* The server will never accept the capture. */
    CAPTURES_VERDICT_REFUSED,
    /* The capture could not be stored for a reason that concerns the server, the connection or the
     * token. Other captures would fail too, so all wait. */
    CAPTURES_VERDICT_HOLD,
    /* The failure may be caused by this capture: it waits, and the others continue. */
    CAPTURES_VERDICT_FAULT
};

/* `ret_retry_ms` is the delay before a repeat that the server requested; -1: none. */
enum captures_verdict captures_judge(const struct errata_status *status, int64_t *ret_retry_ms);

#endif
