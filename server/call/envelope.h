/*
 * envelope.h: messages in envelopes, as gRPC, gRPC-Web and the streams of Connect send them: flags,
 * length in big endian, bytes. They are independent of the pieces in which bytes arrive: a head may
 * come in five.
 */
#ifndef ERRATA_SERVER_CALL_ENVELOPE_H
#define ERRATA_SERVER_CALL_ENVELOPE_H

#include "server/call/protocol.h"

#define CALL_ENVELOPE_BYTES 5

/* The request's envelopes, as they arrive; zeroed before the first. */
struct call_envelopes {
    bool gzip; /* an encoding was announced, so messages may be compressed */
    uint8_t head_bytes; /* bytes of the head received so far */
    uint8_t head[CALL_ENVELOPE_BYTES];
};

/* Takes bytes and returns their number, which is smaller than given if the call accepts no more for now. */
size_t call_take_envelopes(struct call_core *core, struct call_envelopes *envelopes,
                           struct slice bytes);
/* Writes the head of a reply message. */
void call_write_envelope(uint8_t *head, uint32_t bytes, bool compressed);

#endif
