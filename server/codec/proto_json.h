/*
 * proto_json.h: converts between proto JSON (protobuf.dev/programming-guides/json) and wire bytes
 * by the contract's tables, without a tree and without protobuf-c. Reads enum values by full name
 * or short word, fields by json_name or proto name, numbers as strings or numbers; writes
 * json_name, full enum names and 64-bit integers as strings, and omits defaults.
 *
 * Plain JSON is that of REST: names as in the .proto or the options, short enum values, counts as
 * numbers, JSON texts as JSON, and every field: null if it is absent. Reading it accepts proto JSON,
 * too.
 */
#ifndef ERRATA_SERVER_CODEC_PROTO_JSON_H
#define ERRATA_SERVER_CODEC_PROTO_JSON_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"

/* Appends the wire bytes of a JSON text. ERR_INVALID with the fields in ctx->fault. Unknown members
 * are refused if `strict`, else ignored. */
MUST_CHECK enum err proto_json_read(struct ctx *ctx, const struct message_info *message,
                                    struct slice json, bool strict, struct buffer *wire);
/* Does the same for plain JSON. */
MUST_CHECK enum err proto_json_read_plain(struct ctx *ctx, const struct message_info *message,
                                          struct slice json, bool strict, struct buffer *wire);
/* Format of the output. */
struct proto_json_style {
    unsigned indent; /* spaces per level; 0: one line */
    bool plain; /* plain JSON */
    const struct slice
        *members; /* for plain JSON: the only members of the outer message; NULL: all */
    uint32_t member_count;
};

/* Appends the JSON text of wire bytes; ERR_MALFORMED for bytes that are not such a message. */
MUST_CHECK enum err proto_json_write(struct ctx *ctx, const struct message_info *message,
                                     struct slice wire, const struct proto_json_style *style,
                                     struct buffer *json);

#endif
