/*
 * place.h: texts with a NUL behind them, one after the other in memory that was measured for them.
 */
#ifndef ERRATA_CLIENT_LIBRARY_PLACE_H
#define ERRATA_CLIENT_LIBRARY_PLACE_H

#include "store/base/slice.h"

/* Copies a text to `*at`, where text.size + 1 bytes are free, and moves that behind its NUL. */
static inline const char *place_text(char **at, struct slice text)
{
    char *place = *at;

    if (text.size > 0) {
        memcpy(place, text.data, text.size);
    }
    place[text.size] = '\0';
    *at = place + text.size + 1;
    return place;
}

#endif
