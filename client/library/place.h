/*
 * place.h: copies texts, each with a NUL, one after the other into one allocation.
 */
#ifndef ERRATA_CLIENT_LIBRARY_PLACE_H
#define ERRATA_CLIENT_LIBRARY_PLACE_H

#include "store/base/slice.h"

/* Copies a text to `*at`, which must have room for text.size + 1 bytes, and advances it. The text
 * may be what a server sent: an invalid UTF-8 byte, or a NUL, becomes a `?`. */
const char *place_text(char **at, struct slice text);

#endif
