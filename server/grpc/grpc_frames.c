/*
 * grpc_frames.c: length-prefixed messages (grpc/doc/PROTOCOL-HTTP2.md): flag, length, bytes. They
 * are independent of DATA frames: a prefix may arrive in five pieces.
 */
#include "server/grpc/grpc_internal.h"
#include "store/base/bytes.h"

#define GRPC_FLAG_COMPRESSED 1

/* Handles a complete prefix: begins the message, or refuses it before storing a byte of it. */
static void grpc_begin_message(struct call_core *core)
{
    const struct grpc_call *grpc = grpc_call_of(core);
    uint8_t flags = grpc->prefix[0];
    bool compressed = (flags & GRPC_FLAG_COMPRESSED) != 0;

    if ((flags & ~GRPC_FLAG_COMPRESSED) != 0) {
        call_refuse_text(
            core, ERR_MALFORMED,
            arena_printf(&core->arena, "message: unknown flags 0x%02x; expected 0 or 1", flags));
        return;
    }
    if (compressed && grpc->encoding != GRPC_GZIP) {
        call_refuse_err(
            core, ERR_MALFORMED,
            "message: marked as compressed without grpc-encoding; expected grpc-encoding gzip");
        return;
    }
    call_begin_message(core, bytes_get_be32(grpc->prefix + 1), compressed);
}

static size_t grpc_take_prefix(struct call_core *core, struct slice bytes)
{
    struct grpc_call *grpc = grpc_call_of(core);
    size_t step = GRPC_PREFIX_BYTES - grpc->prefix_bytes;

    call_expect_message(core);
    step = bytes.size < step ? bytes.size : step;
    memcpy(grpc->prefix + grpc->prefix_bytes, bytes.data, step);
    grpc->prefix_bytes = (uint8_t)(grpc->prefix_bytes + step);
    if (grpc->prefix_bytes == GRPC_PREFIX_BYTES) {
        grpc_begin_message(core);
    }
    return step;
}

size_t grpc_take_frames(struct call_core *core, struct slice bytes)
{
    struct grpc_call *grpc = grpc_call_of(core);
    size_t taken = 0;

    while (taken < bytes.size && !call_input_stopped(core)) {
        struct slice rest = slice_after(bytes, taken);

        if (grpc->prefix_bytes < GRPC_PREFIX_BYTES) {
            taken += grpc_take_prefix(core, rest);
        } else {
            taken += call_take_message_bytes(core, rest);
        }
        if (grpc->prefix_bytes == GRPC_PREFIX_BYTES && call_message_is_whole(core)) {
            grpc->prefix_bytes = 0;
            call_take_whole_message(core);
        }
    }
    call_note_progress(core, taken);
    /* Bytes after the response are read and discarded. */
    return core->ended ? bytes.size : taken;
}

void grpc_write_prefix(uint8_t *head, uint32_t bytes, bool compressed)
{
    head[0] = compressed ? GRPC_FLAG_COMPRESSED : 0;
    bytes_put_be32(head + 1, bytes);
}
