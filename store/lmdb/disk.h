/*
 * disk.h: questions to the file system, and the few things done to it beside LMDB. A function that
 * fails leaves the system's reason in errno.
 */
#ifndef ERRATA_STORE_LMDB_DISK_H
#define ERRATA_STORE_LMDB_DISK_H

#include "store/base/err.h"

#include <stdbool.h>

/* The file system's name where a network serves it (shared memory maps and locks do not hold
 * there), NULL if it is local. */
MUST_CHECK enum err disk_find_network(const char *path, const char **ret_name);
/* Less than a batch's worth is free. When the question itself fails: no. */
bool disk_is_full(const char *path);
/* Makes a folder with mode 0700 if there is none, and syncs its parent, so that a power cut does
 * not take it with all that is in it. */
MUST_CHECK enum err disk_make_folder(const char *path);
MUST_CHECK enum err disk_sync_folder(const char *path);
/* Makes a file of `bytes` that really has its blocks; one that is there is fine. */
MUST_CHECK enum err disk_reserve(const char *path, uint64_t bytes);
void disk_give_up_reserve(const char *path);
/* Locks an open file or folder with flock(2). ERR_PRECONDITION if another process has the lock: its
 * number, as the file `number_path` gives it, goes to `ret_holder_pid` (0: unknown). One that does not
 * run any more is waited for, 2 s at most: a child that it left has the lock until it executes its
 * program. So is an unknown one, 500 ms at most: it may have taken the lock just now, and writes its
 * number next. */
MUST_CHECK enum err disk_lock(int fd, const char *number_path, int *ret_holder_pid);
/* Writes this process's number into an open file. */
MUST_CHECK enum err disk_write_number(int fd);

#endif
