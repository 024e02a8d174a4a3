/*
 * verify_jobs.h: how the whole store is verified, as a table of functions: the app provides them
 * (implemented by a copy and a child process), tests provide their own. One verification at a time;
 * it belongs to the stream that started it, until cancel.
 */
#ifndef ERRATA_SERVER_PIPELINE_VERIFY_JOBS_H
#define ERRATA_SERVER_PIPELINE_VERIFY_JOBS_H

#include "server/domain/replay/replay.h"
#include "store/base/fault.h"

/* Maximum size of the reason for the end of a verification. */
#define VERIFY_WHY_BYTES 512

enum verify_stage {
    VERIFY_AT_COPY,
    VERIFY_AT_CHECK,
    VERIFY_AT_REPLAY,
    VERIFY_AT_COMPARE
};

struct verify_state {
    uint64_t version; /* incremented by each change */
    enum verify_stage stage;
    uint64_t copied_bytes;
    uint64_t copied_bytes_total;
    uint64_t events;
    uint64_t events_total;
    uint64_t rows;
    bool ended;
    /* After the end: OK if there is a report, otherwise the reason. */
    enum err err;
    bool damaged; /* with OK: the file is damaged, so the report is incomplete */
    char why
        [VERIFY_WHY_BYTES]; /* reason of `err` or `damaged`; empty if the error needs no explanation */
    struct replay_report report;
};

struct verify_jobs {
    void *user;
    /* Starts a verification; call it on the loop. Whenever the state changes, the stream of `org`
     * is woken, but never inside this call. ERR_PRECONDITION: another one is running or ending;
     * ERR_DISK_FULL: not enough disk space; `fault` contains the reason. */
    enum err (*start)(void *user, struct org_id org, struct fault *fault);
    /* May be called between start and cancel. */
    const struct verify_state *(*state)(void *user);
    /* Cancels the verification, which ends soon; call it on the loop, once for each successful
     * start. */
    void (*cancel)(void *user);
};

#endif
