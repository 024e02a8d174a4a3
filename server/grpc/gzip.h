/*
 * gzip.h: gzip (RFC 1952) of whole messages, one context a message.
 */
#ifndef ERRATA_SERVER_GRPC_GZIP_H
#define ERRATA_SERVER_GRPC_GZIP_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Inflates into the arena. ERR_TOO_LARGE as soon as there are more than `max` bytes, ERR_MALFORMED
 * for anything that is not one gzip stream to its last byte, ERR_MEMORY. */
MUST_CHECK enum err gzip_inflate(struct arena *arena, struct slice packed, size_t max,
                                 struct slice *ret_bytes);
/* Appends the gzip of `bytes`, fast rather than small. ERR_MEMORY. */
MUST_CHECK enum err gzip_deflate(struct slice bytes, struct buffer *packed);

#endif
