/*
 * lmdb_copy.h: a hot copy: a snapshot of the whole file, while writes continue. It blocks the
 * writer only while it takes the snapshot. Pages are not examined, so damage is copied. The
 * snapshot keeps pages from being reused until the copy is done, so the file grows by what is
 * written meanwhile. Call it on a separate thread: it takes seconds per gigabyte.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_COPY_H
#define ERRATA_STORE_LMDB_LMDB_COPY_H

#include "store/backend.h"
#include "store/base/clock.h"

/* Maximum bytes passed on at once. */
#define STORE_COPY_PIECE_BYTES ((size_t)256 << 10)
/* Rate limit: a copy that used all of the disk would delay commits. */
#define STORE_COPY_BYTES_A_SECOND (256ull << 20)

struct store_copy {
    const struct clock *clock;
    uint64_t bytes_a_second; /* 0: unlimited */
    /* Receives the next bytes, in order, of a file that store_lmdb_open opens as DIR/db/data.mdb.
     * An error ends the copy with that error. Called on the copying thread. */
    enum err (*take)(void *user, struct slice bytes);
    void *user;
};

/* ERR_IO, ERR_MEMORY, or an error of `take`. */
MUST_CHECK enum err store_lmdb_copy(struct store_backend *backend, const struct store_copy *copy);

struct store_copy_to {
    const struct clock *clock;
    uint64_t bytes_a_second; /* 0: unlimited */
    /* Reports the bytes copied; returning false ends it with ERR_CANCELLED. */
    bool (*on_progress)(void *user, uint64_t bytes);
    void *user;
};

/* Creates the copy as a data folder; not synced, since it is not needed after a power cut.
 * store_lmdb_remove_folder removes what a failure leaves. Also ERR_DISK_FULL. */
MUST_CHECK enum err store_lmdb_copy_to(struct store_backend *backend, const char *path,
                                       const struct store_copy_to *copy);

#endif
