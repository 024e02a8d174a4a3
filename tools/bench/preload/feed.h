/*
 * feed.h: a queue of rows for the store. One thread puts them in the order of writing; a thread of
 * the feed writes them and commits regularly. Where keys ascend within a table, LMDB appends, which
 * costs a fifth of an insertion and touches no page twice.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_FEED_H
#define ERRATA_TOOLS_BENCH_PRELOAD_FEED_H

#include "store/backend.h"

/* Rows wait in blocks of this many bytes; a larger row has a block of its own. */
#define FEED_BLOCK_BYTES ((size_t)1 << 20)
/* Maximum number of waiting blocks, at which the putting thread waits. */
#define FEED_BLOCKS_MAX 32
/* Bytes of rows per commit: large enough that inner pages are written once, small enough that the pages
 * that LMDB holds in memory until then stay few. */
#define FEED_COMMIT_BYTES ((size_t)64 << 20)

struct feed;

/* Opens a feed, which has exclusive access to the store until it is closed. */
MUST_CHECK enum err feed_open(struct store_backend *backend, struct feed **ret_feed);
/* Copies the row. After a failure of the writing thread every call returns its error. */
MUST_CHECK enum err feed_put(struct feed *feed, enum store_table table, struct slice key,
                             struct slice value);
/* Waits until everything is committed. Accepts NULL. */
MUST_CHECK enum err feed_close(struct feed *take_feed);

#endif
