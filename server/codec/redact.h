/*
 * redact.h: a reply without the fields that the contract marks as content, for those who may not see it.
 * Handlers reply the same to everyone; the pipeline calls this after them, once for each message.
 */
#ifndef ERRATA_SERVER_CODEC_REDACT_H
#define ERRATA_SERVER_CODEC_REDACT_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"

/* Messages within messages of a reply; an Event with a document within has four. */
#define REDACT_DEPTH_MAX 16

/* Takes content out of the message that `body` has from `start` on, in place. ERR_INTERNAL for bytes that
 * are not such a message, or that are nested deeper: nothing of them may be sent then. */
MUST_CHECK enum err redact_content(const struct message_info *message, struct buffer *body,
                                   size_t start);

#endif
