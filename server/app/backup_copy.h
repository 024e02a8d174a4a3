/*
 * backup_copy.h: makes the bytes of a backup on a thread of its own: head, data, position, end (store/backup/backup_file.h).
 */
#ifndef ERRATA_SERVER_APP_BACKUP_COPY_H
#define ERRATA_SERVER_APP_BACKUP_COPY_H

#include "store/backend.h"
#include "store/backup/backup_file.h"
#include "store/base/clock.h"

/* Limits the copy, since the loop would send it as fast as it can and starve other calls. */
#define BACKUP_BYTES_A_SECOND_MAX (UINT64_C(64) << 20)

struct backup_copy {
    struct store_backend *backend; /* the tables */
    struct store_backend *journal; /* the journal over the tables; NULL without one */
    const struct clock *clock;
    struct backup_info info; /* for the head */
    struct slice since; /* of an increment: the position that it begins after */
    /* Receives the bytes in order; an error ends the copy with that error. */
    enum err (*put)(void *user, struct slice bytes);
    void *user;
    struct arena *memory; /* for the position and the fault */
    struct fault *fault;
    /* Results: */
    uint64_t file_bytes;
    struct sha256_state sha256; /* state over all bytes */
    struct slice position;
};

MUST_CHECK enum err backup_copy_run(struct backup_copy *copy);

#endif
