/*
 * base64.h: base64 (RFC 4648) in the forms used here: gRPC's binary fields, the bytes of proto
 * JSON, tokens. The caller selects the form and provides the room; nothing is allocated.
 */
#ifndef ERRATA_STORE_BASE_BASE64_H
#define ERRATA_STORE_BASE_BASE64_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* A form is the sum of one alphabet (or both, for reading) and rules. */
enum {
    BASE64_STANDARD = 1, /* `+` and `/` */
    BASE64_URL = 2, /* `-` and `_` */
    BASE64_PADDED = 4, /* `=` fills the last group; written, and accepted when reading */
    BASE64_EXACT = 8 /* unused bits must be zero, so that the text of some bytes is unique */
};

/* Return the size of the text for `size` bytes, without and with padding. */
#define BASE64_DIGITS(size) (((size)*4 + 2) / 3)
#define BASE64_PADDED_BYTES(size) (((size) + 2) / 3 * 4)

/* Writes the text, whose size is the above number of bytes, and returns that size. */
size_t base64_write(struct slice bytes, unsigned form, uint8_t *text);
/* Decodes into room for text.size bytes; false if the text is not base64 of that form. */
MUST_CHECK bool base64_read(struct slice text, unsigned form, uint8_t *bytes, size_t *ret_size);

#endif
