/*
 * lmdb_error.c: LMDB's codes become ours, here and nowhere else; and what they mean for people.
 */
#include "store/lmdb/backup_file.h"
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

/* What helps against it; NULL if nothing general can be said. */
static const char *advice(int code)
{
    switch (code) {
    case EMFILE:
        return "expected a higher limit of open files for this process (ulimit -n)";
    case ENFILE:
        return "expected a higher limit of open files for the system (fs.file-max)";
    case ENOMEM:
        return "expected a smaller --map-size, or more memory";
    case EROFS:
        return "expected a file system mounted for writing";
    case EACCES:
    case EPERM:
        return "expected a folder owned by this process's user";
    case ENOENT:
        return "expected the folders above it to exist";
    case ENOTDIR:
        return "expected the path of a folder";
    case ENOSPC:
    case EDQUOT:
        return "expected free room on the disk";
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_CORRUPTED:
        return BACKUP_ADVICE;
    default:
        return NULL;
    }
}

enum err lmdb_say_reason(struct fault *fault, enum err err, const char *path, const char *what,
                         int code)
{
    const char *todo = advice(code);

    return fault_say(fault, err, "%s: %s: %s%s%s", path, what,
                     code != 0 ? mdb_strerror(code) : err_text(err), todo != NULL ? "; " : "",
                     todo != NULL ? todo : "");
}
