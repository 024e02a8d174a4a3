/*
 * sku.h: stock keeping units as they are compared: without white space at their ends, in one case, and
 * in one writing of what Unicode calls canonically equal (the canonical caseless match of Unicode,
 * definition D145, composed again). What looks alike but is another character, such as a full-width
 * letter, stays another.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_SKU_H
#define ERRATA_SERVER_DOMAIN_TEXT_SKU_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* The longest SKU, as it is written. */
#define SKU_BYTES_MAX 256
/* The longest one folded: no code point becomes more than three times as long. */
#define SKU_FOLDED_BYTES_MAX (3 * SKU_BYTES_MAX)

/* The text without Unicode's white space at its ends; borrowed from it. Valid UTF-8. */
struct slice sku_trim(struct slice text);
/* The text trimmed and folded; in the arena, or borrowed from the text where nothing changed. Valid
 * UTF-8 of at most SKU_BYTES_MAX bytes; one that is all white space becomes empty. Fails only with ERR_MEMORY. */
MUST_CHECK enum err sku_fold(struct arena *arena, struct slice text, struct slice *ret_folded);
/* A letter, a digit or another number, or a mark that sits on one: what words are made of. */
bool sku_is_word(uint32_t code_point);

#endif
