/*
 * lmdb_internal.h: the structs of this back end, seen by its own files alone.
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
/* No handle: LMDB refuses it. */
#define LMDB_NO_TABLE UINT_MAX

struct lmdb_backend {
    struct store_backend backend; /* first */
    char path[LMDB_PATH_BYTES_MAX]; /* the data folder */
    char reserve_path[LMDB_PATH_BYTES_MAX + 16];
    uint64_t map_bytes;
    uint64_t reserve_bytes;
    bool takes_older; /* of the configuration */
    void (*on_damage)(const char *fact); /* of the configuration */
    uint64_t format; /* of what was opened */
    const uint8_t *map; /* where the file is mapped */
    struct lmdb_hold hold;
    int state; /* lmdb_state.h; -1: not open */
    bool marked; /* the state says that the store is open, by this process */
    bool copied; /* store_lmdb_is_copy */
    int cause; /* why opening failed: an errno, or LMDB's code; 0: not known */
    MDB_env *env;
    MDB_dbi tables[TABLE_COUNT]; /* opened once; LMDB_NO_TABLE: an older format has none such */
    atomic_bool broken; /* store_lmdb_is_broken */
    atomic_bool met_full_map; /* store_lmdb_met_full_map */
    atomic_bool settled; /* lmdb_settle */
};

struct lmdb_cursor {
    MDB_cursor *cursor; /* NULL: never opened */
    struct lmdb_backend *lmdb; /* outlives it */
    uint64_t generation; /* of the transaction, when it was last renewed */
    bool used; /* a store_cursor has it */
    bool kept; /* is in the transaction's cache */
};

struct lmdb_txn {
    struct store_txn txn; /* first */
    MDB_txn *mdb;
    uint64_t generation; /* one more with each renew: a cached cursor must be renewed too */
    struct lmdb_cursor cursors[TABLE_COUNT]; /* one a table, kept from lookup to lookup */
};

extern const struct store_backend_ops lmdb_ops;

/* Set while this thread is in a call of LMDB's that follows pages (store_lmdb_is_inside). A signal
 * handler has no parameter of ours, so each thread has its own; no other thread sees it. */
/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above */
extern _Thread_local volatile sig_atomic_t lmdb_inside;

static inline int lmdb_leave(int code)
{
    lmdb_inside = 0;
    return code;
}

/* Makes such a call, and returns its code. */
#define LMDB_INSIDE(call) (lmdb_inside = 1, lmdb_leave(call))

/* The one place where LMDB's codes (and the errno values it hands on) become ours. Notes a broken
 * environment, and a full map. A failed write is a full disk where the file system says so, whatever LMDB says. */
enum err lmdb_translate(struct lmdb_backend *lmdb, int code);
/* Says `PATH: WHAT: the system's reason; what to do` for an errno or one of LMDB's codes, and gives
 * `err` back. */
enum err lmdb_say_reason(struct fault *fault, enum err err, const char *path, const char *what,
                         int code);
/* Makes the reserve; on a disk that has no room for it a smaller one, so that writes come back
 * there too. ERR_DISK_FULL if there is no room for that either. */
MUST_CHECK enum err lmdb_reserve(const struct lmdb_backend *lmdb);
/* Makes durable what an earlier process left, once; at the opening, and where the disk was full then,
 * before the first write. No write transaction may be alive. */
MUST_CHECK enum err lmdb_settle(struct lmdb_backend *lmdb);
/* Puts in order what an interrupted replacement left (lmdb_folder.h): after it DIR/db is the old
 * store or the new one. The folder's lock is held. */
MUST_CHECK enum err lmdb_folder_recover(const char *path);
/* Removes the old store, once the one in its place was opened. */
void lmdb_folder_forget_old(const char *path);

#endif
