/*
 * feed.h: rows on their way into the store. One thread puts them in, in the order in which they shall
 * be written; a thread of the feed's own writes them and commits every now and then. Where keys
 * ascend within a table, LMDB appends, which costs a fifth of an insertion and touches no page twice.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_FEED_H
#define ERRATA_TOOLS_BENCH_PRELOAD_FEED_H

#include "store/backend.h"

/* Rows wait in blocks of this many bytes; a larger row has a block of its own. */
#define FEED_BLOCK_BYTES ((size_t)1 << 20)
/* Maximum blocks that wait: then the putting thread waits. */
#define FEED_BLOCKS_MAX 32
/* Bytes of rows per commit: large enough that inner pages are written once, small enough that the pages
 * that LMDB holds in memory until then stay few. */
#define FEED_COMMIT_BYTES ((size_t)64 << 20)

struct feed;

/* Opens a feed, which has exclusive access to the store until it is closed. */
MUST_CHECK enum err feed_open(struct store_backend *backend, struct feed **ret_feed);
/* Copies the row. After a failure of the writing thread it gives that, and ever again. */
MUST_CHECK enum err feed_put(struct feed *feed, enum store_table table, struct slice key,
                             struct slice value);
/* Waits until everything is committed. Takes NULL. */
MUST_CHECK enum err feed_close(struct feed *take_feed);

#endif
