/*
 * sku.h: stock keeping units in the form in which they are compared: without white space at their
 * ends, case folded, and in one form of canonically equivalent texts (Unicode's canonical caseless
 * match, definition D145, composed again). Characters that only look alike, such as full-width
 * letters, remain distinct.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_SKU_H
#define ERRATA_SERVER_DOMAIN_TEXT_SKU_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* Maximum bytes of a SKU as sent. */
#define SKU_BYTES_MAX 256
/* Maximum bytes of a folded SKU: no code point becomes more than three times as long. */
#define SKU_FOLDED_BYTES_MAX (3 * SKU_BYTES_MAX)

/* Returns the text, which is valid UTF-8, without Unicode's white space at its ends; borrowed from
 * it. */
struct slice sku_trim(struct slice text);
/* Trims and folds the text; the result is in the arena, or borrowed from the text if nothing
 * changed. Valid UTF-8 of at most SKU_BYTES_MAX bytes; one that is all white space becomes empty.
 * Fails only with ERR_MEMORY. */
MUST_CHECK enum err sku_fold(struct arena *arena, struct slice text, struct slice *ret_folded);
/* Returns whether the code point belongs to a word: a letter, a digit or another number, or a
 * combining mark. */
bool sku_is_word(uint32_t code_point);

#endif
