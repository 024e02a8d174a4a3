/*
 * nest.h: a message within a message, written without knowing its size before: first its fields, then
 * what they are a field of.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_NEST_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_NEST_H

#include "store/base/wire.h"

/* Makes what was appended from `start` on the message in field `field`. */
static inline void nest_fields(struct buffer *body, uint32_t field, size_t start)
{
    size_t size = body->size - start;
    size_t header_bytes = wire_header_bytes(field, size);

    if (!buffer_reserve(body, header_bytes)) {
        return;
    }
    memmove(body->data + start + header_bytes, body->data + start, size);
    body->size = start;
    wire_put_header(body, field, size);
    body->size += size;
}

#endif
