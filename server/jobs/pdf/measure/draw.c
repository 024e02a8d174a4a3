/*
 * draw.c: a picture of page 1 that explains its measurement: the page in pale colours, the cells
 * that its glyphs cover, its rulings by direction, its tables by kind, and a legend. The colours
 * can be distinguished by colour-blind people (Okabe and Ito's set).
 */
#include "server/jobs/pdf/measure/measure_internal.h"
#include "server/jobs/pdf/measure/tap.h"

#include <math.h>
#include <stdio.h>

/* Small pages are enlarged, at most by this factor. */
#define SCALE_MAX 3.0
/* Height of the legend under the page. */
#define LEGEND_HEIGHT 64
#define LEGEND_TEXT 18.0
/* Width of the legend's entries; on a narrower page they are drawn smaller. */
#define LEGEND_WIDTH 1300.0
#define LABEL_TEXT 17.0
/* Opacity of the white layer over the page. */
#define PALE_ALPHA 0.55

struct colour {
    double red;
    double green;
    double blue;
};

static const struct colour coverage_colour = {0.34, 0.71, 0.91};
static const struct colour across_colour = {0.84, 0.37, 0.00};
static const struct colour down_colour = {0.00, 0.45, 0.70};
static const struct colour ink_colour = {0.15, 0.15, 0.15};

struct canvas {
    cairo_surface_t *surface;
    cairo_t *cairo;
    double scale; /* factor from points to pixels */
    int width;
    int height; /* height of the page; the legend is below it */
};

static struct colour colour_of(enum pdf_table_kind kind)
{
    switch (kind) {
    case PDF_TABLE_LATTICE:
        return (struct colour){0.00, 0.62, 0.45};
    case PDF_TABLE_RULES:
        return (struct colour){0.60, 0.20, 0.55};
    case PDF_TABLE_TEXT:
        return (struct colour){0.72, 0.53, 0.00};
    }
    return ink_colour;
}

static void use_colour(const struct canvas *canvas, struct colour colour, double alpha)
{
    cairo_set_source_rgba(canvas->cairo, colour.red, colour.green, colour.blue, alpha);
}

static bool init_canvas(struct canvas *canvas, struct pdf_page_size page)
{
    double side = PDF_PICTURE_SIDE_MAX;

    if (!(page.width > 0) || !(page.height > 0)) {
        return false;
    }
    canvas->scale = fmin(side / page.width, (side - LEGEND_HEIGHT) / page.height);
    canvas->scale = fmin(canvas->scale, SCALE_MAX);
    canvas->width = (int)fmax(floor(page.width * canvas->scale), 1);
    canvas->height = (int)fmax(floor(page.height * canvas->scale), 1);
    canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, canvas->width,
                                                 canvas->height + LEGEND_HEIGHT);
    canvas->cairo = cairo_create(canvas->surface);
    use_colour(canvas, (struct colour){1, 1, 1}, 1);
    cairo_paint(canvas->cairo);
    return cairo_status(canvas->cairo) == CAIRO_STATUS_SUCCESS;
}

static void deinit_canvas(struct canvas *canvas)
{
    if (canvas->cairo != NULL) {
        cairo_destroy(canvas->cairo);
        cairo_surface_destroy(canvas->surface);
    }
}

static void clip_to_page(const struct canvas *canvas)
{
    cairo_rectangle(canvas->cairo, 0, 0, canvas->width, canvas->height);
    cairo_clip(canvas->cairo);
}

/* Draws the page, without its largest images, under a white layer. */
static void draw_page(const struct canvas *canvas, PopplerPage *page)
{
    struct tap tap = {.mode = TAP_DRAW};

    cairo_save(canvas->cairo);
    clip_to_page(canvas);
    cairo_scale(canvas->cairo, canvas->scale, canvas->scale);
    tap_start(&tap);
    poppler_page_render(page, canvas->cairo);
    tap_stop(&tap);
    cairo_restore(canvas->cairo);
    use_colour(canvas, (struct colour){1, 1, 1}, PALE_ALPHA);
    cairo_paint(canvas->cairo);
}

static void draw_coverage(const struct canvas *canvas, const struct coverage *coverage)
{
    cairo_surface_t *mask = NULL;
    cairo_pattern_t *pattern = NULL;
    unsigned char *pixels = NULL;
    int stride = 0;

    if (coverage->bitmap == NULL) {
        return;
    }
    mask = cairo_image_surface_create(CAIRO_FORMAT_A8, coverage->width, coverage->height);
    pixels = cairo_image_surface_get_data(mask);
    stride = cairo_image_surface_get_stride(mask);
    for (int y = 0; pixels != NULL && y < coverage->height; y++) {
        for (int x = 0; x < coverage->width; x++) {
            size_t cell = (size_t)y * (size_t)coverage->width + (size_t)x;

            pixels[(ptrdiff_t)y * stride + x] = coverage->bitmap[cell] != 0 ? 255 : 0;
        }
    }
    cairo_surface_mark_dirty(mask);
    pattern = cairo_pattern_create_for_surface(mask);
    cairo_pattern_set_filter(pattern, CAIRO_FILTER_NEAREST);
    cairo_save(canvas->cairo);
    cairo_scale(canvas->cairo, canvas->scale, canvas->scale);
    use_colour(canvas, coverage_colour, 0.3);
    cairo_mask(canvas->cairo, pattern);
    cairo_restore(canvas->cairo);
    cairo_pattern_destroy(pattern);
    cairo_surface_destroy(mask);
}

static void draw_rulings(const struct canvas *canvas, const struct pdf_explanation *explanation)
{
    cairo_set_line_width(canvas->cairo, 2);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    for (uint32_t i = 0; i < explanation->ruling_count; i++) {
        const struct pdf_box *box = &explanation->rulings[i];
        double width = (double)box->x2 - (double)box->x1;
        double height = (double)box->y2 - (double)box->y1;

        use_colour(canvas, height <= width ? across_colour : down_colour, 0.85);
        cairo_move_to(canvas->cairo, (double)box->x1 * canvas->scale,
                      (double)box->y1 * canvas->scale);
        cairo_line_to(canvas->cairo, (double)box->x2 * canvas->scale,
                      (double)box->y2 * canvas->scale);
        cairo_stroke(canvas->cairo);
    }
}

/* A place for a label: its upper left or upper right corner. */
struct anchor {
    double x;
    double y;
    bool right;
};

/* Draws a text on a coloured plate, clamped to the page. */
static void draw_label(const struct canvas *canvas, struct colour colour, struct anchor anchor,
                       const char *text)
{
    cairo_text_extents_t extents;
    double width = 0;
    double height = LABEL_TEXT + 7;
    double x = 0;
    double y = 0;

    cairo_set_font_size(canvas->cairo, LABEL_TEXT);
    cairo_text_extents(canvas->cairo, text, &extents);
    width = extents.x_advance + 12;
    x = fmax(fmin(anchor.right ? anchor.x - width : anchor.x, canvas->width - width), 0);
    y = fmax(fmin(anchor.y, canvas->height - height), 0);
    use_colour(canvas, colour, 0.95);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_fill(canvas->cairo);
    use_colour(canvas, (struct colour){1, 1, 1}, 1);
    cairo_move_to(canvas->cairo, x + 6, y + LABEL_TEXT);
    cairo_show_text(canvas->cairo, text);
}

static void draw_table(const struct canvas *canvas, const struct pdf_table *table)
{
    static const double dashes[] = {10, 7};
    struct colour colour = colour_of(table->kind);
    double x = (double)table->box.x1 * canvas->scale;
    double y = (double)table->box.y1 * canvas->scale;
    double width = ((double)table->box.x2 - (double)table->box.x1) * canvas->scale;
    double height = ((double)table->box.y2 - (double)table->box.y1) * canvas->scale;
    struct anchor anchor = {0};
    char label[96];

    cairo_rectangle(canvas->cairo, x, y, width, height);
    use_colour(canvas, colour, table->counted ? 0.1 : 0.0);
    cairo_fill_preserve(canvas->cairo);
    use_colour(canvas, colour, table->counted ? 1 : 0.8);
    cairo_set_line_width(canvas->cairo, table->counted ? 4 : 2.5);
    cairo_set_dash(canvas->cairo, dashes, table->counted ? 0 : 2, 0);
    cairo_stroke(canvas->cairo);
    cairo_set_dash(canvas->cairo, dashes, 0, 0);
    (void)snprintf(label, sizeof label, "%s%s: %u rows, %u cells", pdf_table_kind_name(table->kind),
                   table->counted ? "" : " (set aside)", table->rows, table->cells);
    /* Tables that were replaced often share the box of a counted one, and of each other. */
    anchor.right = !table->counted && table->kind == PDF_TABLE_RULES;
    anchor.x = anchor.right ? x + width : x;
    anchor.y = table->counted ? y - LABEL_TEXT - 8 : y + height + 1;
    draw_label(canvas, colour, anchor, label);
}

static void draw_tables(const struct canvas *canvas, const struct pdf_explanation *explanation)
{
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        if (!explanation->tables[i].counted) {
            draw_table(canvas, &explanation->tables[i]);
        }
    }
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        if (explanation->tables[i].counted) {
            draw_table(canvas, &explanation->tables[i]);
        }
    }
}

/* Draws one entry of the legend; returns where the next one starts. Without a colour it is only
 * text. */
static double draw_entry(const struct canvas *canvas, const struct colour *colour, double x,
                         const char *text)
{
    cairo_text_extents_t extents;

    if (colour != NULL) {
        use_colour(canvas, *colour, 1);
        cairo_rectangle(canvas->cairo, x, -8, 26, 16);
        cairo_fill(canvas->cairo);
        x += 34;
    }
    use_colour(canvas, ink_colour, 1);
    cairo_move_to(canvas->cairo, x, LEGEND_TEXT / 3);
    cairo_show_text(canvas->cairo, text);
    cairo_text_extents(canvas->cairo, text, &extents);
    return x + extents.x_advance + 30;
}

static void draw_legend(const struct canvas *canvas, const struct coverage *coverage,
                        const struct pdf_explanation *explanation)
{
    static const enum pdf_table_kind kinds[] = {PDF_TABLE_LATTICE, PDF_TABLE_RULES, PDF_TABLE_TEXT};
    double x = 16;
    double cells = (double)coverage->width * coverage->height;
    double fit = fmin(1, canvas->width / LEGEND_WIDTH);
    char text[96];

    use_colour(canvas, (struct colour){0.95, 0.95, 0.95}, 1);
    cairo_rectangle(canvas->cairo, 0, canvas->height, canvas->width, LEGEND_HEIGHT);
    cairo_fill(canvas->cairo);
    cairo_translate(canvas->cairo, 0, canvas->height + LEGEND_HEIGHT / 2.0);
    cairo_scale(canvas->cairo, fit, fit);
    cairo_set_font_size(canvas->cairo, LEGEND_TEXT);
    (void)snprintf(text, sizeof text, "text %.1f %%",
                   cells > 0 ? (double)coverage->covered / cells * 100 : 0.0);
    x = draw_entry(canvas, &coverage_colour, x, text);
    x = draw_entry(canvas, &across_colour, x, "across");
    x = draw_entry(canvas, &down_colour, x, "down");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct colour colour = colour_of(kinds[i]);

        (void)snprintf(text, sizeof text, "%s table", pdf_table_kind_name(kinds[i]));
        x = draw_entry(canvas, &colour, x, text);
    }
    (void)snprintf(text, sizeof text, "%u words, %u path operations", explanation->words,
                   explanation->path_operations);
    draw_entry(canvas, NULL, x, text);
}

static cairo_status_t append_png(void *closure, const unsigned char *data, unsigned int length)
{
    struct buffer *png = closure;

    buffer_append(png, slice_of(data, length));
    return buffer_ok(png) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

static bool write_png(struct measure_document *document, const struct canvas *canvas,
                      struct slice *ret_png)
{
    struct buffer png;

    buffer_init(&png, &document->arena, (size_t)1 << 20);
    if (cairo_status(canvas->cairo) != CAIRO_STATUS_SUCCESS ||
        cairo_surface_write_to_png_stream(canvas->surface, append_png, &png) !=
            CAIRO_STATUS_SUCCESS) {
        return false;
    }
    *ret_png = buffer_slice(&png);
    return true;
}

bool measure_draw(struct measure_document *document, const struct pdf_explanation *explanation,
                  struct slice *ret_png)
{
    struct canvas canvas = {0};
    struct coverage coverage = {0};
    bool ok = false;
    PopplerPage *page = document_first_page(document);

    if (page == NULL || !init_canvas(&canvas, page_size(page)) ||
        !parts_measure_coverage(&document->arena, document->first_glyphs, page_size(page),
                                &coverage)) {
        goto out;
    }
    draw_page(&canvas, page);
    cairo_select_font_face(canvas.cairo, "sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    draw_coverage(&canvas, &coverage);
    draw_rulings(&canvas, explanation);
    draw_tables(&canvas, explanation);
    draw_legend(&canvas, &coverage, explanation);
    ok = write_png(document, &canvas, ret_png);
out:
    deinit_canvas(&canvas);
    return ok;
}
