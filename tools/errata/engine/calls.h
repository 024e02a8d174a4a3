/*
 * calls.h: many unary calls, several at a time over one channel, started in the order in which they
 * are given. The caller supplies the calls and handles their ends.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_CALLS_H
#define ERRATA_TOOLS_ERRATA_ENGINE_CALLS_H

#include "tools/errata/cli.h"

/* Maximum concurrent calls, far below the server's limit for one connection. */
#define CALLS_MAX 64

struct calls_item {
    uint64_t tag; /* tag chosen by the caller */
    const struct method_info *method;
    struct slice message; /* borrowed until `next` is called again */
    struct slice key; /* idempotency key, or empty */
};

enum calls_step {
    CALLS_ITEM,
    CALLS_WAIT, /* there are more, but one of the running calls has to end first */
    CALLS_END
};

struct calls_handlers {
    void *user;
    enum calls_step (*next)(void *user, struct calls_item *ret_item);
    /* Reports the end of a call, once for each that `next` returned; `reply` is set if the status
     * is OK. Returns false if no more calls are to be started. */
    bool (*done)(void *user, uint64_t tag, const struct client_status *status, struct slice reply);
};

/* Runs until all calls have ended; OK even if some failed, which `done` receives. SIGINT cancels
 * the running calls; the result is then CLI_INTERRUPTED. */
MUST_CHECK enum cli_exit calls_run(struct cli *cli, unsigned at_once,
                                   const struct calls_handlers *handlers);

/* Returns whether every other call would get the same error. */
bool calls_is_everyones(const struct client_status *status);

#endif
