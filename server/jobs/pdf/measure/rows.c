/*
 * rows.c: words side by side form a row, and words of a row without a wide gap between them form a
 * cell. Rows come from one sweep down the page: a word joins the preceding row if they share at
 * least half of the lower one's height, so that raised and small words stay in their row.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

/* A gap is wide above this share of the row's height, and above GAP_POINTS_MIN. */
#define GAP_HEIGHT_SHARE 0.75
#define GAP_POINTS_MIN 5.0
#define ROW_SHARED_HEIGHT_MIN 0.5

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
    return fmax(GAP_HEIGHT_SHARE * (row->y2 - row->y1), GAP_POINTS_MIN);
}

size_t rows_split(const struct row *row, struct cell *cells)
{
    double gap = rows_wide_gap(row);
    size_t count = 0;

    for (size_t i = 0; i < row->count; i++) {
        const struct word *word = row->words[i];
        struct cell *cell = count == 0 ? NULL : &cells[count - 1];

        if (cell == NULL || word->box.x1 - cell->x2 > gap) {
            cells[count++] = (struct cell){
                .x1 = word->box.x1,
                .x2 = word->box.x2,
                .words = 1,
                .has_digit = word->has_digit,
            };
        } else {
            cell->x2 = fmax(cell->x2, word->box.x2);
            cell->words++;
            cell->has_digit = cell->has_digit || word->has_digit;
        }
    }
    return count;
}
