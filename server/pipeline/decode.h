/*
 * decode.h: checks the bytes of a request against the contract, and unpacks them into an arena: for calls, and for requests that
 * arrive otherwise.
 */
#ifndef ERRATA_SERVER_PIPELINE_DECODE_H
#define ERRATA_SERVER_PIPELINE_DECODE_H

#include "server/codec/contract.h"
#include "store/base/ctx.h"

#include <protobuf-c/protobuf-c.h>

/* Decodes a request of `method`, whose type is `descriptor`, into ctx->arena. The errors of check_request; ERR_MEMORY. */
MUST_CHECK enum err decode_request(struct ctx *ctx, const struct method_info *method,
                                   const ProtobufCMessageDescriptor *descriptor, struct slice bytes,
                                   ProtobufCMessage **ret_request);

#endif
