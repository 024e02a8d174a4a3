/*
 * words.c: forms words from glyphs. A word is the text between white space, with the box around its
 * glyphs. Poppler has already put the glyphs of a page into reading order, but it writes no space
 * between some cells of a table: so a word also ends if the next glyph is separated from it.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Glyphs of one word are closer than this share of a glyph's size; a space is wider. */
#define APART_SHARE 0.25
/* Dots in a row that are not part of a word. */
#define LEADER_DOTS_MIN 3
/* The longest marker is "(xviii)" or "12.3.4.". */
#define MARKER_GLYPHS_MAX 7
#define ROMAN_LETTERS_MAX 5
/* A page has a number of at most four digits. */
#define NUMBER_DIGITS_MAX 4

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

static bool is_leader_dot(uint32_t code_point)
{
    return code_point == '.' || code_point == 0xB7 || code_point == 0x2024 || code_point == 0x2026;
}

static bool is_dash(uint32_t code_point)
{
    return code_point == '-' || (code_point >= 0x2010 && code_point <= 0x2015);
}

/* Returns whether a glyph other than a letter or digit starts items of lists. Fonts of symbols have
 * theirs in the private use area. */
static bool is_bullet(uint32_t code_point)
{
    return code_point == '*' || code_point == 0xB7 ||
           (code_point >= 0x2022 && code_point <= 0x2023) || code_point == 0x2043 ||
           (code_point >= 0x2190 && code_point <= 0x21FF) ||
           (code_point >= 0x25A0 && code_point <= 0x27BF) ||
           (code_point >= 0xE000 && code_point <= 0xF8FF);
}

static bool is_roman(uint32_t code_point)
{
    return code_point < 0x80 && strchr("ivxIVX", (int)code_point) != NULL;
}

/* Character classes of the glyphs of a word. */
struct contents {
    uint32_t digits;
    uint32_t letters;
    uint32_t romans; /* number of letters that are Roman digits */
    uint32_t dots;
    uint32_t underscores;
    uint32_t number; /* number formed by its digits */
    uint32_t last;
    bool starts_lower;
};

static void add_code_point(struct contents *contents, uint32_t code_point)
{
    if (g_unichar_isdigit(code_point)) {
        contents->digits++;
        contents->number =
            contents->digits > NUMBER_DIGITS_MAX
                ? 0
                : contents->number * 10 + (uint32_t)g_unichar_digit_value(code_point);
    }
    contents->letters += g_unichar_isalpha(code_point) != 0;
    contents->romans += is_roman(code_point);
    contents->dots += is_leader_dot(code_point);
    contents->underscores += code_point == '_';
    contents->last = code_point;
}

/* Returns whether it is a number or letter with a dot, parenthesis or bracket after it. */
static bool is_ordinal(const struct contents *contents, uint32_t glyphs)
{
    bool short_letters = contents->letters <= 1 || (contents->letters == contents->romans &&
                                                    contents->letters <= ROMAN_LETTERS_MAX);

    return glyphs >= 2 && glyphs <= MARKER_GLYPHS_MAX && contents->digits + contents->letters > 0 &&
           (contents->digits == 0 || contents->letters == 0) && short_letters &&
           (contents->last == '.' || contents->last == ')' || contents->last == ']');
}

static void classify(struct word *word, const struct contents *contents)
{
    word->has_digit = contents->digits > 0;
    word->has_letter = contents->letters > 0;
    word->number = contents->digits == word->glyphs && contents->digits <= NUMBER_DIGITS_MAX
                       ? contents->number
                       : WORD_NO_NUMBER;
    word->starts_lower = contents->starts_lower;
    word->is_leader = contents->dots == word->glyphs;
    word->is_bullet = word->glyphs == 1 && is_bullet(contents->last);
    word->is_marker = word->is_bullet || (word->glyphs == 1 && is_dash(contents->last)) ||
                      is_ordinal(contents, word->glyphs);
    word->is_field = contents->last == ':' || contents->underscores == word->glyphs;
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

/* Returns whether the glyph is separated from the previous one, in any direction. */
static bool is_apart(const struct area *before, const struct area *box)
{
    double size = fmax(before->x2 - before->x1, before->y2 - before->y1);

    return distance(before->x1, before->x2, box->x1, box->x2) > APART_SHARE * size ||
           distance(before->y1, before->y2, box->y1, box->y2) > APART_SHARE * size;
}

/* Returns whether a run of dots begins at the glyph. */
static bool starts_leader(struct glyph_list glyphs, size_t at)
{
    if (glyphs.count - at < LEADER_DOTS_MIN) {
        return false;
    }
    for (size_t i = at; i < at + LEADER_DOTS_MIN; i++) {
        if (!is_leader_dot(glyphs.items[i].code_point)) {
            return false;
        }
    }
    return true;
}

/* The walk over the glyphs of a page. */
struct walk {
    const struct glyph *first; /* first glyph of the current word */
    const struct glyph *before; /* NULL: white space */
    struct contents contents; /* character classes of the current word */
    bool leader; /* the current word is a run of dots */
};

/* Returns whether the glyph is the first one of a word. */
static bool starts_word(struct walk *walk, struct glyph_list glyphs, size_t at)
{
    const struct glyph *glyph = &glyphs.items[at];

    if (walk->before == NULL || is_apart(&walk->before->box, &glyph->box)) {
        walk->leader = starts_leader(glyphs, at);
        return true;
    }
    if (walk->leader == is_leader_dot(glyph->code_point)) {
        return false;
    }
    if (walk->leader) {
        walk->leader = false;
        return true;
    }
    walk->leader = starts_leader(glyphs, at);
    return walk->leader;
}

/* Puts the glyphs into words, which are zeroed; only counts them if `words` is NULL. Glyphs without
 * a place are skipped. */
static size_t walk_glyphs(struct glyph_list glyphs, struct word *words)
{
    size_t count = 0;
    struct walk walk = {0};

    for (size_t i = 0; i < glyphs.count; i++) {
        const struct glyph *glyph = &glyphs.items[i];

        if (parts_is_space(glyph->code_point)) {
            walk.before = NULL;
            continue;
        }
        if (!is_finite(&glyph->box)) {
            continue;
        }
        if (starts_word(&walk, glyphs, i)) {
            walk.first = glyph;
            walk.contents = (struct contents){.starts_lower = g_unichar_islower(glyph->code_point)};
            count++;
        }
        if (words != NULL) {
            add_glyph(&words[count - 1], glyph, walk.first);
            add_code_point(&walk.contents, glyph->code_point);
            classify(&words[count - 1], &walk.contents);
        }
        walk.before = glyph;
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

        if (word->is_leader || (word->glyphs > 1 && word->turned != turned)) {
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
