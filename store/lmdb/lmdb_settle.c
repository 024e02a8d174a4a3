/*
 * lmdb_settle.c: prepares a store for writing: the reserve for a full disk, and durability of the
 * visible state. A process that was killed while it committed may leave a meta page that the kernel
 * has and the disk does not. The next process sees that commit like any other: a repeated write
 * would be found in it and acknowledged, and a power cut would undo it. A sync writes the kernel's
 * pages to the disk. If an earlier sync failed, the kernel may treat them as written although they
 * are not: so a new commit follows, whose meta page includes everything of the last one. The same
 * applies to the name `db`, if a process was killed after the rename that created it.
 */
#include "store/keys.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_folder.h"
#include "store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <sys/stat.h>

/* Maximum bytes that a batch writes; with less free space, writing is pointless. */
#define RESERVE_BYTES_LEAST (16ull << 20)
/* Unit of a file's size on the disk (stat(2)). */
#define BLOCK_BYTES 512

/* Writes the row that the writer's probes use. */
static int commit_something(struct lmdb_backend *lmdb)
{
    struct key key = key_meta_global(SLICE(KEY_META_PROBE));
    MDB_val name = {key.size, key.bytes};
    MDB_val value = {0, NULL};
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(lmdb->env, NULL, 0, &txn);

    if (code != MDB_SUCCESS) {
        return code;
    }
    code = LMDB_INSIDE(mdb_put(txn, lmdb->tables[TABLE_META], &name, &value, 0));
    if (code != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return code;
    }
    return LMDB_INSIDE(mdb_txn_commit(txn));
}

/* Returns whether the disk has room for the whole reserve and as much for other files. */
static bool has_room_beside(const struct lmdb_backend *lmdb)
{
    uint64_t free_bytes = 0;
    struct stat info;
    uint64_t had_bytes =
        stat(lmdb->reserve_path, &info) == 0 ? (uint64_t)info.st_blocks * BLOCK_BYTES : 0;

    return store_lmdb_free_bytes(lmdb->path, &free_bytes) != OK ||
           free_bytes + had_bytes >= 2 * lmdb->reserve_bytes;
}

enum err lmdb_reserve(const struct lmdb_backend *lmdb)
{
    enum err err = ERR_DISK_FULL;

    if (lmdb->reserve_bytes <= RESERVE_BYTES_LEAST) {
        return disk_reserve(lmdb->reserve_path, lmdb->reserve_bytes);
    }
    if (has_room_beside(lmdb)) {
        err = disk_reserve(lmdb->reserve_path, lmdb->reserve_bytes);
    }
    return err == ERR_DISK_FULL ? disk_reserve(lmdb->reserve_path, RESERVE_BYTES_LEAST) : err;
}

enum err lmdb_settle(struct lmdb_backend *lmdb)
{
    enum err err = OK;
    int code = MDB_SUCCESS;

    if (atomic_load(&lmdb->settled)) {
        return OK;
    }
    err = disk_sync_folder(lmdb->path);
    if (err != OK) {
        lmdb->cause = errno;
        return err;
    }
    code = mdb_env_sync(lmdb->env, 1);
    if (code == MDB_SUCCESS) {
        code = commit_something(lmdb);
    }
    lmdb->cause = code;
    atomic_store(&lmdb->settled, code == MDB_SUCCESS);
    return lmdb_translate(lmdb, code);
}
