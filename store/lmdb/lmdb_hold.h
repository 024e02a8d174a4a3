/*
 * lmdb_hold.h: how a process reserves a store. It does not open the store.
 *   the data folder itself   locked first, until the end. The lock is on the folder's inode, so it
 *                            survives the removal of every file in the folder, and works through
 *                            symbolic links and bind mounts
 *   DIR/errata.pid           the id of the process that has the lock. It is locked too, since earlier
 *                            programs lock only this file
 *   DIR/db/data.mdb          locked too: another folder may have a link to the same file
 *   DIR/db/state             whether the store is open, and which file it is (lmdb_state.h)
 * The locks are those of flock(2): they belong to the open file, so that LMDB and the check at the
 * start may open and close the same files, which would drop the process's record locks (fcntl). A
 * child keeps them until it executes its program, which closes all descriptors.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_HOLD_H
#define ERRATA_STORE_LMDB_LMDB_HOLD_H

#include "store/base/fault.h"

#include <stdbool.h>

/* Descriptors with a lock; -1: not held. */
struct lmdb_hold {
    int folder;
    int number; /* errata.pid */
    int file; /* db/data.mdb */
};

void lmdb_hold_init(struct lmdb_hold *hold);
/* Locks the data folder `path`, which exists, and its errata.pid. ERR_PRECONDITION if another
 * process has it: `fault` names that process. ERR_IO, ERR_DISK_FULL with the system's reason. The
 * caller releases what is held, also after a failure. */
MUST_CHECK enum err lmdb_hold_folder(struct lmdb_hold *hold, const char *path,
                                     const char *number_path, struct fault *fault);
/* Locks the data file `path`, which exists. Same errors. */
MUST_CHECK enum err lmdb_hold_file(struct lmdb_hold *hold, const char *path, struct fault *fault);
/* Returns whether another descriptor refers to the locked file. */
bool lmdb_hold_is_file(const struct lmdb_hold *hold, int fd);
/* Returns whether the data file was removed since it was locked: what is written to it is lost when
 * it is closed. Any thread. */
bool lmdb_hold_lost_file(const struct lmdb_hold *hold);
/* Releases all locks. */
void lmdb_hold_release(struct lmdb_hold *hold);

#endif
