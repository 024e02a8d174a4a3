/*
 * coverage.c: the area of a page that its glyphs cover, in cells of one point, so that overlapping
 * boxes count once. COVERAGE_SIDE_MAX bounds the memory (16 MB) and, with the number of glyphs, the
 * work.
 */
#include "server/jobs/pdf/measure/parts.h"

#include "store/base/assert.h"

#include <math.h>

#define NO_EDGE (-1)

/* A box in whole cells, clipped to the page. */
struct cells {
    int x1;
    int y1;
    int x2;
    int y2;
};

/* Rounds a length to whole points, clamped to the bitmap; glyphs may be at any place. */
static int round_within(double value, int end)
{
    double rounded = floor(value + 0.5);

    if (!(rounded > 0)) {
        return 0;
    }
    return rounded < end ? (int)rounded : end;
}

/* Returns the cells of a glyph's box; none if it is outside of the page. */
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

/* The top or bottom of a box, in a sweep down the page. */
struct edge {
    int32_t x1;
    int32_t x2;
    int32_t change; /* 1 at the top, -1 at the bottom */
    int32_t next; /* next edge of the same line; NO_EDGE: end of the list */
};

/* A sweep down the page, line by line. Painting each box would take too long, since each glyph may
 * be as large as the page. */
struct sweep {
    struct edge *edges;
    int32_t *firsts; /* first edge of each line */
    int32_t *
        changes; /* difference of the number of covering boxes between each cell of the line and its left neighbour */
    uint8_t *bitmap;
    int width;
    int height;
};

static bool init_sweep(struct sweep *sweep, struct arena *arena, size_t glyphs)
{
    size_t height = (size_t)sweep->height;
    size_t width = (size_t)sweep->width;

    sweep->edges = arena_calloc(arena, 2 * glyphs + 1, sizeof *sweep->edges);
    sweep->firsts = arena_calloc(arena, height + 1, sizeof *sweep->firsts);
    sweep->changes = arena_calloc(arena, width + 1, sizeof *sweep->changes);
    sweep->bitmap = arena_calloc(arena, height, width);
    if (sweep->edges == NULL || sweep->firsts == NULL || sweep->changes == NULL ||
        sweep->bitmap == NULL) {
        return false;
    }
    for (size_t y = 0; y <= height; y++) {
        sweep->firsts[y] = NO_EDGE;
    }
    return true;
}

static void add_edge(struct sweep *sweep, int32_t index, const struct cells *cells, bool begins)
{
    int32_t *first = &sweep->firsts[begins ? cells->y1 : cells->y2];

    sweep->edges[index] =
        (struct edge){.x1 = cells->x1, .x2 = cells->x2, .change = begins ? 1 : -1, .next = *first};
    *first = index;
}

static uint64_t sum_line(const int32_t *changes, uint8_t *line, int width)
{
    int32_t over = 0;
    uint64_t covered = 0;

    for (int x = 0; x < width; x++) {
        over += changes[x];
        line[x] = over > 0;
        covered += line[x];
    }
    return covered;
}

/* A line without an edge equals the one above it. */
static uint64_t sweep_lines(struct sweep *sweep)
{
    uint64_t covered = 0;
    uint64_t of_line = 0;

    for (int y = 0; y < sweep->height; y++) {
        uint8_t *line = sweep->bitmap + (size_t)y * (size_t)sweep->width;

        for (int32_t i = sweep->firsts[y]; i != NO_EDGE; i = sweep->edges[i].next) {
            sweep->changes[sweep->edges[i].x1] += sweep->edges[i].change;
            sweep->changes[sweep->edges[i].x2] -= sweep->edges[i].change;
        }
        if (sweep->firsts[y] != NO_EDGE) {
            of_line = sum_line(sweep->changes, line, sweep->width);
        } else if (of_line > 0) {
            memcpy(line, line - sweep->width, (size_t)sweep->width);
        }
        covered += of_line;
    }
    return covered;
}

bool parts_measure_coverage(struct arena *arena, struct glyph_list glyphs,
                            struct pdf_page_size page, struct coverage *ret_coverage)
{
    struct sweep sweep = {0};
    int32_t edges = 0;

    if (page.width > COVERAGE_SIDE_MAX || page.height > COVERAGE_SIDE_MAX || !(page.width > 0) ||
        !(page.height > 0)) {
        *ret_coverage = (struct coverage){0};
        return true;
    }
    /* An arena cannot hold more glyphs. */
    ASSERT(glyphs.count <= INT32_MAX / 2);
    sweep.width = (int)ceil(page.width);
    sweep.height = (int)ceil(page.height);
    if (!init_sweep(&sweep, arena, glyphs.count)) {
        return false;
    }
    for (size_t i = 0; i < glyphs.count; i++) {
        const struct glyph *glyph = &glyphs.items[i];

        if (!parts_is_space(glyph->code_point)) {
            struct cells cells = find_cells(&glyph->box, sweep.width, sweep.height);

            add_edge(&sweep, edges++, &cells, true);
            add_edge(&sweep, edges++, &cells, false);
        }
    }
    *ret_coverage = (struct coverage){
        .covered = sweep_lines(&sweep),
        .bitmap = sweep.bitmap,
        .width = sweep.width,
        .height = sweep.height,
    };
    return true;
}
