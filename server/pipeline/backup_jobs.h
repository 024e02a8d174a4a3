/*
 * backup_jobs.h: where the bytes of a backup come from, without knowing how they are made: the app gives
 * the services these functions (a thread that copies the store), tests give their own. One backup at a
 * time; it belongs to the stream that started it, until cancel.
 */
#ifndef ERRATA_SERVER_PIPELINE_BACKUP_JOBS_H
#define ERRATA_SERVER_PIPELINE_BACKUP_JOBS_H

#include "store/base/fault.h"
#include "store/base/sha256.h"
#include "store/key.h"

/* Of one message: small beside what a connection has in flight, large beside what frames a message. */
#define BACKUP_MESSAGE_BYTES_MAX ((size_t)64 << 10)
/* Of the sentence that says what ended a backup. */
#define BACKUP_WHY_BYTES 256

struct backup_state {
    uint64_t total_bytes; /* of the file, about */
    int64_t created_at_us; /* before the snapshot; wall clock */
    uint32_t format_version;
    bool ended; /* every byte was taken, or it failed */
    /* Once it has ended: */
    enum err err;
    char why[BACKUP_WHY_BYTES]; /* of `err`; empty where the error says it all */
    uint64_t file_bytes;
    struct sha256_digest file_sha256;
};

struct backup_jobs {
    void *user;
    /* On the loop, as all of these. Whenever bytes or its end have come, the stream, of `org`, is woken,
     * never inside this call. ERR_PRECONDITION: one runs, or is ending; ERR_MEMORY. */
    enum err (*start)(void *user, struct org_id org, struct fault *fault);
    /* Between start and cancel. */
    const struct backup_state *(*state)(void *user);
    /* The next bytes of the file, at most BACKUP_MESSAGE_BYTES_MAX; empty: there are none yet, or it has
     * ended. They stay until the next call of this or cancel. */
    struct slice (*take)(void *user);
    /* Once for each start that was OK: it ends soon, and may be forgotten. */
    void (*cancel)(void *user);
};

#endif
