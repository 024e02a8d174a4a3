/*
 * fold.h: what a character looks like to a reader, for those who look for marks that a writer has
 * disguised: another case, full-width or mathematical forms, accents, look-alikes of other scripts.
 * It answers questions about one code point and changes no text.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_FOLD_H
#define ERRATA_SERVER_DOMAIN_TEXT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Folds look-alikes: l, I and 1 become `i`; 0 and o become `o`. Compare only with words that are
 * folded too. */
static inline uint8_t fold_ascii(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z') {
        byte = (uint8_t)(byte - 'A' + 'a');
    }
    if (byte == 'l' || byte == '1') {
        return 'i';
    }
    return byte == '0' ? 'o' : byte;
}

/* The small ASCII character that the code point looks like, 0 where it looks like none. */
uint8_t fold_to_ascii(uint32_t code_point);
/* Letters of one ligature that are distinguished. */
#define FOLD_LETTERS_MAX 3
/* The same, where the code point may look like several: a ligature, a parenthesised letter. Gives how
 * many, 0 where it looks like none. */
size_t fold_to_letters(uint32_t code_point, uint8_t letters[FOLD_LETTERS_MAX]);
/* Leaves no trace on a page: bidi controls, zero-width characters, fillers, tags. */
bool fold_is_ignorable(uint32_t code_point);
/* A combining mark: it sits on the character before it. */
bool fold_is_mark(uint32_t code_point);
/* A letter of any script, or what is drawn as one, in a frame or circle. */
bool fold_is_letter(uint32_t code_point);
/* A space within a line, of any width. */
bool fold_is_space(uint32_t code_point);

#endif
