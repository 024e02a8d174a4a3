/*
 * grpc_web_text.h: the base64 of gRPC-Web's text form, as it arrives: each flush of the peer is encoded
 * by itself, so padding may come in the middle.
 */
#ifndef ERRATA_SERVER_GRPC_WEB_GRPC_WEB_TEXT_H
#define ERRATA_SERVER_GRPC_WEB_GRPC_WEB_TEXT_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* Maximum bytes that one step decodes. */
#define GRPC_WEB_TEXT_BYTES ((size_t)1536)

/* Zeroed before the first text. */
struct grpc_web_text {
    uint8_t group[4]; /* digits of an incomplete group */
    uint8_t group_count;
    size_t size; /* decoded bytes of the last step */
    uint8_t bytes[GRPC_WEB_TEXT_BYTES];
};

/* Decodes the start of the text into `bytes`, in place of those of the last step; sets the number
 * of characters consumed, which is at least one unless the text is empty. False if they are not
 * base64. */
MUST_CHECK bool grpc_web_text_decode(struct grpc_web_text *state, struct slice text,
                                     size_t *ret_taken);
/* Returns whether the text may end here. */
bool grpc_web_text_is_whole(const struct grpc_web_text *state);

#endif
