/*
 * redact.h: removes the fields that the contract marks as content from a reply, for callers that
 * may not see them. Handlers reply the same to everyone; the pipeline then calls this once for each
 * message.
 */
#ifndef ERRATA_SERVER_CODEC_REDACT_H
#define ERRATA_SERVER_CODEC_REDACT_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"

/* Maximum nesting of messages of a reply; an Event with a document has four. */
#define REDACT_DEPTH_MAX 16

/* Removes content from the message that `body` has from `start` on, in place. ERR_INTERNAL for
 * bytes that are not such a message, or that are nested deeper: none of these bytes may then be
 * sent. */
MUST_CHECK enum err redact_content(const struct message_info *message, struct buffer *body,
                                   size_t start);

#endif
