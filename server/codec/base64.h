/*
 * base64.h: base64 as proto JSON has it (RFC 4648): written with the standard alphabet and padding,
 * read in the standard or the URL-safe one, padded or not.
 */
#ifndef ERRATA_SERVER_CODEC_BASE64_H
#define ERRATA_SERVER_CODEC_BASE64_H

#include "store/base/buffer.h"

/* Bytes that reading so many digits gives, or a little more. */
static inline size_t base64_bytes_max(size_t digits)
{
    return digits / 4 * 3 + 3;
}

void base64_write(struct buffer *text, struct slice bytes);
/* Into room for base64_bytes_max(text.size); false for anything but base64. */
bool base64_read(struct slice text, uint8_t *bytes, size_t *ret_size);

#endif
