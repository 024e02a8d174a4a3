/*
 * disk.h: file system queries and operations besides LMDB's. A function that fails leaves the
 * reason in errno.
 */
#ifndef ERRATA_STORE_LMDB_DISK_H
#define ERRATA_STORE_LMDB_DISK_H

#include "store/base/err.h"

#include <stdbool.h>

/* Returns the file system's name if it is a network file system (where shared memory maps and locks
 * do not work), NULL if it is local. */
MUST_CHECK enum err disk_find_network(const char *path, const char **ret_name);
/* Returns whether less than a batch needs is free. If the query fails: false. */
bool disk_is_full(const char *path);
/* Creates a folder with mode 0700 if it is missing, and syncs its parent, so that a power cut does
 * not remove it with its content. */
MUST_CHECK enum err disk_make_folder(const char *path);
MUST_CHECK enum err disk_sync_folder(const char *path);
/* Creates a file of `bytes` with allocated blocks; an existing one is fine. */
MUST_CHECK enum err disk_reserve(const char *path, uint64_t bytes);
void disk_give_up_reserve(const char *path);
/* Locks an open file or folder with flock(2). ERR_PRECONDITION if another process has the lock: its
 * id, read from the file `number_path`, is returned in `ret_holder_pid` (0: unknown). If that
 * process does not run any more, waits 2 s at most: a child that it left keeps the lock until it
 * executes its program. If it is unknown, waits 500 ms at most: it may have just taken the lock and
 * not written its id yet. */
MUST_CHECK enum err disk_lock(int fd, const char *number_path, int *ret_holder_pid);
/* Returns whether an open file was removed: what is written to it is lost when it is closed. */
bool disk_is_removed(int fd);
/* Writes this process's id into an open file. */
MUST_CHECK enum err disk_write_number(int fd);

#endif
