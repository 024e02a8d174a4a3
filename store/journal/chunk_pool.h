/*
 * chunk_pool.h: memory for memtables, in chunks of a huge page's size. A chunk that a memtable gives back is kept for the
 * next memtable, since the kernel clears each page that it hands out: that took a tenth of a busy writer's time. All
 * functions may be called from any thread.
 */
#ifndef ERRATA_STORE_JOURNAL_CHUNK_POOL_H
#define ERRATA_STORE_JOURNAL_CHUNK_POOL_H

#include <stddef.h>
#include <stdint.h>

/* The size and alignment of a huge page: searches read memory in random order, with few misses in the TLB. */
#define CHUNK_BYTES ((size_t)2 << 20)

struct chunk_pool;

/* Its memory is not cleared. */
struct chunk {
    struct chunk *before; /* for the owner's list */
    size_t used; /* 0 at first */
    size_t capacity;
    _Alignas(max_align_t) uint8_t bytes[];
};

/* Keeps chunks of at most so many bytes. NULL: no memory. */
struct chunk_pool *chunk_pool_new(size_t kept_bytes_max);
/* NULL is allowed. All chunks were given back. */
void chunk_pool_free(struct chunk_pool *take_pool);
/* Takes a chunk with room for so many bytes. NULL: no memory. */
struct chunk *chunk_pool_take(struct chunk_pool *pool, size_t bytes);
void chunk_pool_give(struct chunk_pool *pool, struct chunk *take_chunk);
/* Frees the chunks that are kept. */
void chunk_pool_shrink(struct chunk_pool *pool);
/* Returns the bytes of the chunks that are kept. */
size_t chunk_pool_kept_bytes(struct chunk_pool *pool);

#endif
