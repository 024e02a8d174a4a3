/*
 * lmdb_folder.h: data folders as wholes: how much room there is for another, putting a new store in the
 * place of the old one, and removing one. A new store is made in a folder within the old one's
 * (DIR/rebuild), whose lock its maker holds.
 *
 *   DIR/rebuild/db   the new store, whole and synced
 *   1. DIR/db          -> DIR/db.old
 *   2. DIR/rebuild/db  -> DIR/db
 *   3. the folder is synced; DIR/db.old and DIR/rebuild go
 *
 * Cut off at any point, the next store_lmdb_open finds the old store or the new one, whole: without
 * DIR/db the old one goes back to its place; what else is left is removed, DIR/db.old only once DIR/db
 * was opened.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_FOLDER_H
#define ERRATA_STORE_LMDB_LMDB_FOLDER_H

#include "store/base/err.h"

/* Where a new store is made, within the data folder. */
#define STORE_LMDB_REBUILD_FOLDER "rebuild"

/* How many bytes the folder's file system has for us. */
MUST_CHECK enum err store_lmdb_free_bytes(const char *path, uint64_t *ret_bytes);
/* Puts DIR/rebuild's store in the place of DIR's. That of DIR may be open, and its lock is held by
 * the caller; the new one must be closed. After ERR_IO both are there, or the next start cleans up. */
MUST_CHECK enum err store_lmdb_replace(const char *path);
/* Removes what store_lmdb_open and store_lmdb_copy_to make, and the folder where nothing else is in
 * it. No one may have it open. What is not there need not go. */
void store_lmdb_remove_folder(const char *path);

#endif
