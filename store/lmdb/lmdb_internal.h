/*
 * lmdb_internal.h: the structs of this back end; private to its files.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_INTERNAL_H
#define ERRATA_STORE_LMDB_LMDB_INTERNAL_H

#include "store/backend_ops.h"
#include "store/lmdb/lmdb.h"
#include "store/lmdb/lmdb_hold.h"

#include <limits.h>
#include <lmdb.h>
#include <signal.h>
#include <stdatomic.h>

/* Longer paths of data folders are refused. */
#define LMDB_PATH_BYTES_MAX 1024
/* An invalid handle. */
#define LMDB_NO_TABLE UINT_MAX

struct lmdb_backend {
    struct store_backend backend; /* must be the first member */
    char path[LMDB_PATH_BYTES_MAX]; /* the data folder */
    char reserve_path[LMDB_PATH_BYTES_MAX + 16];
    uint64_t map_bytes;
    uint64_t reserve_bytes;
    bool takes_older; /* copied from the configuration */
    bool writes_lost; /* lmdb.h */
    void (*on_damage)(const char *fact); /* copied from the configuration */
    uint64_t format; /* format of the opened store */
    const uint8_t *map; /* address of the mapped file */
    struct lmdb_hold hold;
    int state; /* see lmdb_state.h; -1: not open */
    bool marked; /* the state file says that this process has the store open */
    bool copied; /* store_lmdb_is_copy */
    int cause; /* reason why opening failed: an errno or LMDB's code; 0: unknown */
    MDB_env *env;
    MDB_dbi tables[TABLE_COUNT]; /* opened once; LMDB_NO_TABLE: missing in an older format */
    atomic_bool broken; /* store_lmdb_is_broken */
    atomic_bool met_full_map; /* store_lmdb_met_full_map */
    atomic_bool settled; /* lmdb_settle */
};

struct lmdb_cursor {
    MDB_cursor *cursor; /* NULL: never opened */
    struct lmdb_backend *lmdb; /* back end, which outlives the transaction */
    uint64_t generation; /* generation of the transaction at the last renewal */
    bool used; /* in use by a store_cursor */
    bool kept; /* in the transaction's cache */
};

struct lmdb_txn {
    struct store_txn txn; /* must be the first member */
    MDB_txn *mdb;
    uint64_t
        generation; /* incremented by each renewal; a cached cursor of an earlier generation must be renewed */
    struct lmdb_cursor cursors[TABLE_COUNT]; /* one per table, kept between lookups */
};

extern const struct store_backend_ops lmdb_ops;

/* Set while this thread is in a call of LMDB that follows pages (store_lmdb_is_inside). A signal
 * handler has no parameter for it, so it is thread-local. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above */
extern _Thread_local volatile sig_atomic_t lmdb_inside;

static inline int lmdb_leave(int code)
{
    lmdb_inside = 0;
    return code;
}

/* Makes a call of LMDB that follows pages, and returns its code. */
#define LMDB_INSIDE(call) (lmdb_inside = 1, lmdb_leave(call))

/* Translates LMDB's codes, and the errno values that it returns. Records a broken environment, and
 * a full map. A failed write counts as a full disk if the file system is full, for any
 * code. */
enum err lmdb_translate(struct lmdb_backend *lmdb, int code);
/* Adds the fault `PATH: WHAT: the system's reason; advice` for an errno or one of LMDB's codes, and
 * returns `err`. */
enum err lmdb_say_reason(struct fault *fault, enum err err, const char *path, const char *what,
                         int code);
/* Creates the reserve; a smaller one if the disk has no room for it and as much again for other files, so that writes are
 * possible on such a disk. ERR_DISK_FULL if there is no room for that either. */
MUST_CHECK enum err lmdb_reserve(const struct lmdb_backend *lmdb);
/* Makes the state that an earlier process left durable, once; at the opening, or, if the disk was
 * full then, before the first write. No write transaction may exist. */
MUST_CHECK enum err lmdb_settle(struct lmdb_backend *lmdb);
/* Recovers from an interrupted replacement (lmdb_folder.h): afterwards DIR/db is the old store or
 * the new one. The folder's lock is held. */
MUST_CHECK enum err lmdb_folder_recover(const char *path);
/* Removes the old store, once the new one was opened. */
void lmdb_folder_forget_old(const char *path);

#endif
