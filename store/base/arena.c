/*
 * arena.c: allocates chunks, and pieces of them by a moving pointer; in the emulator each piece is
 * a separate malloc, so that AddressSanitizer detects overruns of a piece and uses after a reset.
 * The limit counts the same in both.
 */
#include "store/base/arena.h"

#include "store/base/fault_point.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* bytes after this header */
};

/* malloc returns no more, and rounding does not overflow. */
#define PIECE_BYTES_MAX ((size_t)PTRDIFF_MAX - 4096)

_Static_assert(sizeof(struct arena_chunk) % ARENA_ALIGN_BYTES == 0,
               "a piece after the header is aligned");

/* Returns a chunk with room for `size` bytes; NULL if malloc fails. */
static struct arena_chunk *chunk_new(size_t size)
{
    return FAULT("arena.chunk") ? NULL : malloc(sizeof(struct arena_chunk) + size);
}

static uint8_t *chunk_bytes(struct arena_chunk *chunk)
{
    return (uint8_t *)(chunk + 1);
}

static size_t round_up(size_t size)
{
    if (size == 0) {
        return ARENA_ALIGN_BYTES;
    }
    return (size + ARENA_ALIGN_BYTES - 1) & ~(size_t)(ARENA_ALIGN_BYTES - 1);
}

void arena_init(struct arena *arena, size_t limit_bytes)
{
    *arena = (struct arena){.limit_bytes = limit_bytes};
}

static void free_chunks(struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *older = chunk->older;

        free(chunk);
        chunk = older;
    }
}

void arena_deinit(struct arena *arena)
{
    free_chunks(arena->chunks);
    *arena = (struct arena){.limit_bytes = arena->limit_bytes};
}

static void free_detached(void *job)
{
    struct arena arena = *(struct arena *)job; /* the job is a piece of the arena */

    arena_deinit(&arena);
}

static void on_freed(void *job, enum err result)
{
    (void)job; /* the job is already freed */
    (void)result;
}

/* Moves the arena into one of its pieces, so that freeing it needs no other memory. */
static struct arena *detach(struct arena *arena)
{
    struct arena *detached = arena_alloc(arena, sizeof(*detached));

    if (detached != NULL) {
        *detached = *arena;
        arena_init(arena, arena->limit_bytes);
    }
    return detached;
}

void arena_reset_by(struct arena *arena,
                    enum err (*run)(void *user, void (*work)(void *job),
                                    void (*done)(void *job, enum err result), void *job),
                    void *user)
{
    struct arena *detached = NULL;

    if (arena->used_bytes > ARENA_FREE_HERE_BYTES && run != NULL) {
        detached = detach(arena);
    }
    if (detached == NULL) {
        arena_reset(arena);
    } else if (run(user, free_detached, on_freed, detached) != OK) {
        free_detached(detached);
    }
}

#ifdef ERRATA_ARENA_EMULATOR

void arena_reset(struct arena *arena)
{
    arena_deinit(arena);
}

void *arena_alloc_slowly(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = NULL;
    size_t left = arena->limit_bytes - arena->used_bytes;

    if (size > PIECE_BYTES_MAX || round_up(size) > left) {
        return NULL;
    }
    chunk = chunk_new(size);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->older = arena->chunks;
    chunk->size = size;
    arena->chunks = chunk;
    arena->used_bytes += round_up(size);
    return chunk_bytes(chunk);
}

bool arena_extend(struct arena *arena, const void *piece, size_t size, size_t new_size)
{
    (void)arena;
    (void)piece;
    return new_size <= size;
}

#else

void arena_reset(struct arena *arena)
{
    struct arena_chunk *first = NULL;

    while (arena->chunks != NULL) {
        struct arena_chunk *chunk = arena->chunks;

        arena->chunks = chunk->older;
        if (chunk->older == NULL && chunk->size <= ARENA_KEPT_BYTES_MAX) {
            first = chunk;
        } else {
            free(chunk);
        }
    }
    arena_init(arena, arena->limit_bytes);
    if (first != NULL) {
        first->older = NULL;
        arena->chunks = first;
        arena->next = chunk_bytes(first);
        arena->end = arena->next + first->size;
        arena->used_bytes = sizeof(*first);
    }
}

/* A piece of half a chunk or more gets a separate chunk, linked after the newest one, which stays
 * open. */
static void *add_lone_piece(struct arena *arena, struct arena_chunk *chunk)
{
    if (arena->chunks == NULL) {
        arena->chunks = chunk;
        arena->next = chunk_bytes(chunk) + chunk->size;
        arena->end = arena->next;
    } else {
        chunk->older = arena->chunks->older;
        arena->chunks->older = chunk;
    }
    return chunk_bytes(chunk);
}

static size_t next_chunk_bytes(const struct arena *arena)
{
    size_t size = ARENA_CHUNK_BYTES_MIN;

    if (arena->chunks != NULL) {
        size = (arena->chunks->size + sizeof(*arena->chunks)) * 2;
    }
    if (size < ARENA_CHUNK_BYTES_MIN) {
        size = ARENA_CHUNK_BYTES_MIN;
    }
    return size > ARENA_CHUNK_BYTES_MAX ? ARENA_CHUNK_BYTES_MAX : size;
}

void *arena_alloc_slowly(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = NULL;
    size_t chunk_size = next_chunk_bytes(arena) - sizeof(*chunk);
    size_t left = arena->limit_bytes - arena->used_bytes;
    size_t rounded = 0;
    bool is_lone = false;

    if (size > PIECE_BYTES_MAX) {
        return NULL;
    }
    rounded = round_up(size);
    if (rounded > left) {
        return NULL;
    }
    if (rounded <= (size_t)(arena->end - arena->next)) {
        void *piece = arena->next; /* reached only for a piece of 0 bytes */

        arena->next += rounded;
        arena->used_bytes += rounded;
        return piece;
    }
    if (left - rounded < sizeof(*chunk)) {
        return NULL;
    }
    is_lone = rounded >= chunk_size / 2;
    chunk_size = is_lone ? rounded : chunk_size;
    chunk = chunk_new(chunk_size);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->older = NULL;
    chunk->size = chunk_size;
    arena->used_bytes += sizeof(*chunk) + rounded;
    if (is_lone) {
        return add_lone_piece(arena, chunk);
    }
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->next = chunk_bytes(chunk) + rounded;
    arena->end = chunk_bytes(chunk) + chunk_size;
    return chunk_bytes(chunk);
}

bool arena_extend(struct arena *arena, const void *piece, size_t size, size_t new_size)
{
    size_t old_rounded = round_up(size);
    size_t more = 0;

    if (new_size <= old_rounded) {
        return true;
    }
    if (piece == NULL || (const uint8_t *)piece + old_rounded != arena->next ||
        new_size > arena->limit_bytes) {
        return false;
    }
    more = round_up(new_size) - old_rounded;
    if (more > (size_t)(arena->end - arena->next) ||
        more > arena->limit_bytes - arena->used_bytes) {
        return false;
    }
    arena->next += more;
    arena->used_bytes += more;
    return true;
}

#endif

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes = 0;
    void *piece = NULL;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        return NULL;
    }
    piece = arena_alloc(arena, bytes);
    if (piece != NULL) {
        memset(piece, 0, bytes);
    }
    return piece;
}

bool arena_copy(struct arena *arena, struct slice bytes, struct slice *ret_copy)
{
    uint8_t *copy = NULL;

    if (bytes.size == SIZE_MAX) {
        return false;
    }
    copy = arena_alloc(arena, bytes.size + 1);
    if (copy == NULL) {
        return false;
    }
    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    copy[bytes.size] = 0;
    *ret_copy = slice_of(copy, bytes.size);
    return true;
}

struct slice arena_printf(struct arena *arena, const char *format, ...)
{
    va_list values;
    char *text = NULL;
    int size = 0;

    va_start(values, format);
    size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (size < 0) {
        return slice_of(NULL, 0);
    }
    text = arena_alloc(arena, (size_t)size + 1);
    if (text == NULL) {
        return slice_of(NULL, 0);
    }
    va_start(values, format);
    (void)vsnprintf(text, (size_t)size + 1, format, values);
    va_end(values);
    return slice_of(text, (size_t)size);
}
