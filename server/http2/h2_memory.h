/*
 * h2_memory.h: memory for nghttp2. A request allocates and frees about ten small pieces; freed ones
 * are kept by size and reused, for all connections of a server. With ERRATA_ARENA_EMULATOR (the
 * asan preset) each piece is a separate malloc, so that misuse is detected.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_MEMORY_H
#define ERRATA_SERVER_HTTP2_H2_MEMORY_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdint.h>

/* Pieces up to 1 KiB are kept, in steps of 64 bytes; larger ones are few and long-lived. */
#define H2_MEMORY_STEP_BYTES 64
#define H2_MEMORY_CLASSES 16
/* Maximum number of free pieces that are kept. */
#define H2_MEMORY_KEPT_BYTES_MAX (4u << 20)

/* Pieces reserved for a failing malloc. libnghttp2 1.52 frees the item of a DATA frame twice if it
 * cannot be queued for lack of memory: so some is always reserved, and nghttp2 is not called without
 * it. */
#define H2_MEMORY_RESERVE_PIECES 8
/* Room for its queue of 128 streams, doubled once more than needed. */
#define H2_MEMORY_RESERVE_BYTES 2048

struct h2_memory_piece;

struct h2_memory {
    nghttp2_mem
        functions; /* functions for nghttp2_session_server_new3, with a pointer to this struct */
    struct h2_memory_piece *kept[H2_MEMORY_CLASSES];
    uint32_t kept_bytes;
    struct h2_memory_piece *reserve;
    uint32_t reserve_count;
};

void h2_memory_init(struct h2_memory *memory);
/* Fills the reserve, before nghttp2 is asked for frames; false if out of memory. */
bool h2_memory_fill_reserve(struct h2_memory *memory);
/* Frees the kept pieces; nghttp2 must have freed all of its own. */
void h2_memory_deinit(struct h2_memory *memory);

#endif
