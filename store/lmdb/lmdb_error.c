/*
 * lmdb_error.c: translates LMDB's codes, and explains them for people.
 */
#include "store/backup/backup_file.h"
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
        /* an earlier failure of this transaction, which was already reported */
        return ERR_IO;
    case MDB_TXN_FULL:
        /* More dirty pages than LMDB tracks: the batch is too large, single members are not. */
        return ERR_DISK_FULL;
    case EIO:
    case EAGAIN:
    case EINTR:
        /* LMDB reports a short write as EIO: only the file system knows whether it is full. */
        return disk_is_full(lmdb->path) ? ERR_DISK_FULL : ERR_IO;
    default:
        return code > 0 ? ERR_IO : ERR_INTERNAL;
    }
}

/* Returns advice; NULL if there is none in general. */
static const char *advice(int code)
{
    switch (code) {
    case EMFILE:
        return "raise this process's limit of open files (ulimit -n)";
    case ENFILE:
        return "raise the system's limit of open files (fs.file-max)";
    case ENOMEM:
        return "use a smaller --map-size, or add memory";
    case EROFS:
        return "mount the file system for writing, or use another folder";
    case EACCES:
    case EPERM:
        return "let the user that this process runs as own the folder, or use another one";
    case ENOENT:
        return "create its parent folders first";
    case ENOTDIR:
        return "expected the path of a folder";
    case ENOSPC:
    case EDQUOT:
        return "free some room";
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
