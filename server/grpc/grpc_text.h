/*
 * grpc_text.h: encodings of gRPC's header fields: base64 of -bin values, percent-encoding of
 * messages, timeouts, lists (grpc/doc/PROTOCOL-HTTP2.md).
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_TEXT_H
#define ERRATA_SERVER_GRPC_GRPC_TEXT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Returns whether the name ends in -bin, so that the value is base64. */
bool grpc_name_is_binary(struct slice name);
/* Returns the text without white space at its ends. */
struct slice grpc_trim(struct slice text);
/* Returns the list's first member, without white space around it. */
struct slice grpc_first_of_list(struct slice list);
/* Returns whether `word` is a member of a comma-separated list. */
bool grpc_list_has(struct slice list, struct slice word);
/* Decodes base64, padded or not. ERR_INVALID for anything else. */
MUST_CHECK enum err grpc_base64_decode(struct arena *arena, struct slice text,
                                       struct slice *ret_bytes);
/* Encodes without padding. */
MUST_CHECK enum err grpc_base64_encode(struct arena *arena, struct slice bytes,
                                       struct slice *ret_text);
/* Encodes `%` and all bytes outside of %x20-7E as %XX. Returns `text` itself if nothing needs
 * encoding. */
MUST_CHECK enum err grpc_percent_encode(struct arena *arena, struct slice text,
                                        struct slice *ret_encoded);
/* Parses a grpc-timeout into microseconds, 0 to CALL_TIMEOUT_US_MAX, rounded down. ERR_INVALID for
 * another form. */
MUST_CHECK enum err grpc_timeout_parse(struct slice text, int64_t *ret_us);

#endif
