/*
 * lmdb_error.c: LMDB's codes become ours, here and nowhere else.
 */
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_internal.h"

#include <errno.h>

enum err lmdb_translate(struct lmdb_backend *lmdb, int code)
{
    switch (code) {
    case MDB_SUCCESS:
        return OK;
    case MDB_NOTFOUND:
        return ERR_NOT_FOUND;
    case MDB_MAP_FULL:
        atomic_store(&lmdb->met_full_map, true);
        return ERR_DISK_FULL;
    case ENOSPC:
    case EDQUOT:
        return ERR_DISK_FULL;
    case MDB_PANIC:
        atomic_store(&lmdb->broken, true);
        return ERR_UNAVAILABLE;
    case MDB_READERS_FULL:
        return ERR_BUSY;
    case ENOMEM:
        return ERR_MEMORY;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
        return ERR_CORRUPT;
    case MDB_BAD_TXN:
        /* An earlier failure of this transaction, which was answered then. */
        return ERR_IO;
    case MDB_TXN_FULL:
        /* More dirty pages than LMDB tracks: the batch is too large, one by one it is not. */
        return ERR_DISK_FULL;
    case EIO:
    case EAGAIN:
    case EINTR:
        /* A short write is EIO to LMDB: only the file system knows whether it is full. */
        return disk_is_full(lmdb->path) ? ERR_DISK_FULL : ERR_IO;
    default:
        return code > 0 ? ERR_IO : ERR_INTERNAL;
    }
}
