/*
 * check.h: what stands between bytes from outside and protobuf-c, which has no depth limit, checks
 * no UTF-8 and can be bloated a hundredfold. One pass over the wire bytes by the contract's tables,
 * before each unpack: depth, UTF-8, NUL, an element budget, and each field's rules. Everything that
 * is wrong is found at once.
 */
#ifndef ERRATA_SERVER_CODEC_CHECK_H
#define ERRATA_SERVER_CODEC_CHECK_H

#include "server/codec/contract.h"
#include "store/base/ctx.h"

/* Deepest nesting of messages (protobuf's own limit elsewhere is 100). */
#define CHECK_DEPTH_MAX 100
/* Fields of one request, repeated elements and unknown fields included: a million empty messages
 * would otherwise take a hundred times their bytes. A batch of 1,000 full events has 30,000. */
#define CHECK_ELEMENTS_MAX 100000

/* The longest id or name of the caller's own (FORMAT_OPAQUE_ID, FORMAT_NAME). */
#define CHECK_ID_BYTES_MAX 128

/* ERR_MALFORMED for bytes that are no message of this type (wrong wire type, cut short), which a
 * caller hears as INTERNAL; ERR_INVALID with the bad fields in ctx->fault; ERR_TOO_LARGE over the
 * element budget. `_json` fields are parsed whole here, in memory of their
 * own of at most ctx->arena's cap. */
MUST_CHECK enum err check_request(struct ctx *ctx, const struct message_info *message,
                                  struct slice bytes);

#endif
