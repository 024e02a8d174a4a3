/*
 * lmdb_restore.h: creates a data folder from a backup (backup_file.h). The whole file is read and
 * checked first; then its data goes to DIR/db.new, is compared again, checked page by page, synced,
 * and renamed to DIR/db. If this is interrupted at any point, DIR has no store, and restoring again
 * starts over; or it has the complete one.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_RESTORE_H
#define ERRATA_STORE_LMDB_LMDB_RESTORE_H

#include "store/backup/backup_file.h"

/* Free room that is left for a restored store: its reserve. */
#define STORE_RESTORE_ROOM_BYTES (UINT64_C(64) << 20)

struct store_restore {
    const char *file; /* the backup */
    const char *path; /* the data folder: missing, or empty */
    /* Reports the progress: the file is read twice, `copying` is set the second time. NULL: no
     * reports. */
    void (*on_progress)(void *user, bool copying, uint64_t bytes, uint64_t bytes_total);
    void *user;
};

/* On failure `fault` has the reason: ERR_INVALID for a file that is not a backup or is of a later
 * program, ERR_CORRUPT for a damaged one, ERR_PRECONDITION for a folder that is not empty or in
 * use, ERR_DISK_FULL, ERR_IO, ERR_MEMORY. Nothing remains except an empty folder that existed
 * before. */
MUST_CHECK enum err store_lmdb_restore(const struct store_restore *restore, struct fault *fault,
                                       struct backup_info *ret_info);

#endif
