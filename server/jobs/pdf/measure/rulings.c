/*
 * rulings.c: converts drawn lines and filled boxes to rulings. A stroked segment along an axis is
 * one ruling, a thin filled polygon is one along its middle, a thick one yields its edges. Pieces
 * at one place are merged. Everything is clipped to the page first.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

/* Allowed deviation from an axis. */
#define LEAN_MAX 0.7
#define SEGMENT_LENGTH_MIN 4.0
#define THIN_MAX 3.0
/* A box with more than this share of the page's width and height is its background or frame. */
#define PAGE_SHARE_MAX 0.97
#define SAME_PLACE_MAX 1.5
#define MERGE_GAP_MAX 3.0
#define PIECES_CAPACITY_FIRST 256

void rulings_init(struct rulings *rulings, struct arena *arena, struct pdf_page_size page)
{
    *rulings = (struct rulings){.arena = arena, .page = page, .cut = PDF_CUT_NONE};
}

static bool grow_list(struct rulings *rulings, struct ruling_list *list)
{
    size_t capacity = list->capacity == 0 ? PIECES_CAPACITY_FIRST : list->capacity * 2;
    struct ruling *items = NULL;

    if (list->count >= RULING_PIECES_MAX) {
        rulings->cut = PDF_CUT_RULINGS;
        return false;
    }
    items = arena_alloc(rulings->arena, capacity * sizeof *items);
    if (items == NULL) {
        rulings->cut = PDF_CUT_LIMIT;
        return false;
    }
    if (list->count > 0) {
        memcpy(items, list->items, list->count * sizeof *items);
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

/* Adds the part of a piece that is on the page; `end` is the page's length along it, `side` across
 * it. */
static void add_piece(struct rulings *rulings, bool is_across, double at, double from, double to)
{
    struct ruling_list *list = is_across ? &rulings->across : &rulings->down;
    double end = is_across ? rulings->page.width : rulings->page.height;
    double side = is_across ? rulings->page.height : rulings->page.width;
    struct ruling piece = {
        .at = at, .from = fmax(fmin(from, to), 0), .to = fmin(fmax(from, to), end)};

    /* Written so that NaN is not accepted. */
    if (!(at >= -SAME_PLACE_MAX && at <= side + SAME_PLACE_MAX && piece.from < piece.to)) {
        return;
    }
    if (list->count >= RULING_PIECES_MAX) {
        rulings->cut = PDF_CUT_RULINGS;
    } else if (list->count < list->capacity || grow_list(rulings, list)) {
        list->items[list->count++] = piece;
    }
}

static void add_segment(struct rulings *rulings, const struct path_point *a,
                        const struct path_point *b)
{
    double width = fabs(b->x - a->x);
    double height = fabs(b->y - a->y);

    if (height <= LEAN_MAX && width >= SEGMENT_LENGTH_MIN) {
        add_piece(rulings, true, (a->y + b->y) / 2, a->x, b->x);
    } else if (width <= LEAN_MAX && height >= SEGMENT_LENGTH_MIN) {
        add_piece(rulings, false, (a->x + b->x) / 2, a->y, b->y);
    }
}

static struct area find_extents(const struct path_part *part)
{
    struct area box = {part->points[0].x, part->points[0].y, part->points[0].x, part->points[0].y};

    for (size_t i = 1; i < part->count; i++) {
        box.x1 = fmin(box.x1, part->points[i].x);
        box.y1 = fmin(box.y1, part->points[i].y);
        box.x2 = fmax(box.x2, part->points[i].x);
        box.y2 = fmax(box.y2, part->points[i].y);
    }
    return box;
}

static bool is_around_page(const struct rulings *rulings, const struct area *box)
{
    return box->x2 - box->x1 > PAGE_SHARE_MAX * rulings->page.width &&
           box->y2 - box->y1 > PAGE_SHARE_MAX * rulings->page.height;
}

static void add_edges(struct rulings *rulings, const struct path_part *part, bool closed)
{
    for (size_t i = 1; i < part->count; i++) {
        if (part->points[i].straight) {
            add_segment(rulings, &part->points[i - 1], &part->points[i]);
        }
    }
    if (closed && part->count > 2) {
        add_segment(rulings, &part->points[part->count - 1], &part->points[0]);
    }
}

void rulings_add_stroke(struct rulings *rulings, const struct path_part *part)
{
    struct area box;

    if (part->count < 2) {
        return;
    }
    box = find_extents(part);
    if (is_around_page(rulings, &box)) {
        rulings->ignored++;
        return;
    }
    add_edges(rulings, part, part->closed);
}

/* Returns whether all edges, including the closing one, are straight and along an axis. */
static bool is_axis_parallel(const struct path_part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        const struct path_point *a = &part->points[i == 0 ? part->count - 1 : i - 1];
        const struct path_point *b = &part->points[i];

        if (i > 0 && !b->straight) {
            return false;
        }
        if (!(fabs(a->x - b->x) <= LEAN_MAX || fabs(a->y - b->y) <= LEAN_MAX)) {
            return false;
        }
    }
    return true;
}

void rulings_add_fill(struct rulings *rulings, const struct path_part *part)
{
    struct area box;
    double width = 0;
    double height = 0;

    if (part->count < 3 || !is_axis_parallel(part)) {
        return;
    }
    box = find_extents(part);
    width = box.x2 - box.x1;
    height = box.y2 - box.y1;
    if (is_around_page(rulings, &box)) {
        rulings->ignored++;
        return;
    }
    if (width > THIN_MAX && height > THIN_MAX) {
        add_edges(rulings, part, true);
        return;
    }
    /* A dot may be part of a dotted line in both directions; a single dot is dropped when pieces
     * are merged. */
    if (height <= THIN_MAX) {
        add_piece(rulings, true, (box.y1 + box.y2) / 2, box.x1, box.x2);
    }
    if (width <= THIN_MAX) {
        add_piece(rulings, false, (box.x1 + box.x2) / 2, box.y1, box.y2);
    }
}

static int compare_places(const void *left, const void *right)
{
    const struct ruling *a = left;
    const struct ruling *b = right;

    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return (a->to > b->to) - (a->to < b->to);
}

static int compare_starts(const void *left, const void *right)
{
    const struct ruling *a = left;
    const struct ruling *b = right;

    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return compare_places(left, right);
}

/* Merges pieces at one place, in place; returns how many remain. The place of a result is the mean
 * of its pieces', weighted by length. */
static size_t merge_place(struct ruling *pieces, size_t count, struct ruling *merged)
{
    size_t merged_count = 0;
    double weight = 0;

    qsort(pieces, count, sizeof *pieces, compare_starts);
    for (size_t i = 0; i < count; i++) {
        struct ruling piece = pieces[i];
        double length = piece.to - piece.from;
        struct ruling *last = merged_count == 0 ? NULL : &merged[merged_count - 1];

        if (last == NULL || piece.from - last->to > MERGE_GAP_MAX) {
            merged[merged_count++] = piece;
            weight = length;
        } else {
            last->at = (last->at * weight + piece.at * length) / (weight + length);
            last->to = fmax(last->to, piece.to);
            weight += length;
        }
    }
    return merged_count;
}

/* Drops rulings that are still shorter than a segment. */
static void drop_short(struct ruling_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].to - list->items[i].from >= SEGMENT_LENGTH_MIN) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

static void merge_list(struct ruling_list *list)
{
    size_t merged_count = 0;
    size_t first = 0;

    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof *list->items, compare_places);
    for (size_t i = 1; i <= list->count; i++) {
        if (i == list->count || list->items[i].at - list->items[first].at > SAME_PLACE_MAX) {
            /* The merged part never overtakes the pieces it comes from. */
            merged_count += merge_place(list->items + first, i - first, list->items + merged_count);
            first = i;
        }
    }
    list->count = merged_count;
    drop_short(list);
    qsort(list->items, list->count, sizeof *list->items, compare_places);
}

void rulings_merge(struct rulings *rulings, size_t rulings_max)
{
    if (rulings->cut != PDF_CUT_NONE) {
        return;
    }
    merge_list(&rulings->across);
    merge_list(&rulings->down);
    if (rulings->across.count > rulings_max || rulings->down.count > rulings_max) {
        rulings->cut = PDF_CUT_RULINGS;
    }
}
