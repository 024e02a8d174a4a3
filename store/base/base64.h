/*
 * base64.h: base64 (RFC 4648) in the forms that are in use here: gRPC's binary fields, the bytes of
 * proto JSON, tokens. The caller names the form and brings the room; nothing is allocated.
 */
#ifndef ERRATA_STORE_BASE_BASE64_H
#define ERRATA_STORE_BASE_BASE64_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* A form is the sum of one alphabet, or of both for reading, and of rules. */
enum {
    BASE64_STANDARD = 1, /* `+` and `/` */
    BASE64_URL = 2, /* `-` and `_` */
    BASE64_PADDED = 4, /* `=` fills the last group up: written, and read where it is */
    BASE64_EXACT = 8 /* bits that are left over must be zero: for some bytes there is one text */
};

/* What `size` bytes become: digits alone, and padded. */
#define BASE64_DIGITS(size) (((size)*4 + 2) / 3)
#define BASE64_PADDED_BYTES(size) (((size) + 2) / 3 * 4)

/* Into room for the form's count above, which it gives. */
size_t base64_write(struct slice bytes, unsigned form, uint8_t *text);
/* Into room for text.size bytes; false for what is no base64 of that form. */
MUST_CHECK bool base64_read(struct slice text, unsigned form, uint8_t *bytes, size_t *ret_size);

#endif
