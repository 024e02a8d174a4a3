/*
 * place.h: texts with a NUL behind them, one after the other in memory that was measured for them.
 */
#ifndef ERRATA_CLIENT_LIBRARY_PLACE_H
#define ERRATA_CLIENT_LIBRARY_PLACE_H

#include "store/base/slice.h"

/* Copies a text to `*at`, where text.size + 1 bytes are free, and moves that behind its NUL. The text
 * may be what a server sent: a byte that is no UTF-8, or a NUL, becomes a `?`. */
const char *place_text(char **at, struct slice text);

#endif
