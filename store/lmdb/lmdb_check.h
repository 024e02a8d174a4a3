/*
 * lmdb_check.h: checks LMDB's data file before LMDB opens it: LMDB trusts any number in a page, so
 * a damaged one may crash the program or, worse, cause undamaged pages to be overwritten. Reads the
 * file by itself, page by page, through no map.
 *   checked   both meta pages; the file's end; the free list; every page of every tree that is
 *             reached: its place, kind and entries, the order of its keys, the runs of long values,
 *             no page used twice, none used and free
 *   not checked the contents of keys and values: a changed bit there is found only by verify
 * At open a store of ordinary size is read whole; of a larger one the free list, then the branch
 * pages, then leaves spread over each table, until the limits are reached.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_CHECK_H
#define ERRATA_STORE_LMDB_LMDB_CHECK_H

#include "store/base/clock.h"
#include "store/base/fault.h"

/* Limits of the check at open: 32 MiB of pages of 4 KiB, about 10 ms if they are in memory; and a
 * time limit for slow disks. */
#define STORE_LMDB_CHECK_PAGES 8192
#define STORE_LMDB_CHECK_US 250000

struct store_lmdb_check_limits {
    uint64_t pages_max; /* 0: all pages */
    uint64_t duration_us_max; /* 0: unlimited */
    const struct clock *clock; /* may be NULL if duration_us_max is 0 */
};

struct store_lmdb_check_report {
    uint64_t pages; /* read */
    bool whole; /* every page in use was checked */
};

/* Checks the file DIR/db/data.mdb (or a copy of it). No one may write it meanwhile. ERR_CORRUPT if
 * something is wrong: `fault` names the page, its table and the defect; ERR_IO if it cannot be
 * read, ERR_MEMORY. The report may be NULL. */
MUST_CHECK enum err store_lmdb_check(const char *path, const struct store_lmdb_check_limits *limits,
                                     struct fault *fault,
                                     struct store_lmdb_check_report *ret_report);

#endif
