/*
 * family.c: see family.h.
 */
#include "server/jobs/pdf/measure/family.h"

#include <math.h>
#include <stdio.h>
#include <utf8proc.h>

/* The zones where places are features, as shares of the page's height. */
#define TOP_SHARE 0.35
#define BOTTOM_SHARE 0.10
/* Cells, in points. */
#define WORD_CELL_WIDTH 6
#define WORD_CELL_HEIGHT 8
#define RULING_CELL 4
/* Maximum number of code points after NFKC of FAMILY_WORD_GLYPHS_MAX code points. */
#define FOLDED_MAX (18 * FAMILY_WORD_GLYPHS_MAX)
/* A place is from -10^7 to 10^7 points; anything farther is not on a page. */
#define PLACE_MAX 1e7
/* Maximum size of a folded word, of its place, and of other features. */
#define WORD_BYTES_MAX (4 * FOLDED_MAX)
#define PLACE_BYTES_MAX 64
#define FEATURE_BYTES_MAX (FAMILY_FONT_BYTES_MAX + 64)
#define SUBSET_PREFIX_BYTES 7

/* Returns the number of the cell to which a place is rounded. */
static long cell_of(double place, long cell)
{
    double bounded = fmin(fmax(place, -PLACE_MAX), PLACE_MAX);
    long hundredths = lround(bounded * 100);
    long size = 100 * cell;
    long shifted = hundredths + size / 2;

    /* Towards minus infinity. */
    return shifted / size - (shifted % size < 0 ? 1 : 0);
}

static bool is_in_zone(double y, struct pdf_page_size page)
{
    return y < TOP_SHARE * page.height || y >= (1 - BOTTOM_SHARE) * page.height;
}

static void add_text(struct family_sketch_builder *builder, enum family_feature_kind kind,
                     const char *text, int size)
{
    if (size > 0) {
        family_sketch_add(builder, kind, slice_of(text, (size_t)size));
    }
}

void family_add_page(struct family_sketch_builder *builder, struct pdf_page_size page)
{
    char text[FEATURE_BYTES_MAX];

    add_text(
        builder, FAMILY_FEATURE_PAGE, text,
        snprintf(text, sizeof(text), "p%ld|%ld", cell_of(page.width, 1), cell_of(page.height, 1)));
}

/* ---- words ---- */

/* Glyphs between white space. */
struct run {
    utf8proc_int32_t code_points[FAMILY_WORD_GLYPHS_MAX];
    size_t count; /* number of all glyphs, including those that did not fit */
    double x1; /* x of the upper left corner */
    double y1;
    double y2; /* y of the lower edge */
};

static void run_add(struct run *run, const struct glyph *glyph)
{
    if (run->count < FAMILY_WORD_GLYPHS_MAX) {
        run->code_points[run->count] = (utf8proc_int32_t)glyph->code_point;
    }
    run->x1 = run->count == 0 ? glyph->box.x1 : fmin(run->x1, glyph->box.x1);
    run->y1 = run->count == 0 ? glyph->box.y1 : fmin(run->y1, glyph->box.y1);
    run->y2 = run->count == 0 ? glyph->box.y2 : fmax(run->y2, glyph->box.y2);
    run->count++;
}

/* Applies NFKC and case folding; returns the number of code points, 0 if there is none or no room. */
static size_t fold(const struct run *run, utf8proc_int32_t folded[FOLDED_MAX])
{
    const utf8proc_option_t compose = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_uint8_t utf8[4 * FAMILY_WORD_GLYPHS_MAX];
    utf8proc_ssize_t size = 0;
    utf8proc_ssize_t count = 0;

    for (size_t i = 0; i < run->count; i++) {
        size += utf8proc_encode_char(run->code_points[i], utf8 + size);
    }
    count = utf8proc_decompose(utf8, size, folded, FOLDED_MAX,
                               compose | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
    if (count < 0 || count > FOLDED_MAX) {
        return 0;
    }
    count = utf8proc_normalize_utf32(folded, count, compose);
    return count > 0 ? (size_t)count : 0;
}

static bool is_punctuation(utf8proc_int32_t code_point)
{
    return code_point > 0 && code_point < 0x80 && strchr(".,:;()[]*-|/\"'", code_point) != NULL;
}

static bool has_digit(const utf8proc_int32_t *code_points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (utf8proc_category(code_points[i]) == UTF8PROC_CATEGORY_ND) {
            return true;
        }
    }
    return false;
}

/* Writes the folded word without the punctuation at its ends; returns its bytes, 0 if it has digits or is too short. */
static size_t fold_word(const struct run *run, utf8proc_uint8_t text[WORD_BYTES_MAX])
{
    utf8proc_int32_t folded[FOLDED_MAX];
    size_t count = run->count <= FAMILY_WORD_GLYPHS_MAX ? fold(run, folded) : 0;
    size_t first = 0;
    size_t size = 0;

    while (first < count && is_punctuation(folded[first])) {
        first++;
    }
    while (count > first && is_punctuation(folded[count - 1])) {
        count--;
    }
    if (count < first + 2 || has_digit(folded + first, count - first)) {
        return 0;
    }
    for (size_t i = first; i < count; i++) {
        size += (size_t)utf8proc_encode_char(folded[i], text + size);
    }
    return size;
}

static void add_word(struct family_sketch_builder *builder, const struct run *run,
                     struct slice folded)
{
    char text[1 + WORD_BYTES_MAX + PLACE_BYTES_MAX] = "t";
    size_t size = 1 + folded.size;

    memcpy(text + 1, folded.data, folded.size);
    size += (size_t)snprintf(text + size, PLACE_BYTES_MAX, "|%ld|%ld",
                             cell_of(run->x1, WORD_CELL_WIDTH), cell_of(run->y1, WORD_CELL_HEIGHT));
    family_sketch_add(builder, FAMILY_FEATURE_WORD, slice_of(text, size));
}

static void end_run(struct family_sketch_builder *builder, struct family_page_words *words,
                    struct run *run, struct pdf_page_size page)
{
    utf8proc_uint8_t text[WORD_BYTES_MAX];
    struct slice folded = {text, 0};

    if (run->count == 0) {
        return;
    }
    folded.size = fold_word(run, text);
    if (folded.size > 0 && is_in_zone(run->y1, page)) {
        add_word(builder, run, folded);
    }
    family_page_words_add(words, &(struct family_word_place){run->x1, run->y1, run->y2}, folded);
    run->count = 0;
}

void family_add_words(struct family_sketch_builder *builder, struct family_page_words *words,
                      struct glyph_list glyphs, struct pdf_page_size page)
{
    struct run run = {.count = 0};

    for (size_t i = 0; i < glyphs.count; i++) {
        const struct glyph *glyph = &glyphs.items[i];

        if (parts_is_space(glyph->code_point)) {
            end_run(builder, words, &run, page);
        } else if (isfinite(glyph->box.x1) && isfinite(glyph->box.y1) && isfinite(glyph->box.y2)) {
            run_add(&run, glyph);
        }
    }
    end_run(builder, words, &run, page);
}

/* ---- rulings and fonts ---- */

void family_add_ruling(struct family_sketch_builder *builder, const struct pdf_box *ruling)
{
    long left = cell_of((double)ruling->x1, RULING_CELL);
    long right = cell_of((double)ruling->x2, RULING_CELL);
    char text[FEATURE_BYTES_MAX];

    if (ruling->y1 < ruling->y2) {
        add_text(builder, FAMILY_FEATURE_VERTICAL, text,
                 snprintf(text, sizeof(text), "v%ld", left));
    } else {
        add_text(builder, FAMILY_FEATURE_HORIZONTAL, text,
                 snprintf(text, sizeof(text), "h%ld|%ld", left, right));
    }
}

static bool has_subset_prefix(struct slice name)
{
    if (name.size < SUBSET_PREFIX_BYTES || name.data[SUBSET_PREFIX_BYTES - 1] != '+') {
        return false;
    }
    for (size_t i = 0; i < SUBSET_PREFIX_BYTES - 1; i++) {
        if (name.data[i] < 'A' || name.data[i] > 'Z') {
            return false;
        }
    }
    return true;
}

void family_add_font(struct family_sketch_builder *builder, struct slice name, double size)
{
    struct slice rest = has_subset_prefix(name) ? slice_after(name, SUBSET_PREFIX_BYTES) : name;
    char text[FEATURE_BYTES_MAX];

    if (rest.size > FAMILY_FONT_BYTES_MAX) {
        rest.size = FAMILY_FONT_BYTES_MAX;
    }
    if (isfinite(size)) {
        add_text(builder, FAMILY_FEATURE_FONT, text,
                 snprintf(text, sizeof(text), "f%.*s/%ld", (int)rest.size, (const char *)rest.data,
                          cell_of(size * 10, 1)));
    }
}
