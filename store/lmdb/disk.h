/*
 * disk.h: questions to the file system, and the few things done to it beside LMDB.
 */
#ifndef ERRATA_STORE_LMDB_DISK_H
#define ERRATA_STORE_LMDB_DISK_H

#include "store/base/err.h"

#include <stdbool.h>

/* The file system's name where a network serves it (shared memory maps and locks do not hold there),
 * NULL where it is local. */
MUST_CHECK enum err disk_find_network(const char *path, const char **ret_name);
/* Less than a batch's worth is free. When the question itself fails: no. */
bool disk_is_full(const char *path);
/* Makes a folder with mode 0700 where there is none, and syncs its parent, so that a power cut does
 * not take it with all that is in it. */
MUST_CHECK enum err disk_make_folder(const char *path);
MUST_CHECK enum err disk_sync_folder(const char *path);
/* Makes a file of `bytes` that really has its blocks; one that is there is fine. */
MUST_CHECK enum err disk_reserve(const char *path, uint64_t bytes);
void disk_give_up_reserve(const char *path);
/* Takes the lock file, and writes this process's number into it. ERR_PRECONDITION, with the number of
 * the holder (0 where unknown), when another process has it; one that is gone is waited for, 2 s at
 * most, since a child that it left lets go as soon as it executes its program. */
MUST_CHECK enum err disk_lock(const char *path, int *ret_fd, int *ret_holder_pid);
/* Lets go of it; takes -1. */
void disk_unlock(int fd);

#endif
