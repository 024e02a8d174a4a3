/*
 * gzip.h: gzip (RFC 1952) of whole messages, each independent of the others. Inflating proceeds in
 * steps with limits on the bytes read and written, so that the caller can stop between steps. An
 * inflater may be used by one thread at a time.
 */
#ifndef ERRATA_SERVER_CALL_GZIP_H
#define ERRATA_SERVER_CALL_GZIP_H

#include "store/base/buffer.h"
#include "store/base/err.h"

#include <stdatomic.h>

/* Maximum bytes read and written in one step: 50 to 300 us of work. */
#define GZIP_STEP_BYTES ((size_t)64 * 1024)

struct gzip_inflater;

/* ERR_MEMORY. */
MUST_CHECK enum err gzip_inflater_new(struct gzip_inflater **ret_inflater);
/* Accepts NULL. */
void gzip_inflater_free(struct gzip_inflater *inflater);
/* Starts another message, which is borrowed until its last step; discards an earlier one. */
void gzip_inflater_begin(struct gzip_inflater *inflater, struct slice packed);
/* Writes the next bytes, at most `room`, which is more than 0; sets `ret_ended` with the last ones.
 * ERR_MALFORMED unless the message is exactly one gzip stream, ERR_MEMORY. */
MUST_CHECK enum err gzip_inflater_step(struct gzip_inflater *inflater, uint8_t *to, size_t room,
                                       size_t *ret_bytes, bool *ret_ended);
/* Returns the size that the message states in its last bytes, modulo 2^32; 0 if it has none. The
 * value is unverified and only a hint. */
size_t gzip_stated_bytes(struct slice packed);
/* Inflates all of it into the arena. ERR_TOO_LARGE as soon as there are more than `max` bytes;
 * ERR_MALFORMED and ERR_MEMORY as above; ERR_CANCELLED at most one step after `stop` was set (NULL:
 * it is never stopped). */
MUST_CHECK enum err gzip_inflate(struct arena *arena, struct slice packed, size_t max,
                                 const atomic_bool *stop, struct slice *ret_bytes);
/* Appends the gzip form of `bytes`, optimised for speed rather than size. Fails only with
 * ERR_MEMORY. */
MUST_CHECK enum err gzip_deflate(struct slice bytes, struct buffer *packed);

#endif
