/*
 * fold.c: see fold.h.
 */
#include "tools/errata/terminal/fold.h"

#include <stdlib.h>
#include <utf8proc.h>

struct slice fold_text(struct arena *arena, struct slice text)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t size =
        utf8proc_map(text.data, (utf8proc_ssize_t)text.size, &folded,
                     UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
    struct slice copy = {NULL, 0};

    if (size > 0 && !arena_copy(arena, slice_of(folded, (size_t)size), &copy)) {
        copy = slice_of(NULL, 0);
    }
    free(folded);
    return copy;
}
