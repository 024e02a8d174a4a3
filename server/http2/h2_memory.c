/*
 * h2_memory.c: lists of freed pieces, by size.
 */
#include "server/http2/h2_memory.h"

#include <stdlib.h>
#include <string.h>

/* Precedes each piece; 16 bytes keep the piece aligned. */
struct h2_memory_piece {
    struct h2_memory_piece *next; /* next in a list of free pieces */
    uint32_t class_index; /* H2_MEMORY_CLASSES if the piece is too large to be kept */
    uint32_t size; /* requested size of a large piece, for realloc */
};

_Static_assert(sizeof(struct h2_memory_piece) % 16 == 0, "the piece after the header is aligned");

static size_t h2_memory_class_bytes(uint32_t class_index)
{
    return (size_t)(class_index + 1) * H2_MEMORY_STEP_BYTES;
}

static uint32_t h2_memory_class_of(size_t size)
{
#ifdef ERRATA_ARENA_EMULATOR
    (void)size;
    return H2_MEMORY_CLASSES;
#else
    size_t class_index = size == 0 ? 0 : (size - 1) / H2_MEMORY_STEP_BYTES;

    return class_index < H2_MEMORY_CLASSES ? (uint32_t)class_index : H2_MEMORY_CLASSES;
#endif
}

static struct h2_memory_piece *h2_memory_take_reserve(struct h2_memory *memory)
{
    struct h2_memory_piece *piece = memory->reserve;

    memory->reserve = piece->next;
    memory->reserve_count--;
    return piece;
}

static void *h2_memory_malloc(size_t size, void *user)
{
    struct h2_memory *memory = user;
    uint32_t class_index = h2_memory_class_of(size);
    struct h2_memory_piece *piece = NULL;
    size_t bytes = size;

    if (size > UINT32_MAX) {
        return NULL;
    }
    if (class_index < H2_MEMORY_CLASSES) {
        piece = memory->kept[class_index];
        bytes = h2_memory_class_bytes(class_index);
    }
    if (piece != NULL) {
        memory->kept[class_index] = piece->next;
        memory->kept_bytes -= (uint32_t)bytes;
        return piece + 1;
    }
    piece = malloc(sizeof(*piece) + bytes);
    if (piece == NULL && bytes <= H2_MEMORY_RESERVE_BYTES && memory->reserve != NULL) {
        return h2_memory_take_reserve(memory) + 1;
    }
    if (piece == NULL) {
        return NULL;
    }
    piece->class_index = class_index;
    piece->size = (uint32_t)bytes;
    return piece + 1;
}

static void h2_memory_free(void *pointer, void *user)
{
    struct h2_memory *memory = user;
    struct h2_memory_piece *piece = NULL;

    if (pointer == NULL) {
        return;
    }
    piece = (struct h2_memory_piece *)pointer - 1;
    if (piece->class_index == H2_MEMORY_CLASSES ||
        memory->kept_bytes + piece->size > H2_MEMORY_KEPT_BYTES_MAX) {
        free(piece);
        return;
    }
    piece->next = memory->kept[piece->class_index];
    memory->kept[piece->class_index] = piece;
    memory->kept_bytes += piece->size;
}

static void *h2_memory_calloc(size_t count, size_t size, void *user)
{
    size_t bytes = 0;
    void *pointer = NULL;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        return NULL;
    }
    pointer = h2_memory_malloc(bytes, user);
    if (pointer != NULL) {
        memset(pointer, 0, bytes);
    }
    return pointer;
}

static void *h2_memory_realloc(void *pointer, size_t size, void *user)
{
    struct h2_memory_piece *piece = NULL;
    void *moved = NULL;

    if (pointer == NULL) {
        return h2_memory_malloc(size, user);
    }
    piece = (struct h2_memory_piece *)pointer - 1;
    if (size <= piece->size) {
        return pointer;
    }
    moved = h2_memory_malloc(size, user);
    if (moved != NULL) {
        memcpy(moved, pointer, piece->size);
        h2_memory_free(pointer, user);
    }
    return moved;
}

void h2_memory_init(struct h2_memory *memory)
{
    *memory = (struct h2_memory){.functions = {.mem_user_data = memory,
                                               .malloc = h2_memory_malloc,
                                               .free = h2_memory_free,
                                               .calloc = h2_memory_calloc,
                                               .realloc = h2_memory_realloc}};
}

bool h2_memory_fill_reserve(struct h2_memory *memory)
{
    while (memory->reserve_count < H2_MEMORY_RESERVE_PIECES) {
        struct h2_memory_piece *piece = malloc(sizeof(*piece) + H2_MEMORY_RESERVE_BYTES);

        if (piece == NULL) {
            return false;
        }
        piece->class_index = H2_MEMORY_CLASSES;
        piece->size = H2_MEMORY_RESERVE_BYTES;
        piece->next = memory->reserve;
        memory->reserve = piece;
        memory->reserve_count++;
    }
    return true;
}

void h2_memory_deinit(struct h2_memory *memory)
{
    while (memory->reserve != NULL) {
        free(h2_memory_take_reserve(memory));
    }
    for (size_t i = 0; i < H2_MEMORY_CLASSES; i++) {
        while (memory->kept[i] != NULL) {
            struct h2_memory_piece *piece = memory->kept[i];

            memory->kept[i] = piece->next;
            free(piece);
        }
    }
}
