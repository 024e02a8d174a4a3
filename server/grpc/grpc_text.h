/*
 * grpc_text.h: the small codings of gRPC's header fields: base64 of -bin values, percent-encoding of
 * messages, timeouts, lists (grpc/doc/PROTOCOL-HTTP2.md).
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_TEXT_H
#define ERRATA_SERVER_GRPC_GRPC_TEXT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* The name ends in -bin: its value is base64. */
bool grpc_name_is_binary(struct slice name);
/* Without blanks at its ends. */
struct slice grpc_trim(struct slice text);
/* What stands before the first comma, without blanks around it. */
struct slice grpc_first_of_list(struct slice list);
/* `word` is a member of a list separated by commas. */
bool grpc_list_has(struct slice list, struct slice word);
/* Padded or not. ERR_INVALID for anything that is no base64. */
MUST_CHECK enum err grpc_base64_decode(struct arena *arena, struct slice text,
                                       struct slice *ret_bytes);
/* Unpadded. */
MUST_CHECK enum err grpc_base64_encode(struct arena *arena, struct slice bytes,
                                       struct slice *ret_text);
/* Everything outside %x20-7E, and `%`, becomes %XX. Gives the text itself where nothing had to. */
MUST_CHECK enum err grpc_percent_encode(struct arena *arena, struct slice text,
                                        struct slice *ret_encoded);
/* Microseconds of a grpc-timeout, 0 to CALL_TIMEOUT_US_MAX, rounded down. ERR_INVALID for another form. */
MUST_CHECK enum err grpc_timeout_parse(struct slice text, int64_t *ret_us);

#endif
