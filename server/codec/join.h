/*
 * join.h: joins a message that arrives in several pieces. The protobuf specification lets a sender
 * write a field of a message type more than once and has the receiver merge the values, which is
 * the same as reading their bytes one after the other. protobuf-c 1.4.1 does not do this for
 * messages with optional fields, nor for members of a oneof.
 */
#ifndef ERRATA_SERVER_CODEC_JOIN_H
#define ERRATA_SERVER_CODEC_JOIN_H

#include "server/codec/contract.h"
#include "store/base/ctx.h"

/* Writes `bytes` into ctx->arena with each singular message field once, at the place of its last piece,
 * at every depth up to CHECK_DEPTH_MAX. Of the members of a oneof only the last is kept. The result is
 * never longer than `bytes`. ERR_MALFORMED for bytes that do not decode, ERR_TOO_LARGE over
 * CHECK_ELEMENTS_MAX fields, ERR_MEMORY. */
MUST_CHECK enum err join_pieces(struct ctx *ctx, const struct message_info *message,
                                struct slice bytes, struct slice *ret_joined);

#endif
