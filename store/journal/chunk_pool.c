/*
 * chunk_pool.c: only chunks of one size are kept; a larger one, for a large value, is freed at once.
 */
#include "store/journal/chunk_pool.h"

#include "store/base/assert.h"

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct chunk_pool {
    atomic_size_t taken; /* number of chunks that memtables have */
    pthread_mutex_t lock; /* protects the fields below */
    struct chunk *kept;
    size_t kept_bytes;
    size_t kept_bytes_max;
};

struct chunk_pool *chunk_pool_new(size_t kept_bytes_max)
{
    struct chunk_pool *pool = calloc(1, sizeof(*pool));

    if (pool != NULL) {
        (void)pthread_mutex_init(&pool->lock, NULL);
        pool->kept_bytes_max = kept_bytes_max;
    }
    return pool;
}

void chunk_pool_free(struct chunk_pool *take_pool)
{
    if (take_pool == NULL) {
        return;
    }
    ASSERT(atomic_load_explicit(&take_pool->taken, memory_order_relaxed) == 0);
    chunk_pool_shrink(take_pool);
    (void)pthread_mutex_destroy(&take_pool->lock);
    free(take_pool);
}

/* Takes one of the chunks that are kept; NULL: there is none. The lock is held. */
static struct chunk *take_kept(struct chunk_pool *pool)
{
    struct chunk *chunk = pool->kept;

    if (chunk != NULL) {
        pool->kept = chunk->before;
        pool->kept_bytes -= CHUNK_BYTES;
        ASAN_UNPOISON_MEMORY_REGION(chunk->bytes, chunk->capacity);
        chunk->before = NULL;
        chunk->used = 0;
    }
    return chunk;
}

static struct chunk *make_chunk(size_t size)
{
    struct chunk *chunk = aligned_alloc(CHUNK_BYTES, size);

    if (chunk != NULL) {
        (void)madvise(chunk, size, MADV_HUGEPAGE); /* small pages are only slower */
        chunk->before = NULL;
        chunk->used = 0;
        chunk->capacity = size - sizeof(*chunk);
    }
    return chunk;
}

struct chunk *chunk_pool_take(struct chunk_pool *pool, size_t bytes)
{
    size_t size = (sizeof(struct chunk) + bytes + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
    struct chunk *chunk = NULL;

    (void)pthread_mutex_lock(&pool->lock);
    if (size == CHUNK_BYTES) {
        chunk = take_kept(pool);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (chunk == NULL) {
        chunk = make_chunk(size);
    }
    if (chunk != NULL) {
        atomic_fetch_add_explicit(&pool->taken, 1, memory_order_relaxed);
    }
    return chunk;
}

void chunk_pool_give(struct chunk_pool *pool, struct chunk *take_chunk)
{
    size_t size = sizeof(*take_chunk) + take_chunk->capacity;

    atomic_fetch_sub_explicit(&pool->taken, 1, memory_order_relaxed);
    (void)pthread_mutex_lock(&pool->lock);
    if (size == CHUNK_BYTES && pool->kept_bytes + size <= pool->kept_bytes_max) {
        ASAN_POISON_MEMORY_REGION(take_chunk->bytes, take_chunk->capacity);
        take_chunk->before = pool->kept;
        pool->kept = take_chunk;
        pool->kept_bytes += size;
        take_chunk = NULL;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    free(take_chunk);
}

void chunk_pool_shrink(struct chunk_pool *pool)
{
    struct chunk *kept = NULL;

    (void)pthread_mutex_lock(&pool->lock);
    kept = pool->kept;
    pool->kept = NULL;
    pool->kept_bytes = 0;
    (void)pthread_mutex_unlock(&pool->lock);
    while (kept != NULL) {
        struct chunk *chunk = kept;

        kept = chunk->before;
        free(chunk);
    }
}

size_t chunk_pool_kept_bytes(struct chunk_pool *pool)
{
    size_t bytes = 0;

    (void)pthread_mutex_lock(&pool->lock);
    bytes = pool->kept_bytes;
    (void)pthread_mutex_unlock(&pool->lock);
    return bytes;
}
