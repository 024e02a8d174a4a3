/*
 * arena.h: memory that is freed at one line. An arena hands out pieces from chunks and takes none
 * back until it is reset; it has a cap in bytes, above which it hands out NULL (callers answer
 * ERR_MEMORY). It is not for objects that outlive their call. Built with ERRATA_ARENA_EMULATOR (the
 * asan preset) each piece is a block of its own, so that overruns inside an arena are seen.
 */
#ifndef ERRATA_STORE_BASE_ARENA_H
#define ERRATA_STORE_BASE_ARENA_H

#include "store/base/attributes.h"
#include "store/base/err.h"
#include "store/base/slice.h"

/* Every piece is aligned to this. */
#define ARENA_ALIGN_BYTES 16
/* The first chunk; each later one is twice its predecessor, up to the greatest. */
#define ARENA_CHUNK_BYTES_MIN ((size_t)16 * 1024)
#define ARENA_CHUNK_BYTES_MAX ((size_t)1024 * 1024)
/* A first chunk above this (made for one large piece) is not kept by a reset. */
#define ARENA_KEPT_BYTES_MAX ((size_t)64 * 1024)

/* More than this is given back to the system on another thread: 16 MiB take it 2 ms. */
#define ARENA_FREE_HERE_BYTES ((size_t)1024 * 1024)

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first; owned */
    uint8_t *next; /* first free byte of the newest chunk */
    uint8_t *end; /* end of the newest chunk */
    size_t used_bytes; /* handed out since the last reset, headers included */
    size_t limit_bytes; /* cap on used_bytes */
};

/* Starts an empty arena; allocates nothing until asked. */
void arena_init(struct arena *arena, size_t limit_bytes);
/* Frees everything that the arena handed out, but keeps its first chunk (at most 64 KiB) for reuse. */
void arena_reset(struct arena *arena);
/* Frees everything. Takes a zeroed or initialised arena. */
void arena_deinit(struct arena *arena);
/* The same as arena_reset, but memory above ARENA_FREE_HERE_BYTES is freed by `run` (NULL: here), given
 * `user`: it runs `work` on another thread, then `done` on this one, never inside the call, or says ERR_BUSY. */
void arena_reset_by(struct arena *arena,
                    enum err (*run)(void *user, void (*work)(void *job),
                                    void (*done)(void *job, enum err result), void *job),
                    void *user);
/* What arena_alloc does when the newest chunk has no room. */
MUST_CHECK void *arena_alloc_slowly(struct arena *arena, size_t size);
/* Makes the piece handed out last longer in place, from `size` to `new_size` bytes; false if that
 * cannot be (it is not the last one, its chunk is full, or the cap is reached). */
bool arena_extend(struct arena *arena, const void *piece, size_t size, size_t new_size);
/* The same as arena_alloc, zeroed, for `count` things of `size` bytes; NULL on overflow too. */
MUST_CHECK void *arena_calloc(struct arena *arena, size_t count, size_t size);
/* A copy of `bytes` that dies with the arena, followed by a NUL that its size does not count. */
MUST_CHECK bool arena_copy(struct arena *arena, struct slice bytes, struct slice *ret_copy);
/* A formatted text that dies with the arena; the empty slice when there is no room. */
struct slice arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

/* Memory of `size` bytes, aligned to 16, not zeroed; NULL above the cap or when malloc fails. */
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
