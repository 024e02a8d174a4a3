/*
 * case_fold.c: see case_fold.h. ASCII is folded here, as most text is ASCII; all other text by utf8proc.
 */
#include "server/domain/text/case_fold.h"

#include "store/base/assert.h"
#include "store/base/text.h"

#include <utf8proc.h>

/* Maximum code points to which one code point is folded. */
#define FOLDED_MAX 3

static size_t fold_wide(uint32_t code_point, uint8_t *to)
{
    utf8proc_int32_t folded[FOLDED_MAX];
    int boundary = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)code_point, folded,
                                                     FOLDED_MAX, UTF8PROC_CASEFOLD, &boundary);
    size_t size = 0;

    ASSERT(count >= 0);
    ASSERT(count <= FOLDED_MAX);
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        size += text_encode((uint32_t)folded[i], to + size);
    }
    return size;
}

enum err case_fold(struct arena *arena, struct slice text, struct slice *ret_folded)
{
    uint8_t *bytes = arena_alloc(arena, text.size * CASE_FOLD_GROWTH_MAX + 1);
    size_t size = 0;
    size_t at = 0;

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    while (at < text.size) {
        uint8_t byte = text.data[at];

        if (byte >= 0x80) {
            size += fold_wide(text_next(text, &at), bytes + size);
            continue;
        }
        bytes[size] = (uint8_t)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
        size++;
        at++;
    }
    *ret_folded = slice_of(bytes, size);
    return OK;
}
