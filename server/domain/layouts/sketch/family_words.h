/*
 * family_words.h: collects the words of page 1 for the second section of a sketch (family_sketch.h). The letterhead is the
 * first FAMILY_LETTERHEAD_WORDS_MAX words in the order of reading: line by line, from left to right. Pure functions;
 * the order of words that are at the same place depends only on their text.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_WORDS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_WORDS_H

#include "server/domain/layouts/sketch/family_sketch.h"

/* A page with more words has no letterhead: different forms of one authority begin with the same words, and most of
 * their text is printed. A receipt, a letter or an invoice has fewer. */
#define FAMILY_PAGE_WORDS_MAX 300

/* A word of the page. */
struct family_page_word {
    uint32_t feature; /* its hash; 0: it has digits, or is too short, so it only marks its line */
    uint32_t line; /* set when all words are known */
    double left;
    double middle; /* vertical middle */
    double height;
};

struct family_page_words {
    uint32_t count; /* all words of the page; above FAMILY_PAGE_WORDS_MAX they are only counted */
    struct family_page_word words[FAMILY_PAGE_WORDS_MAX];
};

/* Place of a word, in points from the upper left corner; finite. */
struct family_word_place {
    double left;
    double top;
    double bottom;
};

void family_page_words_begin(struct family_page_words *words);
/* Adds a folded word; empty: one with digits, or a too short one. */
void family_page_words_add(struct family_page_words *words, const struct family_word_place *place,
                           struct slice text);
/* Sets the words of a finished sketch; none if it has no features, or the page has too many or too few words. */
void family_page_words_finish(struct family_page_words *words, struct family_sketch *sketch);

#endif
