/*
 * redaction_plain.c: the plain form of a text; see redaction_internal.h.
 */
#include "server/domain/reviews/redaction_internal.h"

#include "server/domain/text/fold.h"
#include "store/base/text.h"

#include <strings.h>

/* Hyphens and dashes, which separate groups of numbers like the ASCII hyphen. */
static bool is_dash(uint32_t code_point)
{
    return (code_point >= 0x2010 && code_point <= 0x2015) || code_point == 0x2212;
}

static uint8_t plain_of(uint32_t code_point)
{
    uint8_t plain = 0;

    if (code_point < 0x80) {
        return (uint8_t)code_point;
    }
    if (fold_is_space(code_point)) {
        return ' ';
    }
    if (is_dash(code_point)) {
        return '-';
    }
    plain = fold_to_plain(code_point);
    if (plain != 0) {
        return plain;
    }
    return fold_is_letter(code_point) || fold_is_mark(code_point) ? PLAIN_LETTER : PLAIN_OTHER;
}

static bool is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

enum err plain_text_read(struct arena *arena, struct slice text, struct plain_text *ret_plain)
{
    uint8_t *characters = NULL;
    uint32_t *offsets = NULL;
    size_t count = 0;

    if (is_ascii(text)) {
        *ret_plain = (struct plain_text){.characters = text};
        return OK;
    }
    characters = arena_calloc(arena, text.size, sizeof(*characters));
    offsets = arena_calloc(arena, text.size + 1, sizeof(*offsets));
    if (characters == NULL || offsets == NULL) {
        return ERR_MEMORY;
    }
    for (size_t at = 0; at < text.size; count++) {
        offsets[count] = (uint32_t)at;
        characters[count] = plain_of(text_next(text, &at));
    }
    offsets[count] = (uint32_t)text.size;
    *ret_plain = (struct plain_text){slice_of(characters, count), offsets};
    return OK;
}

size_t plain_text_offset(const struct plain_text *plain, size_t character)
{
    return plain->offsets == NULL ? character : plain->offsets[character];
}

bool plain_starts_with(struct slice text, const char *word)
{
    size_t size = strlen(word);

    return text.size >= size && strncasecmp((const char *)text.data, word, size) == 0;
}
