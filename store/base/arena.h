/*
 * arena.h: memory that is freed all at once. An arena allocates pieces from chunks and frees none
 * until it is reset; it has a limit in bytes, above which it returns NULL (callers answer
 * ERR_MEMORY). It is not for objects that outlive their call. Built with ERRATA_ARENA_EMULATOR (the
 * asan preset) each piece is a separate block, so that overruns inside an arena are detected.
 */
#ifndef ERRATA_STORE_BASE_ARENA_H
#define ERRATA_STORE_BASE_ARENA_H

#include "store/base/attributes.h"
#include "store/base/err.h"
#include "store/base/slice.h"

/* Alignment of every piece. */
#define ARENA_ALIGN_BYTES 16
/* Size of the first chunk; each later one is twice its predecessor, up to the maximum. */
#define ARENA_CHUNK_BYTES_MIN ((size_t)16 * 1024)
#define ARENA_CHUNK_BYTES_MAX ((size_t)1024 * 1024)
/* A larger first chunk (made for one large piece) is not kept by a reset. */
#define ARENA_KEPT_BYTES_MAX ((size_t)64 * 1024)

/* Larger arenas are freed on another thread: freeing 16 MiB takes 2 ms. */
#define ARENA_FREE_HERE_BYTES ((size_t)1024 * 1024)

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest chunk first; owned */
    uint8_t *next; /* first free byte of the newest chunk */
    uint8_t *end; /* end of the newest chunk */
    size_t used_bytes; /* allocated since the last reset, including headers */
    size_t limit_bytes; /* limit of used_bytes */
};

/* Initialises an empty arena; allocates nothing yet. */
void arena_init(struct arena *arena, size_t limit_bytes);
/* Frees all pieces, but keeps the first chunk (at most 64 KiB) for reuse. */
void arena_reset(struct arena *arena);
/* Frees everything. Accepts a zeroed arena. */
void arena_deinit(struct arena *arena);
/* Does the same as arena_reset, but memory above ARENA_FREE_HERE_BYTES is freed by `run` (NULL:
 * here), which gets `user`: it runs `work` on another thread, then `done` on this one, never inside
 * the call, or returns ERR_BUSY. */
void arena_reset_by(struct arena *arena,
                    enum err (*run)(void *user, void (*work)(void *job),
                                    void (*done)(void *job, enum err result), void *job),
                    void *user);
/* Called by arena_alloc if the newest chunk has no room. */
MUST_CHECK void *arena_alloc_slowly(struct arena *arena, size_t size);
/* Extends the last piece in place, from `size` to `new_size` bytes; false if that is impossible (it
 * is not the last one, its chunk is full, or the limit is reached). */
bool arena_extend(struct arena *arena, const void *piece, size_t size, size_t new_size);
/* Does the same as arena_alloc, zeroed, for `count` objects of `size` bytes; NULL also on overflow. */
MUST_CHECK void *arena_calloc(struct arena *arena, size_t count, size_t size);
/* Copies `bytes` into the arena, followed by a NUL that the size does not count. */
MUST_CHECK bool arena_copy(struct arena *arena, struct slice bytes, struct slice *ret_copy);
/* Returns a formatted text in the arena; an empty slice if there is no room. */
struct slice arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

/* Returns `size` bytes, aligned to 16, not zeroed; NULL above the limit or if malloc fails. */
MUST_CHECK static inline void *arena_alloc(struct arena *arena, size_t size)
{
#ifndef ERRATA_ARENA_EMULATOR
    size_t rounded = (size + ARENA_ALIGN_BYTES - 1) & ~(size_t)(ARENA_ALIGN_BYTES - 1);

    if (rounded - 1 < (size_t)(arena->end - arena->next) &&
        rounded <= arena->limit_bytes - arena->used_bytes) {
        uint8_t *piece = arena->next;

        arena->next += rounded;
        arena->used_bytes += rounded;
        return piece;
    }
#endif
    return arena_alloc_slowly(arena, size);
}

#endif
