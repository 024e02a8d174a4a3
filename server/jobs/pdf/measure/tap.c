/*
 * tap.c: replaces some of cairo's functions. Each calls the real one, which the dynamic linker
 * finds after this program, unless a tap is active. libpoppler-glib calls cairo through its linkage
 * table, so that the definitions here are found first. Recording is bounded by a counter: above the
 * limit nothing is copied any more.
 */
#include "server/jobs/pdf/measure/tap.h"

#include "store/base/assert.h"

#include <dlfcn.h>
#include <stdlib.h>

/* A source with less opacity is invisible ... */
#define ALPHA_MIN 0.02
/* ... and so is one that is almost white. */
#define WHITE_MIN 0.985
/* Surfaces up to this many pixels are real: they cost little, and may be soft masks. */
#define SMALL_PIXELS_MAX 4096
#define POINTS_CAPACITY_FIRST 64

/* The functions of cairo have no parameter for the tap. */
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
static struct tap *active;

/* The pattern of every skipped image. Poppler does not free it, so one pattern is used for the
 * whole process. */
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
static cairo_pattern_t *skipped_pattern;

/* The real function of a name; Poppler could not have been loaded without it. */
#define REAL(function) ((__typeof__(&(function)))find_real(#function))

static void *find_real(const char *name)
{
    void *real = dlsym(RTLD_NEXT, name);

    ASSERT(real != NULL);
    return real;
}

void tap_start(struct tap *tap)
{
    ASSERT(active == NULL);
    active = tap;
}

void tap_stop(struct tap *tap)
{
    ASSERT(active == tap);
    active = NULL;
    free(tap->points);
    tap->points = NULL;
    tap->points_capacity = 0;
}

/* Counts an operation; false above the limit, or if nothing more is recorded. */
static bool count_operation(struct tap *tap)
{
    struct rulings *rulings = tap->rulings;

    if (tap->operations < UINT32_MAX) {
        tap->operations++;
    }
    if (rulings->cut == PDF_CUT_NONE && tap->operations > tap->operations_max) {
        rulings->cut = PDF_CUT_PATHS;
    }
    if (rulings->cut != PDF_CUT_NONE && !tap->cut_reported) {
        tap->cut_reported = true;
        if (tap->on_cut != NULL) {
            tap->on_cut(tap->user, rulings->cut);
        }
    }
    return rulings->cut == PDF_CUT_NONE;
}

/* Returns whether the source is visible on white paper. Patterns and images are. */
static bool is_visible(cairo_t *cr)
{
    double red = 0;
    double green = 0;
    double blue = 0;
    double alpha = 1;
    cairo_pattern_t *source = cairo_get_source(cr);

    if (cairo_pattern_get_rgba(source, &red, &green, &blue, &alpha) != CAIRO_STATUS_SUCCESS) {
        return true;
    }
    return alpha >= ALPHA_MIN && !(red > WHITE_MIN && green > WHITE_MIN && blue > WHITE_MIN);
}

/* State of reading a path into parts. */
struct reader {
    struct tap *tap;
    cairo_matrix_t to_page;
    bool is_fill;
    struct path_part part;
};

static void end_part(struct reader *reader)
{
    if (reader->is_fill) {
        rulings_add_fill(reader->tap->rulings, &reader->part);
    } else {
        rulings_add_stroke(reader->tap->rulings, &reader->part);
    }
    reader->part.count = 0;
    reader->part.closed = false;
}

static bool grow_points(struct tap *tap)
{
    size_t capacity = tap->points_capacity == 0 ? POINTS_CAPACITY_FIRST : tap->points_capacity * 2;
    struct path_point *points = realloc(tap->points, capacity * sizeof *points);

    if (points == NULL) {
        tap->rulings->cut = PDF_CUT_LIMIT;
        return false;
    }
    tap->points = points;
    tap->points_capacity = capacity;
    return true;
}

static void add_point(struct reader *reader, const cairo_path_data_t *data, bool straight)
{
    struct tap *tap = reader->tap;
    double x = data->point.x;
    double y = data->point.y;

    if (reader->part.count == tap->points_capacity && !grow_points(tap)) {
        return;
    }
    cairo_matrix_transform_point(&reader->to_page, &x, &y);
    tap->points[reader->part.count++] = (struct path_point){.x = x, .y = y, .straight = straight};
    reader->part.points = tap->points;
}

static void read_element(struct reader *reader, const cairo_path_data_t *data)
{
    switch (data->header.type) {
    case CAIRO_PATH_MOVE_TO:
        end_part(reader);
        add_point(reader, &data[1], false);
        break;
    case CAIRO_PATH_LINE_TO:
        add_point(reader, &data[1], true);
        break;
    case CAIRO_PATH_CURVE_TO:
        add_point(reader, &data[3], false);
        break;
    case CAIRO_PATH_CLOSE_PATH:
        reader->part.closed = true;
        break;
    }
}

static void note_path(struct tap *tap, cairo_t *cr, bool is_fill)
{
    struct reader reader = {.tap = tap, .is_fill = is_fill};
    cairo_path_t *path = NULL;

    if (!count_operation(tap) || cr != tap->page) {
        return;
    }
    if (!is_visible(cr)) {
        tap->rulings->ignored++;
        return;
    }
    cairo_get_matrix(cr, &reader.to_page);
    cairo_matrix_multiply(&reader.to_page, &reader.to_page,
                          &(cairo_matrix_t){.xx = 1 / tap->scale, .yy = 1 / tap->scale});
    path = cairo_copy_path(cr);
    for (int i = 0; i < path->num_data; i += path->data[i].header.length) {
        read_element(&reader, &path->data[i]);
    }
    end_part(&reader);
    cairo_path_destroy(path);
}

/* Handles the painting of objects other than paths; returns false if Poppler must paint it. */
static bool leave_out(void)
{
    if (active == NULL) {
        return false;
    }
    active->group_popped = false;
    return active->mode == TAP_NOTE;
}

/* Records a stroke or a fill; false if it must be done. */
static bool record_path(cairo_t *cr, bool is_fill, bool keeps_path)
{
    if (!leave_out()) {
        return false;
    }
    note_path(active, cr, is_fill);
    if (!keeps_path) {
        cairo_new_path(cr);
    }
    return true;
}

void cairo_stroke(cairo_t *cr)
{
    if (!record_path(cr, false, false)) {
        REAL(cairo_stroke)(cr);
    }
}

void cairo_stroke_preserve(cairo_t *cr)
{
    if (!record_path(cr, false, true)) {
        REAL(cairo_stroke_preserve)(cr);
    }
}

void cairo_fill(cairo_t *cr)
{
    if (!record_path(cr, true, false)) {
        REAL(cairo_fill)(cr);
    }
}

void cairo_fill_preserve(cairo_t *cr)
{
    if (!record_path(cr, true, true)) {
        REAL(cairo_fill_preserve)(cr);
    }
}

void cairo_paint(cairo_t *cr)
{
    if (!leave_out()) {
        REAL(cairo_paint)(cr);
    }
}

void cairo_paint_with_alpha(cairo_t *cr, double alpha)
{
    if (!leave_out()) {
        REAL(cairo_paint_with_alpha)(cr, alpha);
    }
}

void cairo_mask(cairo_t *cr, cairo_pattern_t *pattern)
{
    if (!leave_out()) {
        REAL(cairo_mask)(cr, pattern);
    }
}

void cairo_mask_surface(cairo_t *cr, cairo_surface_t *surface, double x, double y)
{
    if (!leave_out()) {
        REAL(cairo_mask_surface)(cr, surface, x, y);
    }
}

void cairo_show_glyphs(cairo_t *cr, const cairo_glyph_t *glyphs, int num_glyphs)
{
    if (!leave_out()) {
        REAL(cairo_show_glyphs)(cr, glyphs, num_glyphs);
    }
}

// NOLINTNEXTLINE(readability-function-size): its parameters are cairo's
void cairo_show_text_glyphs(cairo_t *cr, const char *utf8, int utf8_len,
                            const cairo_glyph_t *glyphs, int num_glyphs,
                            const cairo_text_cluster_t *clusters, int num_clusters,
                            cairo_text_cluster_flags_t cluster_flags)
{
    if (!leave_out()) {
        REAL(cairo_show_text_glyphs)
        (cr, utf8, utf8_len, glyphs, num_glyphs, clusters, num_clusters, cluster_flags);
    }
}

/* Outlines of glyphs are text, not rulings, and expensive. */
void cairo_glyph_path(cairo_t *cr, const cairo_glyph_t *glyphs, int num_glyphs)
{
    if (active == NULL || active->mode == TAP_DRAW) {
        REAL(cairo_glyph_path)(cr, glyphs, num_glyphs);
    }
}

/* A function-based shading becomes a mesh with many patches, before a single fill. */
void cairo_mesh_pattern_begin_patch(cairo_pattern_t *pattern)
{
    if (active != NULL && active->mode == TAP_NOTE) {
        count_operation(active);
    }
    REAL(cairo_mesh_pattern_begin_patch)(pattern);
}

cairo_pattern_t *cairo_pop_group(cairo_t *cr)
{
    if (active != NULL) {
        active->group_popped = true;
    }
    return REAL(cairo_pop_group)(cr);
}

/* An invalid surface makes Poppler skip the image that it is for, without decoding it. Soft masks,
 * which follow a group directly, ignore the error and need a real one. */
static bool is_skipped(const struct tap *tap, int width, int height)
{
    int64_t pixels = (int64_t)width * height;

    if (tap->group_popped || width <= 0 || height <= 0) {
        return false;
    }
    return pixels > (tap->mode == TAP_NOTE ? SMALL_PIXELS_MAX : TAP_IMAGE_PIXELS_MAX);
}

cairo_surface_t *cairo_image_surface_create(cairo_format_t format, int width, int height)
{
    if (active != NULL && is_skipped(active, width, height)) {
        return REAL(cairo_image_surface_create)(format, -1, -1);
    }
    return REAL(cairo_image_surface_create)(format, width, height);
}

cairo_pattern_t *cairo_pattern_create_for_surface(cairo_surface_t *surface)
{
    if (active == NULL || cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
        return REAL(cairo_pattern_create_for_surface)(surface);
    }
    if (skipped_pattern == NULL) {
        skipped_pattern = REAL(cairo_pattern_create_for_surface)(surface);
    }
    return cairo_pattern_reference(skipped_pattern);
}
