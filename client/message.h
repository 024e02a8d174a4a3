/*
 * message.h: gRPC's length-prefixed messages: one flag byte, four bytes of length, the message,
 * compressed with gzip if the flag is set. Messages are written in one piece and read in pieces.
 * Independent of HTTP/2.
 */
#ifndef ERRATA_CLIENT_MESSAGE_H
#define ERRATA_CLIENT_MESSAGE_H

#include "store/base/err.h"
#include "store/base/slice.h"

#define CLIENT_PREFIX_BYTES 5

/* Returns a framed message on the heap, owned by the caller. ERR_MEMORY, or ERR_TOO_LARGE over 4
 * GiB. */
MUST_CHECK enum err client_message_frame(struct slice message, bool gzip, uint8_t **ret_bytes,
                                         size_t *ret_size);

/* Reads framed messages out of bytes that come in pieces. */
struct client_reader {
    size_t message_bytes_max; /* maximum size of one message, before and after decompression */
    bool gzip; /* the answer's grpc-encoding is gzip */
    uint8_t prefix[CLIENT_PREFIX_BYTES];
    size_t prefix_filled;
    uint8_t *message; /* owned; holds `capacity` bytes, `filled` of them written */
    size_t capacity;
    size_t filled;
    size_t expected; /* bytes of the message, by its prefix */
    uint8_t *inflated; /* owned: the last compressed message's content */
};

void client_reader_init(struct client_reader *reader, size_t message_bytes_max);
void client_reader_deinit(struct client_reader *reader);
/* Takes bytes from the front of `*bytes` until a message is complete or none are left. The message
 * is borrowed until the next call. ERR_TOO_LARGE as soon as the prefix is read; ERR_MALFORMED for
 * an invalid flag or invalid compressed bytes; ERR_MEMORY. After an error the reader must not be
 * used. */
MUST_CHECK enum err client_reader_take(struct client_reader *reader, struct slice *bytes,
                                       bool *ret_complete, struct slice *ret_message);
/* Returns whether the reader is between two messages, so that a response that ends here is
 * complete. */
bool client_reader_between(const struct client_reader *reader);

#endif
