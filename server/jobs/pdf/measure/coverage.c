/*
 * coverage.c: how much of a page its glyphs cover, counted in cells of one point, so that boxes over
 * each other count once. The bitmap is bounded by COVERAGE_SIDE_MAX: 2 MB.
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

static uint64_t cover(uint8_t *bitmap, int width, const struct cells *cells)
{
    uint64_t covered = 0;

    for (int y = cells->y1; y < cells->y2; y++) {
        uint8_t *line = bitmap + (size_t)y * (size_t)width;

        for (int x = cells->x1; x < cells->x2; x++) {
            covered += line[x] == 0;
            line[x] = 1;
        }
    }
    return covered;
}

bool parts_measure_coverage(struct arena *arena, struct glyph_list glyphs,
                            struct pdf_page_size page, struct coverage *ret_coverage)
{
    struct coverage coverage = {0};
    uint8_t *bitmap = NULL;

    if (page.width > COVERAGE_SIDE_MAX || page.height > COVERAGE_SIDE_MAX || !(page.width > 0) ||
        !(page.height > 0)) {
        *ret_coverage = coverage;
        return true;
    }
    coverage.width = (int)ceil(page.width);
    coverage.height = (int)ceil(page.height);
    bitmap = arena_calloc(arena, (size_t)coverage.height, (size_t)coverage.width);
    if (bitmap == NULL) {
        return false;
    }
    for (size_t i = 0; i < glyphs.count; i++) {
        const struct glyph *glyph = &glyphs.items[i];

        if (!parts_is_space(glyph->code_point)) {
            struct cells cells = find_cells(&glyph->box, coverage.width, coverage.height);

            coverage.covered += cover(bitmap, coverage.width, &cells);
        }
    }
    coverage.bitmap = bitmap;
    *ret_coverage = coverage;
    return true;
}
