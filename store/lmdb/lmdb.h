/*
 * lmdb.h: the back end that keeps: LMDB in a folder of its own. One process at a time opens a
 * folder; within it any number of threads read and one writes. Every commit is synced before it
 * returns.
 *
 *   DIR              locked itself, so that no removal of a file lets a second process in (lmdb_hold.h)
 *   DIR/errata.pid   the number of the process that has the lock
 *   DIR/reserve      preallocated, given up when the disk is full, so that there is room to clean up
 *   DIR/db/          LMDB's files, made as db.new/ and renamed once they are whole; and `state`, by
 *                    which a copy of an open store is recognised (lmdb_state.h)
 *   DIR/db.old/, DIR/rebuild/   only while a rebuilt store takes its place (lmdb_folder.h)
 */
#ifndef ERRATA_STORE_LMDB_LMDB_H
#define ERRATA_STORE_LMDB_LMDB_H

#include "store/backend.h"
#include "store/base/fault.h"

#include <stdatomic.h>

/* The format of what is stored: keys, records, and what apply makes of events. */
#define STORE_FORMAT_VERSION 4
/* Logs of this format and of those after it can be replayed, so their tables can be rebuilt. */
#define STORE_FORMAT_OLDEST 3

/* Sparse: address space, not disk. Growing it is a restart. */
#define STORE_LMDB_MAP_BYTES_DEFAULT (256ull << 30)
#define STORE_LMDB_MAP_BYTES_MIN (1ull << 20)
/* Room that retention and shutdown need when everything else is full. */
#define STORE_LMDB_RESERVE_BYTES_DEFAULT (64ull << 20)

struct store_lmdb_config {
    const char *path; /* the data folder; made where it is missing */
    uint64_t map_bytes; /* 0: the default */
    uint64_t reserve_bytes; /* 0: the default */
    /* Opens a store of an older format too, whose log and own values (classes LOG and LOCAL) are as
     * ever: to make its tables again. Nothing else of it may be read. */
    bool takes_older;
    /* LMDB met a page that can't be, and can't go on: must not return. NULL: the program aborts. */
    void (*on_damage)(const char *fact);
};

/* Opens or makes a store. A failure says why in `fault`, with the system's reason: ERR_PRECONDITION for
 * a folder that another process holds, that a network serves, or whose format is another (it is left
 * untouched), ERR_DISK_FULL, ERR_IO, ERR_CORRUPT, ERR_MEMORY for a map that is larger than the address
 * space (nothing was made), ERR_INVALID for a configuration that makes no sense. */
MUST_CHECK enum err store_lmdb_open(const struct store_lmdb_config *config, struct fault *fault,
                                    struct store_backend **ret_backend);
/* No transaction may be alive. Accepts NULL. */
void store_lmdb_close(struct store_backend *take_backend);
/* The format of what was opened; STORE_FORMAT_VERSION but for what `takes_older` let in. */
uint64_t store_lmdb_format(const struct store_backend *backend);
/* The store is a copy that was made while a process had the original open (lmdb_state.h). Every page
 * was checked when it was opened; rows may still be of different commits, until the caller has compared
 * them with the log. */
bool store_lmdb_is_copy(const struct store_backend *backend);
/* The caller has: from now on it is a store like any other. */
void store_lmdb_accept_copy(struct store_backend *backend);
/* The data file was removed while it is open. Reads and copies go on; commits are refused with ERR_IO,
 * since what they write would be lost at the end. Any thread. */
bool store_lmdb_lost_file(const struct store_backend *backend);
/* A write failed so that LMDB refuses all that follows. What the last batch did is in doubt: the
 * program must end with status 75 and be started again. Any thread. */
bool store_lmdb_is_broken(const struct store_backend *backend);
/* A write found no room in the map since the store was opened: of a full disk, as it is told as too,
 * nothing is known. Any thread. */
bool store_lmdb_met_full_map(const struct store_backend *backend);
/* Where the file is mapped. A page that is damaged beyond what the check at open reads, or that the
 * disk can't give back, shows itself as a fault (SIGBUS, SIGSEGV) at an address within. */
struct slice store_lmdb_map(const struct store_backend *backend);
/* Whether the calling thread is in a call of LMDB's that follows pages of the file. LMDB believes
 * every number of a page, so damage can also fault elsewhere: at NULL if a node has a flag that no
 * table of ours has, or on the heap, where a page is copied before it is changed. A fault while
 * this is true is the file's; one while it is false and outside of the map is a mistake of the
 * program. Async-signal-safe. */
bool store_lmdb_is_inside(void);
/* Frees reader slots of processes that died. At start (open does it) and every 30 s. */
void store_lmdb_check_readers(struct store_backend *backend);
/* Reads the index tables and the ends of the logs once, so that the first lookups find their pages
 * in memory. For a thread of its own, before readiness; ends early when `stop` is set. */
MUST_CHECK enum err store_lmdb_warm_up(struct store_backend *backend, const atomic_bool *stop);

/* For a loader that is alone with a store it has just made: from now on commits are written but not
 * synced. A power cut before store_lmdb_end_bulk leaves a store that must not be opened. */
void store_lmdb_begin_bulk(struct store_backend *backend);
/* Syncs everything; commits are durable again. */
MUST_CHECK enum err store_lmdb_end_bulk(struct store_backend *backend);

#endif
