/*
 * lmdb_restore.h: a data folder made from a backup (backup_file.h). The whole file is read and checked
 * first; then its data goes to DIR/db.new, is compared again, checked page by page, synced, and renamed to
 * DIR/db. Cut off at any point, DIR holds no store, and restoring again begins from the start; or the
 * whole one.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_RESTORE_H
#define ERRATA_STORE_LMDB_LMDB_RESTORE_H

#include "store/lmdb/backup_file.h"

/* Of free room that a restored store is left with: its reserve. */
#define STORE_RESTORE_ROOM_BYTES (UINT64_C(64) << 20)

struct store_restore {
    const char *file; /* the backup */
    const char *path; /* the data folder: not there, or empty */
    /* How far it is: the file is read twice, `copying` says which time. NULL: no reports. */
    void (*on_progress)(void *user, bool copying, uint64_t bytes, uint64_t bytes_total);
    void *user;
};

/* A failure says why in `fault`: ERR_INVALID for a file that is no backup or one of a later program,
 * ERR_CORRUPT for a damaged one, ERR_PRECONDITION for a folder that is not empty or in use,
 * ERR_DISK_FULL, ERR_IO, ERR_MEMORY. Nothing is left but an empty folder that was there before. */
MUST_CHECK enum err store_lmdb_restore(const struct store_restore *restore, struct fault *fault,
                                       struct backup_info *ret_info);

#endif
