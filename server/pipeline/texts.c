/*
 * texts.c: see texts.h.
 */
#include "server/pipeline/texts.h"

enum err texts_copy(struct arena *arena, char *const *texts, size_t count,
                    const struct slice **ret_slices)
{
    struct slice *slices = arena_calloc(arena, count + 1, sizeof(*slices));

    if (slices == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        slices[i] = slice_text(texts[i]);
    }
    *ret_slices = slices;
    return OK;
}
