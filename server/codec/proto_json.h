/*
 * proto_json.h: proto JSON (protobuf.dev/programming-guides/json) to wire bytes and back, by the
 * contract's tables, without a tree and without protobuf-c. Reads the full names of enum values and
 * the short words, json_name and proto name, numbers as text or number; writes json_name, full enum
 * names, 64-bit integers as text, and leaves defaults out.
 */
#ifndef ERRATA_SERVER_CODEC_PROTO_JSON_H
#define ERRATA_SERVER_CODEC_PROTO_JSON_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"

/* Appends the wire bytes of a JSON text. ERR_INVALID with the fields in ctx->fault. Unknown members
 * are refused where `strict`, else ignored. */
MUST_CHECK enum err proto_json_read(struct ctx *ctx, const struct message_info *message,
                                    struct slice json, bool strict, struct buffer *wire);
/* How to write. */
struct proto_json_style {
    unsigned indent; /* spaces a level; 0: one line */
};

/* Appends the JSON text of wire bytes; ERR_MALFORMED for bytes that are no such message. */
MUST_CHECK enum err proto_json_write(struct ctx *ctx, const struct message_info *message,
                                     struct slice wire, const struct proto_json_style *style,
                                     struct buffer *json);

#endif
