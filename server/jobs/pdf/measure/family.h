/*
 * family.h: the features of page 1 that the documents of a layout have in common, independent of the
 * customer and the number of items. Pure functions over glyphs and rulings, without Poppler. Each
 * adds the text of its features to a sketch builder, in time linear in its input.
 *
 * Rules, which stored sketches depend on (raise PDF_RULES_VERSION with a change):
 * - A word is a run of glyphs between white space. It is folded (NFKC, case folding), punctuation at its ends
 *   is removed, and it is a feature, with its place in cells of 6 x 8 points, if its top is in the
 *   first 35% or the last 10% of the page, and it has no digit and 2 to FAMILY_WORD_GLYPHS_MAX
 *   characters. Numbers, dates and the lines of items change from document to document.
 * - A vertical ruling by its x position; a horizontal one by its extent, in cells of 4 points. Its y
 *   position is left out: the rows of one table would be many features with the same information.
 * - The same words of the whole page without their places, if the page has few (family_words.h).
 * - A font and its size in tenths of a point; the size of the page in points.
 * Places are rounded to 1/100 point before they are rounded to cells, so that noise of floating-point
 * arithmetic does not move what is at the border of two cells.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_FAMILY_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_FAMILY_H

#include "server/domain/layouts/sketch/family_words.h"
#include "server/jobs/pdf/measure/parts.h"

/* A longer run of glyphs is not a label, but text without spaces; NFKC makes at most 18 code points
 * of one (Unicode Standard Annex 15). */
#define FAMILY_WORD_GLYPHS_MAX 64
/* Maximum length of a font's name; the specification allows 127 bytes (ISO 32000-1, annex C.2). */
#define FAMILY_FONT_BYTES_MAX 127

void family_add_page(struct family_sketch_builder *builder, struct pdf_page_size page);
/* Adds all words to `words`, and those at the top and the bottom with their places to the builder. */
void family_add_words(struct family_sketch_builder *builder, struct family_page_words *words,
                      struct glyph_list glyphs, struct pdf_page_size page);
/* Adds a merged ruling; its box has no height or no width. */
void family_add_ruling(struct family_sketch_builder *builder, const struct pdf_box *ruling);
/* Adds a font. The prefix of a subset, such as "ABCDEF+", is removed. */
void family_add_font(struct family_sketch_builder *builder, struct slice name, double size);

#endif
