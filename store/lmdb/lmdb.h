/*
 * lmdb.h: the persistent back end: LMDB in a folder. One process at a time opens a folder; within
 * it any number of threads read and one writes. Every commit is synced before it returns.
 *   DIR              locked itself, so that removing files lets no second process in (lmdb_hold.h)
 *   DIR/errata.pid   the id of the process that has the lock
 *   DIR/reserve      preallocated, released when the disk is full, so that there is room to clean
 *   up
 *   DIR/db/          LMDB's files, created as db.new/ and renamed once complete; and `state`, which
 *                    identifies a copy of an open store (lmdb_state.h)
 *   DIR/db.old/, DIR/rebuild/   only while a rebuilt store replaces the old one (lmdb_folder.h)
 */
#ifndef ERRATA_STORE_LMDB_LMDB_H
#define ERRATA_STORE_LMDB_LMDB_H

#include "store/backend.h"
#include "store/backup/store_format.h"
#include "store/base/fault.h"

#include <stdatomic.h>

/* Address space, not disk: the file is sparse. Growing it needs a restart. */
#define STORE_LMDB_MAP_BYTES_DEFAULT (256ull << 30)
#define STORE_LMDB_MAP_BYTES_MIN (1ull << 20)
/* Room that retention and shutdown need when the disk is full. */
#define STORE_LMDB_RESERVE_BYTES_DEFAULT (64ull << 20)

struct store_lmdb_config {
    const char *path; /* the data folder; created if it is missing */
    uint64_t map_bytes; /* 0 selects the default */
    uint64_t reserve_bytes; /* 0 selects the default */
    /* Also opens a store of an older format to rebuild its tables. Only its log and the node's own
     * values (classes LOG and LOCAL) may be read. */
    bool takes_older;
    /* Called when LMDB met a damaged page and cannot continue: must not return. NULL: the program
     * aborts. */
    void (*on_damage)(const char *fact);
};

/* Opens or creates a store. On failure `fault` has the reason: ERR_PRECONDITION for a folder that
 * another process holds, that is on a network file system, or that has another format (it is
 * unchanged), ERR_DISK_FULL, ERR_IO, ERR_CORRUPT, ERR_MEMORY for a map that is larger than the
 * address space (nothing was created), ERR_INVALID for an invalid configuration. */
MUST_CHECK enum err store_lmdb_open(const struct store_lmdb_config *config, struct fault *fault,
                                    struct store_backend **ret_backend);
/* Closes the back end, which must not have a transaction. NULL is allowed. */
void store_lmdb_close(struct store_backend *take_backend);
/* Returns the format of the opened store; always STORE_FORMAT_VERSION without `takes_older`. */
uint64_t store_lmdb_format(const struct store_backend *backend);
/* Returns whether the store is a copy that was made while a process had the original open
 * (lmdb_state.h). Every page was checked when it was opened; rows may still be of different
 * commits, until the caller has compared them with the log. */
bool store_lmdb_is_copy(const struct store_backend *backend);
/* Marks a copy as compared: from now on it is an ordinary store. */
void store_lmdb_accept_copy(struct store_backend *backend);
/* Returns whether the data file was removed while it is open. Reads and copies continue; commits
 * fail with ERR_IO, since what they write would be lost at the end, unless store_lmdb_write_lost_file was called. Any
 * thread. */
bool store_lmdb_lost_file(const struct store_backend *backend);
/* Lets later commits succeed after the data file was removed: for tables whose journal refuses to commit then, so that a
 * copy has the commits that the journal acknowledged before. Call it before any thread writes. */
void store_lmdb_write_lost_file(struct store_backend *backend);
/* Returns whether a write failed so that LMDB refuses all later ones. The outcome of the last batch
 * is unknown: the program must end with status 75 and be restarted. Any thread. */
bool store_lmdb_is_broken(const struct store_backend *backend);
/* Returns whether a write found the map full since the store was opened: this is reported like a
 * full disk, but says nothing about the disk. Any thread. */
bool store_lmdb_met_full_map(const struct store_backend *backend);
/* Returns the address range of the mapped file. A damaged page that the check at open did not read,
 * or that the disk cannot return, causes a fault (SIGBUS, SIGSEGV) within it. */
struct slice store_lmdb_map(const struct store_backend *backend);
/* Returns whether the calling thread is in a call of LMDB that follows pages of the file. LMDB
 * trusts every number of a page, so damage can also cause a fault elsewhere: at NULL if a node has
 * a flag that no table of the store has, or on the heap, where a page is copied before it is changed. A
 * fault while this is true is caused by the file; one while it is false and outside of the map is a
 * bug of the program. Async-signal-safe. */
bool store_lmdb_is_inside(void);
/* Frees reader slots of dead processes: at the start (by opening) and every 30 s. */
void store_lmdb_check_readers(struct store_backend *backend);
/* Reads the index tables and the ends of the logs once, so that the first lookups find their pages
 * in memory. Runs on a separate thread, before readiness; ends early when `stop` is set. */
MUST_CHECK enum err store_lmdb_warm_up(struct store_backend *backend, const atomic_bool *stop);

/* For a loader with exclusive use of a new store: later commits are written but not synced. If
 * power is lost before store_lmdb_end_bulk, the store must not be opened. */
void store_lmdb_begin_bulk(struct store_backend *backend);
/* Syncs everything; commits are durable again. */
MUST_CHECK enum err store_lmdb_end_bulk(struct store_backend *backend);

#endif
