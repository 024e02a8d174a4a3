/*
 * envelope.c: see envelope.h.
 */
#include "server/call/envelope.h"

#include "store/base/bytes.h"

#define ENVELOPE_COMPRESSED 1

/* Handles a complete head: begins the message, or refuses it before storing a byte of it. */
static void envelope_begin(struct call_core *core, const struct call_envelopes *envelopes)
{
    uint8_t flags = envelopes->head[0];
    bool compressed = (flags & ENVELOPE_COMPRESSED) != 0;

    if ((flags & ~ENVELOPE_COMPRESSED) != 0) {
        call_refuse_text(
            core, ERR_MALFORMED,
            arena_printf(&core->arena, "message: unknown flags 0x%02x; expected 0 or 1", flags));
        return;
    }
    if (compressed && !envelopes->gzip) {
        call_refuse_err(core, ERR_MALFORMED,
                        "message: marked as compressed, but no encoding is announced; expected the "
                        "request's encoding gzip");
        return;
    }
    call_begin_message(core, bytes_get_be32(envelopes->head + 1), compressed);
}

static size_t envelope_take_head(struct call_core *core, struct call_envelopes *envelopes,
                                 struct slice bytes)
{
    size_t step = CALL_ENVELOPE_BYTES - envelopes->head_bytes;

    call_expect_message(core);
    step = bytes.size < step ? bytes.size : step;
    memcpy(envelopes->head + envelopes->head_bytes, bytes.data, step);
    envelopes->head_bytes = (uint8_t)(envelopes->head_bytes + step);
    if (envelopes->head_bytes == CALL_ENVELOPE_BYTES) {
        envelope_begin(core, envelopes);
    }
    return step;
}

size_t call_take_envelopes(struct call_core *core, struct call_envelopes *envelopes,
                           struct slice bytes)
{
    size_t taken = 0;

    while (taken < bytes.size && !call_input_stopped(core)) {
        struct slice rest = slice_after(bytes, taken);

        if (envelopes->head_bytes < CALL_ENVELOPE_BYTES) {
            taken += envelope_take_head(core, envelopes, rest);
        } else {
            taken += call_take_message_bytes(core, rest);
        }
        if (envelopes->head_bytes == CALL_ENVELOPE_BYTES && call_message_is_whole(core)) {
            envelopes->head_bytes = 0;
            call_take_whole_message(core);
        }
    }
    call_note_progress(core, taken);
    /* Bytes after the response are read and discarded. */
    return core->ended ? bytes.size : taken;
}

void call_write_envelope(uint8_t *head, uint32_t bytes, bool compressed)
{
    head[0] = compressed ? ENVELOPE_COMPRESSED : 0;
    bytes_put_be32(head + 1, bytes);
}
