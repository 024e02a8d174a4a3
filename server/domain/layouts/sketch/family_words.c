/*
 * family_words.c: see family_words.h.
 */
#include "server/domain/layouts/sketch/family_words.h"

#include "server/domain/layouts/sketch/family_sketch_internal.h"

#include <stdlib.h>
#include <string.h>

/* A word is in the line of the words before it if the middles of both differ by less than this share of its height. */
#define LINE_SHARE 0.5

static int order_of(double left, double right)
{
    return (left > right) - (left < right);
}

static int order_of_features(const struct family_page_word *a, const struct family_page_word *b)
{
    return (a->feature > b->feature) - (a->feature < b->feature);
}

/* From top to bottom. */
static int height_order(const void *left, const void *right)
{
    const struct family_page_word *a = left;
    const struct family_page_word *b = right;
    int order = order_of(a->middle, b->middle);

    if (order == 0) {
        order = order_of(a->left, b->left);
    }
    return order != 0 ? order : order_of_features(a, b);
}

/* Line by line, from left to right. */
static int reading_order(const void *left, const void *right)
{
    const struct family_page_word *a = left;
    const struct family_page_word *b = right;
    int order = (a->line > b->line) - (a->line < b->line);

    if (order == 0) {
        order = order_of(a->left, b->left);
    }
    return order != 0 ? order : order_of_features(a, b);
}

void family_page_words_begin(struct family_page_words *words)
{
    words->count = 0;
}

void family_page_words_add(struct family_page_words *words, const struct family_word_place *place,
                           struct slice text)
{
    if (words->count < FAMILY_PAGE_WORDS_MAX) {
        words->words[words->count] = (struct family_page_word){
            .feature = text.size > 0 ? family_feature_of(text, FAMILY_SECTION_LETTERHEAD) : 0,
            .left = place->left,
            .middle = (place->top + place->bottom) / 2,
            .height = place->bottom - place->top,
        };
    }
    words->count++;
}

/* Numbers the lines, and sorts the words into the order of reading. */
static void sort_words(struct family_page_words *words)
{
    double middle = 0; /* middle of the line's first word */
    uint32_t line = 0;

    qsort(words->words, words->count, sizeof(words->words[0]), height_order);
    for (uint32_t i = 0; i < words->count; i++) {
        struct family_page_word *word = &words->words[i];

        if (i == 0 || word->middle - middle >= LINE_SHARE * word->height) {
            middle = word->middle;
            line++;
        }
        word->line = line;
    }
    qsort(words->words, words->count, sizeof(words->words[0]), reading_order);
}

/* Sorts features and removes duplicates; returns their number. */
static uint32_t make_distinct(uint32_t *features, uint32_t count)
{
    uint32_t kept = 0;

    qsort(features, count, sizeof(features[0]), family_feature_order);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || features[i] != features[kept - 1]) {
            features[kept++] = features[i];
        }
    }
    return kept;
}

static bool has_feature(const uint32_t *features, uint32_t count, uint32_t feature)
{
    for (uint32_t i = 0; i < count; i++) {
        if (features[i] == feature) {
            return true;
        }
    }
    return false;
}

void family_page_words_finish(struct family_page_words *words, struct family_sketch *sketch)
{
    uint32_t others[FAMILY_PAGE_WORDS_MAX];
    struct family_words found = {.letterhead_count = 0};
    uint32_t taken = 0;
    uint32_t count = 0;

    if (sketch->count == 0 || words->count > FAMILY_PAGE_WORDS_MAX) {
        return;
    }
    sort_words(words);
    for (uint32_t i = 0; i < words->count; i++) {
        uint32_t feature = words->words[i].feature;

        if (feature == 0) {
            continue;
        }
        if (taken < FAMILY_LETTERHEAD_WORDS_MAX) {
            found.letterhead[taken++] = feature;
        } else if (!has_feature(found.letterhead, taken, feature)) {
            others[count++] = (feature & ~FEATURE_KIND_MASK) | (uint32_t)FAMILY_SECTION_BODY;
        }
    }
    found.letterhead_count = make_distinct(found.letterhead, taken);
    count = make_distinct(others, count);
    found.body_count = count < FAMILY_BODY_WORDS_MAX ? count : FAMILY_BODY_WORDS_MAX;
    if (found.letterhead_count < FAMILY_LETTERHEAD_WORDS_MIN ||
        found.body_count < FAMILY_BODY_WORDS_MIN) {
        return;
    }
    memcpy(found.body, others, found.body_count * sizeof(others[0]));
    sketch->words = found;
}
