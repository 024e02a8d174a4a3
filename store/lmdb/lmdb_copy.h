/*
 * lmdb_copy.h: a hot copy: the whole file as one snapshot of it, while writes go on. It holds up the
 * writer only while it takes the snapshot. No page is looked into, so damage is copied, not met. The
 * snapshot keeps pages from being used again until the copy is through, so the file grows by what is
 * written meanwhile. For a thread of its own: it takes seconds a gigabyte.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_COPY_H
#define ERRATA_STORE_LMDB_LMDB_COPY_H

#include "store/backend.h"
#include "store/base/clock.h"

/* Bytes that are handed on at once. */
#define STORE_COPY_PIECE_BYTES ((size_t)256 << 10)
/* A copy that would use all of the disk makes commits wait for it. */
#define STORE_COPY_BYTES_A_SECOND (256ull << 20)

struct store_copy {
    const struct clock *clock;
    uint64_t bytes_a_second; /* 0: as fast as it goes */
    /* The next bytes, in order, of a file that store_lmdb_open opens as DIR/db/data.mdb. An error ends
     * the copy with it. On the copying thread. */
    enum err (*take)(void *user, struct slice bytes);
    void *user;
};

/* ERR_IO, ERR_MEMORY, or what `take` gave. */
MUST_CHECK enum err store_lmdb_copy(struct store_backend *backend, const struct store_copy *copy);

struct store_copy_to {
    const struct clock *clock;
    uint64_t bytes_a_second; /* 0: as fast as it goes */
    /* How many bytes are copied; false ends it with ERR_CANCELLED. */
    bool (*on_progress)(void *user, uint64_t bytes);
    void *user;
};

/* The copy as a data folder of its own, made here; not synced, since no one relies on it after a
 * power cut. What a failure leaves is removed by store_lmdb_remove_folder. ERR_DISK_FULL too. */
MUST_CHECK enum err store_lmdb_copy_to(struct store_backend *backend, const char *path,
                                       const struct store_copy_to *copy);

#endif
