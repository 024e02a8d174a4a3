/*
 * backup_jobs.h: the source of a backup's bytes, as a table of functions: the app provides them (a
 * thread that copies the store), tests provide their own. One backup at a time; it belongs to the
 * stream that started it, until cancel.
 */
#ifndef ERRATA_SERVER_PIPELINE_BACKUP_JOBS_H
#define ERRATA_SERVER_PIPELINE_BACKUP_JOBS_H

#include "store/base/fault.h"
#include "store/base/sha256.h"
#include "store/key.h"

/* Maximum size of a message: small compared with a connection's window, large compared with the
 * overhead of a message. */
#define BACKUP_MESSAGE_BYTES_MAX ((size_t)64 << 10)
/* Maximum size of the reason for the end of a backup. */
#define BACKUP_WHY_BYTES 256

struct backup_state {
    uint64_t total_bytes; /* approximate size of the file; 0 for an increment */
    int64_t created_at_us; /* time before the snapshot, by the wall clock */
    uint32_t format_version;
    bool ended; /* every byte was taken, or the backup failed */
    /* Valid after the end: */
    enum err err;
    char why[BACKUP_WHY_BYTES]; /* reason of `err`; empty if the error needs no explanation */
    uint64_t file_bytes;
    struct sha256_digest file_sha256;
    struct slice position; /* of the backup (server/domain/replay/position.h); valid until cancel */
};

struct backup_jobs {
    void *user;
    /* Starts a backup: with a position in `since` an increment after it, else a whole one. Like all functions here, it must be called on the loop. Whenever there are
     * new bytes, or the backup has ended, the stream of `org` is woken, but never inside this call.
     * ERR_PRECONDITION: another backup is running or ending; ERR_MEMORY. */
    enum err (*start)(void *user, struct org_id org, struct slice since, struct fault *fault);
    /* May be called between start and cancel. */
    const struct backup_state *(*state)(void *user);
    /* Returns the next bytes of the file, at most BACKUP_MESSAGE_BYTES_MAX; empty if there are none
     * yet, or it has ended. They are valid until the next call of this function or of cancel. */
    struct slice (*take)(void *user);
    /* Cancels the backup. Call it once for each successful start; the backup ends soon. */
    void (*cancel)(void *user);
};

#endif
