/*
 * verify_jobs.h: how the whole store is verified, without knowing how that is done: the app gives the
 * services these functions (implemented by a copy and a child process), tests give their own. One
 * verification at a time; it belongs to the stream that started it, until cancel.
 */
#ifndef ERRATA_SERVER_PIPELINE_VERIFY_JOBS_H
#define ERRATA_SERVER_PIPELINE_VERIFY_JOBS_H

#include "server/domain/replay/replay.h"
#include "store/base/fault.h"

/* Of the sentence that says what ended a verification. */
#define VERIFY_WHY_BYTES 512

enum verify_stage {
    VERIFY_AT_COPY,
    VERIFY_AT_CHECK,
    VERIFY_AT_REPLAY,
    VERIFY_AT_COMPARE
};

struct verify_state {
    uint64_t version; /* one more with each change */
    enum verify_stage stage;
    uint64_t copied_bytes;
    uint64_t copied_bytes_total;
    uint64_t events;
    uint64_t events_total;
    uint64_t rows;
    bool ended;
    /* Once it has ended: OK, and there is a report, or why there is none. */
    enum err err;
    bool damaged; /* OK: the file is damaged so that the report does not reach to the end */
    char why[VERIFY_WHY_BYTES]; /* of `err` or `damaged`; empty where the error says it all */
    struct replay_report report;
};

struct verify_jobs {
    void *user;
    /* On the loop. Whenever the state changes, the stream, of `org`, is woken, never inside
     * this call. ERR_PRECONDITION: one runs, or is being cleaned up; ERR_DISK_FULL: there is no
     * room; `fault` says which. */
    enum err (*start)(void *user, struct org_id org, struct fault *fault);
    /* Between start and cancel. */
    const struct verify_state *(*state)(void *user);
    /* On the loop, once for each start that was OK: it ends soon, and may be forgotten. */
    void (*cancel)(void *user);
};

#endif
