/*
 * coverage.c: how much of a page its glyphs cover, counted in cells of one point, so that boxes over
 * each other count once. COVERAGE_SIDE_MAX bounds the memory (5 bytes a cell: 80 MB at most) and,
 * with the number of glyphs, the work.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>

/* A box in whole cells, within the page. */
struct cells {
    int x1;
    int y1;
    int x2;
    int y2;
};

/* A length in whole points, kept within what the bitmap has; glyphs may lie anywhere. */
static int round_within(double value, int end)
{
    double rounded = floor(value + 0.5);

    if (!(rounded > 0)) {
        return 0;
    }
    return rounded < end ? (int)rounded : end;
}

/* The cells that a glyph's box stands for; none where it lies outside. */
static struct cells find_cells(const struct area *box, int width, int height)
{
    double x1 = floor(box->x1 + 0.5);
    double y1 = floor(box->y1 + 0.5);
    struct cells cells = {
        .x1 = round_within(x1, width),
        .y1 = round_within(y1, height),
        .x2 = round_within(fmax(floor(box->x2 + 0.5), x1 + 1), width),
        .y2 = round_within(fmax(floor(box->y2 + 0.5), y1 + 1), height),
    };

    return cells;
}

/* Notes a box by its corners: summed up from above and from the left, they give how many boxes lie over
 * a cell. Glyphs may all be as large as the page, so that painting each would never end. */
static void note_corners(int32_t *corners, size_t stride, const struct cells *cells)
{
    int32_t *top = corners + (size_t)cells->y1 * stride;
    int32_t *bottom = corners + (size_t)cells->y2 * stride;

    top[cells->x1]++;
    top[cells->x2]--;
    bottom[cells->x1]--;
    bottom[cells->x2]++;
}

/* Turns the corners into how many boxes lie over each cell, and those into the bitmap. */
static uint64_t sum_up(int32_t *corners, uint8_t *bitmap, int width, int height)
{
    size_t stride = (size_t)width + 1;
    uint64_t covered = 0;

    for (int y = 0; y < height; y++) {
        int32_t *line = corners + (size_t)y * stride;
        uint8_t *out = bitmap + (size_t)y * (size_t)width;
        int32_t over = 0;

        for (int x = 0; x < width; x++) {
            over += line[x];
            line[x] = over + (y == 0 ? 0 : line[x - (ptrdiff_t)stride]);
            out[x] = line[x] > 0;
            covered += out[x];
        }
    }
    return covered;
}

bool parts_measure_coverage(struct arena *arena, struct glyph_list glyphs,
                            struct pdf_page_size page, struct coverage *ret_coverage)
{
    struct coverage coverage = {0};
    int32_t *corners = NULL;
    uint8_t *bitmap = NULL;
    size_t stride = 0;

    if (page.width > COVERAGE_SIDE_MAX || page.height > COVERAGE_SIDE_MAX || !(page.width > 0) ||
        !(page.height > 0)) {
        *ret_coverage = coverage;
        return true;
    }
    coverage.width = (int)ceil(page.width);
    coverage.height = (int)ceil(page.height);
    stride = (size_t)coverage.width + 1;
    corners = arena_calloc(arena, ((size_t)coverage.height + 1) * stride, sizeof *corners);
    bitmap = arena_calloc(arena, (size_t)coverage.height, (size_t)coverage.width);
    if (corners == NULL || bitmap == NULL) {
        return false;
    }
    for (size_t i = 0; i < glyphs.count; i++) {
        const struct glyph *glyph = &glyphs.items[i];

        if (!parts_is_space(glyph->code_point)) {
            struct cells cells = find_cells(&glyph->box, coverage.width, coverage.height);

            note_corners(corners, stride, &cells);
        }
    }
    coverage.covered = sum_up(corners, bitmap, coverage.width, coverage.height);
    coverage.bitmap = bitmap;
    *ret_coverage = coverage;
    return true;
}
