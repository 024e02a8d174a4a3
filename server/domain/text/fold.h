/*
 * fold.h: the characters that a character resembles to a reader, for code that searches for
 * disguised marks: another case, full-width or mathematical forms, accents, look-alikes of other
 * scripts. Works on single code points and changes no text.
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

/* Returns the lower-case ASCII character that the code point looks like; 0 if there is none. */
uint8_t fold_to_ascii(uint32_t code_point);
/* Returns the ASCII character that the code point is or looks like, keeping its case: of full-width and
 * mathematical forms, and of letters with accents, the character itself; of look-alikes, that of
 * fold_to_ascii; of digits of other scripts, `1`, since only their kind is known. 0 if there is none. */
uint8_t fold_to_plain(uint32_t code_point);
/* Maximum letters of one ligature. */
#define FOLD_LETTERS_MAX 3
/* Does the same for a code point that may look like several characters: a ligature, a parenthesised
 * letter. Returns their number; 0 if there is none. */
size_t fold_to_letters(uint32_t code_point, uint8_t letters[FOLD_LETTERS_MAX]);
/* Returns whether the code point is invisible: bidi controls, zero-width characters, fillers,
 * tags. */
bool fold_is_ignorable(uint32_t code_point);
/* Returns whether the code point is a combining mark. */
bool fold_is_mark(uint32_t code_point);
/* Returns whether the code point is a letter of any script, or a letter in a frame or circle. */
bool fold_is_letter(uint32_t code_point);
/* Returns whether the code point is a space within a line, of any width. */
bool fold_is_space(uint32_t code_point);

#endif
