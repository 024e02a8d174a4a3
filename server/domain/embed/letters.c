/*
 * letters.c: decodes by utf8proc; ASCII, which NFKC does not change, is copied.
 */
#include "server/domain/embed/letters.h"

#include "server/domain/text/normalise.h"

#include <utf8proc.h>

#define REPLACEMENT 0xFFFD
#define ASCII_END 0x80
/* No code point becomes more than this many in NFKC. */
#define NFKC_GROWTH_MAX 18

/* Decodes at most `max` characters; returns whether all are ASCII. */
static bool decode(struct slice text, size_t max, struct points *letters)
{
    bool is_ascii = true;
    size_t at = 0;

    while (at < text.size && letters->count < max) {
        utf8proc_int32_t character = text.data[at];
        utf8proc_ssize_t size = 1;

        if (character >= ASCII_END) {
            size = utf8proc_iterate(text.data + at, (utf8proc_ssize_t)(text.size - at), &character);
            is_ascii = false;
        }
        if (size <= 0) {
            size = 1;
            character = REPLACEMENT;
        }
        letters->at[letters->count++] = (uint32_t)character;
        at += (size_t)size;
    }
    return is_ascii;
}

enum err letters_read(struct arena *arena, struct slice text, struct points *ret_letters)
{
    size_t max = text.size < LETTERS_MAX ? text.size : LETTERS_MAX;
    size_t room = NFKC_GROWTH_MAX * max < LETTERS_MAX ? NFKC_GROWTH_MAX * max : LETTERS_MAX;
    struct points letters = {NULL, 0};
    struct points spare = {NULL, 0};

    letters.at = (uint32_t *)arena_alloc(arena, (room + 1) * sizeof(uint32_t));
    if (letters.at == NULL) {
        return ERR_MEMORY;
    }
    if (!decode(text, max, &letters)) {
        spare.at = (uint32_t *)arena_alloc(arena, (room + 1) * sizeof(uint32_t));
        if (spare.at == NULL) {
            return ERR_MEMORY;
        }
        (void)normalise_drop_stacked(&letters);
        (void)normalise_nfkc(&letters, &spare, room);
    }
    *ret_letters = letters;
    return OK;
}
