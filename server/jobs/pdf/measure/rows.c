/*
 * rows.c: words side by side form a row, and words of a row without a wide gap between them form a
 * cell. Rows come from one sweep down the page: a word joins the preceding row if they share at
 * least half of the lower one's height, so that raised and small words stay in their row.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

/* A gap is wide above this share of the row's height, above GAP_POINTS_MIN, and above this share of
 * the mean width of a glyph: in fonts whose glyphs are all of one width, so are spaces. */
#define GAP_HEIGHT_SHARE 0.75
#define GAP_POINTS_MIN 5.0
#define GAP_GLYPH_SHARE 1.3
#define ROW_SHARED_HEIGHT_MIN 0.5
/* The text of a list's item is at most this far from its marker. */
#define MARKER_GAP_HEIGHTS_MAX 4.0

static int compare_places(const void *left, const void *right)
{
    const struct word *a = *(const struct word *const *)left;
    const struct word *b = *(const struct word *const *)right;

    if (a->box.x1 != b->box.x1) {
        return a->box.x1 < b->box.x1 ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static bool shares_height(const struct row *row, const struct word *word)
{
    double shared = fmin(row->y2, word->box.y2) - fmax(row->y1, word->box.y1);
    double lower = fmin(row->y2 - row->y1, word->box.y2 - word->box.y1);

    return shared >= ROW_SHARED_HEIGHT_MIN * lower;
}

static void add_word(struct row *row, const struct word *word)
{
    double count = (double)row->count;

    row->y1 = (row->y1 * count + word->box.y1) / (count + 1);
    row->y2 = (row->y2 * count + word->box.y2) / (count + 1);
    row->count++;
}

size_t rows_find(const struct word **words, size_t count, struct row *rows)
{
    size_t rows_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (rows_count == 0 || !shares_height(&rows[rows_count - 1], words[i])) {
            rows[rows_count++] = (struct row){.words = words + i};
        }
        add_word(&rows[rows_count - 1], words[i]);
    }
    for (size_t i = 0; i < rows_count; i++) {
        qsort(rows[i].words, rows[i].count, sizeof(const struct word *), compare_places);
    }
    return rows_count;
}

double rows_wide_gap(const struct row *row)
{
    double width = 0;
    double glyphs = 0;

    for (size_t i = 0; i < row->count; i++) {
        width += row->words[i]->box.x2 - row->words[i]->box.x1;
        glyphs += (double)row->words[i]->glyphs;
    }
    return fmax(fmax(GAP_HEIGHT_SHARE * (row->y2 - row->y1), GAP_POINTS_MIN),
                GAP_GLYPH_SHARE * width / glyphs);
}

/* Returns whether the cell has only a marker of a list. Except for bullets it must be the first
 * cell of the row: elsewhere it may be a number in parentheses, or a dash in place of a number. */
static bool is_marker(const struct cell *cell, const struct word *word, bool first)
{
    return cell->words == 1 && (word->is_bullet || (first && word->is_marker));
}

size_t rows_split(const struct row *row, struct cell *cells)
{
    double gap = rows_wide_gap(row);
    double marker_gap = MARKER_GAP_HEIGHTS_MAX * (row->y2 - row->y1);
    size_t count = 0;

    for (size_t i = 0; i < row->count; i++) {
        const struct word *word = row->words[i];
        struct cell *cell = count == 0 ? NULL : &cells[count - 1];
        bool marked = cell != NULL && is_marker(cell, row->words[i - 1], count == 1);

        if (cell == NULL || word->box.x1 - cell->x2 > (marked ? marker_gap : gap)) {
            cell = &cells[count++];
            *cell = (struct cell){
                .x1 = word->box.x1, .x2 = word->box.x2, .starts_lower = word->starts_lower};
        }
        cell->x2 = fmax(cell->x2, word->box.x2);
        cell->words++;
        cell->glyphs += word->glyphs;
        cell->number = cell->words == 1 ? word->number : WORD_NO_NUMBER;
        cell->has_digit = !marked ? cell->has_digit || word->has_digit : word->has_digit;
        cell->has_letter = cell->has_letter || word->has_letter;
        cell->is_field = word->is_field;
    }
    return count;
}
