/*
 * h2_memory.h: nghttp2's memory. A request makes and frees about ten small pieces there; the ones
 * that were freed are kept by size and handed out again, for all connections of a server. Built with
 * ERRATA_ARENA_EMULATOR (the asan preset) each piece is a malloc of its own, so that misuse is seen.
 */
#ifndef ERRATA_SERVER_HTTP2_H2_MEMORY_H
#define ERRATA_SERVER_HTTP2_H2_MEMORY_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdint.h>

/* Pieces up to 1 KiB are kept, in steps of 64 bytes; larger ones are few and long-lived. */
#define H2_MEMORY_STEP_BYTES 64
#define H2_MEMORY_CLASSES 16
/* What is kept in all, at most. */
#define H2_MEMORY_KEPT_BYTES_MAX (4u << 20)

/* Pieces that wait for malloc to fail. libnghttp2 1.52 frees the item of a DATA frame twice where it
 * has no memory to queue it: so it finds some there, and is asked for nothing more without them. */
#define H2_MEMORY_RESERVE_PIECES 8
/* Its queue of 128 streams, doubled once more than needed. */
#define H2_MEMORY_RESERVE_BYTES 2048

struct h2_memory_piece;

struct h2_memory {
    nghttp2_mem functions; /* for nghttp2_session_server_new3; points here */
    struct h2_memory_piece *kept[H2_MEMORY_CLASSES];
    uint32_t kept_bytes;
    struct h2_memory_piece *reserve;
    uint32_t reserve_count;
};

void h2_memory_init(struct h2_memory *memory);
/* Makes the reserve whole, before nghttp2 is asked for frames; false where there is no memory to. */
bool h2_memory_fill_reserve(struct h2_memory *memory);
/* Frees what is kept; nghttp2 must have given everything back. */
void h2_memory_deinit(struct h2_memory *memory);

#endif
