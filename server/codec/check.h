/*
 * check.h: validates untrusted bytes before protobuf-c unpacks them, which has no depth limit, does
 * not check UTF-8 and can need a hundred times their size. One pass over the wire bytes by the
 * contract's tables checks depth, UTF-8, NUL, the number of elements, and each field's rules, and
 * reports all errors at once.
 */
#ifndef ERRATA_SERVER_CODEC_CHECK_H
#define ERRATA_SERVER_CODEC_CHECK_H

#include "server/codec/contract.h"
#include "store/base/ctx.h"

/* Maximum nesting of messages (the usual limit of protobuf libraries is 100). */
#define CHECK_DEPTH_MAX 100
/* Maximum fields of one request, including repeated elements and unknown fields: otherwise a
 * million empty messages would need a hundred times their bytes. A batch of 1,000 full events has
 * 30,000. */
#define CHECK_ELEMENTS_MAX 100000

/* Maximum bytes of an id or name that the caller chooses (FORMAT_OPAQUE_ID, FORMAT_NAME). */
#define CHECK_ID_BYTES_MAX 128

/* Checks a request. `ret_bytes` are what to decode: `bytes`, or, if a message in them arrives in several
 * pieces, a copy in ctx->arena in which the pieces are joined.
 * ERR_MALFORMED for bytes that are not a message of this type (wrong wire type, cut short), which
 * callers receive as INTERNAL; ERR_INVALID with the invalid fields in ctx->fault; ERR_TOO_LARGE
 * above the element limit. Parses `_json` fields completely, in separate memory of at most
 * ctx->arena's cap. */
MUST_CHECK enum err check_request(struct ctx *ctx, const struct message_info *message,
                                  struct slice bytes, struct slice *ret_bytes);
/* Does the same for a request of a write, in which an optional id that is present but empty is invalid. */
MUST_CHECK enum err check_write_request(struct ctx *ctx, const struct message_info *message,
                                        struct slice bytes, struct slice *ret_bytes);
/* Checks a message that was stored, by this server or another one: its form, encodings, JSON texts, values of enums and ranges
 * of times, and no other rule, which may have been another one when it was stored. Fails as check_request; pieces of one
 * message in several places are malformed. */
MUST_CHECK enum err check_stored_message(struct ctx *ctx, const struct message_info *message,
                                         struct slice bytes);

#endif
