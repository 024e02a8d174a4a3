/*
 * lmdb_folder.h: operations on data folders: how much room there is for another, replacing a store
 * by a new one, and removing one. A new store is created in a folder within the old one's
 * (DIR/rebuild), whose lock the process holds.
 *   DIR/rebuild/db   the new store, complete and synced
 *   1. DIR/db          -> DIR/db.old
 *   2. DIR/rebuild/db  -> DIR/db
 *   3. the folder is synced; DIR/db.old and DIR/rebuild are removed
 * If this is interrupted at any point, the next store_lmdb_open finds the old store or the new one,
 * complete: without DIR/db the old one is renamed back; leftovers are removed, DIR/db.old only
 * after DIR/db was opened.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_FOLDER_H
#define ERRATA_STORE_LMDB_LMDB_FOLDER_H

#include "store/base/err.h"

/* Folder within the data folder in which a new store is created. */
#define STORE_LMDB_REBUILD_FOLDER "rebuild"

/* Returns the bytes available to this process in the folder's file system. */
MUST_CHECK enum err store_lmdb_free_bytes(const char *path, uint64_t *ret_bytes);
/* Replaces DIR's store by that of DIR/rebuild. The old one may be open, and the caller must hold
 * its lock; the new one must be closed. After ERR_IO both exist, or the next start cleans up. */
MUST_CHECK enum err store_lmdb_replace(const char *path);
/* Removes everything that store_lmdb_open and store_lmdb_copy_to create, and the folder if nothing
 * else is in it. No process may have it open. Missing files are ignored. */
void store_lmdb_remove_folder(const char *path);

#endif
