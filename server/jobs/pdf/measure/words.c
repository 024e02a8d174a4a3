/*
 * words.c: forms words from glyphs. A word is the text between white space, with the box around its
 * glyphs. Poppler has already put the glyphs of a page into reading order, but it writes no space
 * between some cells of a table: so a word also ends if the next glyph is apart from it.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

/* Glyphs of one word are closer than this share of a glyph's size; a space is wider. */
#define APART_SHARE 0.25

bool parts_is_space(uint32_t code_point)
{
    if (code_point < 0x80) {
        return (code_point >= 0x09 && code_point <= 0x0D) ||
               (code_point >= 0x1C && code_point <= 0x20);
    }
    return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 ||
           code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
           code_point == 0x3000;
}

static bool is_finite(const struct area *box)
{
    return isfinite(box->x1) && isfinite(box->y1) && isfinite(box->x2) && isfinite(box->y2);
}

/* Returns whether the step from one glyph's middle to another's is more along y than along x. */
static bool goes_down(const struct area *from, const struct area *to)
{
    return fabs((to->y1 + to->y2) - (from->y1 + from->y2)) >
           fabs((to->x1 + to->x2) - (from->x1 + from->x2));
}

/* Adds a glyph to a word that began with the glyph `first`. */
static void add_glyph(struct word *word, const struct glyph *glyph, const struct glyph *first)
{
    const struct area *box = &glyph->box;

    if (glyph == first) {
        word->box = *box;
    }
    word->box.x1 = fmin(word->box.x1, box->x1);
    word->box.y1 = fmin(word->box.y1, box->y1);
    word->box.x2 = fmax(word->box.x2, box->x2);
    word->box.y2 = fmax(word->box.y2, box->y2);
    word->glyphs++;
    word->turned = goes_down(&first->box, box);
    word->has_digit = word->has_digit || g_unichar_isdigit(glyph->code_point);
}

static int compare_words(const void *left, const void *right)
{
    const struct word *a = left;
    const struct word *b = right;
    int order = compare_doubles(a->middle, b->middle);

    if (order == 0) {
        order = compare_doubles(a->box.x1, b->box.x1);
    }
    if (order == 0) {
        order = compare_doubles(a->box.x2, b->box.x2);
    }
    return order != 0 ? order : compare_doubles(a->box.y1, b->box.y1);
}

static double distance(double from_1, double to_1, double from_2, double to_2)
{
    return fmax(from_2 - to_1, from_1 - to_2);
}

/* Returns whether the glyph is apart from the previous one, in any direction. */
static bool is_apart(const struct area *before, const struct area *box)
{
    double size = fmax(before->x2 - before->x1, before->y2 - before->y1);

    return distance(before->x1, before->x2, box->x1, box->x2) > APART_SHARE * size ||
           distance(before->y1, before->y2, box->y1, box->y2) > APART_SHARE * size;
}

/* Puts the glyphs into words, which are zeroed; only counts them if `words` is NULL. Glyphs without
 * a place are skipped. */
static size_t walk_glyphs(struct glyph_list glyphs, struct word *words)
{
    size_t count = 0;
    const struct glyph *first = NULL;
    const struct glyph *before = NULL;

    for (size_t i = 0; i < glyphs.count; i++) {
        const struct glyph *glyph = &glyphs.items[i];

        if (parts_is_space(glyph->code_point)) {
            before = NULL;
            continue;
        }
        if (!is_finite(&glyph->box)) {
            continue;
        }
        if (before == NULL || is_apart(&before->box, &glyph->box)) {
            first = glyph;
            count++;
        }
        if (words != NULL) {
            add_glyph(&words[count - 1], glyph, first);
        }
        before = glyph;
    }
    return count;
}

enum pdf_cut parts_find_words(struct arena *arena, struct glyph_list glyphs, size_t words_max,
                              struct word_list *ret_words)
{
    size_t count = walk_glyphs(glyphs, NULL);
    struct word *words = NULL;

    if (count > words_max) {
        return PDF_CUT_WORDS;
    }
    words = arena_calloc(arena, count + 1, sizeof *words);
    if (words == NULL) {
        return PDF_CUT_LIMIT;
    }
    walk_glyphs(glyphs, words);
    for (size_t i = 0; i < count; i++) {
        words[i].middle = (words[i].box.y1 + words[i].box.y2) / 2;
    }
    qsort(words, count, sizeof *words, compare_words);
    *ret_words = (struct word_list){.items = words, .count = count};
    return PDF_CUT_NONE;
}

bool words_are_turned(struct word_list words)
{
    size_t turned = 0;
    size_t across = 0;

    for (size_t i = 0; i < words.count; i++) {
        const struct word *word = &words.items[i];

        turned += word->turned;
        across += !word->turned && word->glyphs > 1;
    }
    return turned > across;
}

bool words_pick(struct arena *arena, struct word_list words, bool turned,
                struct word_list *ret_words)
{
    size_t count = 0;
    struct word *picked = arena_calloc(arena, words.count + 1, sizeof *picked);

    if (picked == NULL) {
        return false;
    }
    for (size_t i = 0; i < words.count; i++) {
        const struct word *word = &words.items[i];

        if (word->glyphs > 1 && word->turned != turned) {
            continue;
        }
        picked[count] = *word;
        if (turned) {
            picked[count].box =
                (struct area){word->box.y1, word->box.x1, word->box.y2, word->box.x2};
            picked[count].middle = (word->box.x1 + word->box.x2) / 2;
        }
        count++;
    }
    qsort(picked, count, sizeof *picked, compare_words);
    *ret_words = (struct word_list){.items = picked, .count = count};
    return true;
}
