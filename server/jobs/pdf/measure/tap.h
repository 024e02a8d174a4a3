/*
 * tap.h: records what Poppler draws on a page, without drawing it. tap.c defines some of cairo's
 * functions; in a program that contains it, Poppler calls these. While a tap is active they record
 * the paths that are stroked and filled on the page and skip the work: no pixels, no glyphs, no
 * decoded images. Otherwise they call cairo's.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_TAP_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_TAP_H

#include "server/jobs/pdf/measure/parts.h"

#include <cairo.h>

enum tap_mode {
    TAP_NOTE, /* records paths without drawing */
    TAP_DRAW /* draws, except images with more pixels than TAP_IMAGE_PIXELS_MAX */
};

/* A larger image needs more memory (4 bytes per pixel) than a picture of a page is worth. */
#define TAP_IMAGE_PIXELS_MAX ((int64_t)16 << 20)

struct tap {
    enum tap_mode mode;
    cairo_t *page; /* context of the page; paths on other contexts (patterns, masks) are ignored */
    double scale; /* scale of the page's context, in units per point */
    struct rulings *rulings;
    uint32_t operations_max;
    uint32_t operations; /* number of strokes, fills and patches of meshes so far */
    /* Called once, if there are more: Poppler cannot be stopped within a page. May be NULL. */
    void (*on_cut)(void *user, enum pdf_cut cut);
    void *user;
    bool cut_reported; /* on_cut has been called */
    bool group_popped; /* a soft mask may follow, which needs a real surface */
    struct path_point *points; /* points of one part of a path; owned */
    size_t points_capacity;
};

/* Starts the only tap, for the rendering thread. */
void tap_start(struct tap *tap);
/* Stops and frees the tap. */
void tap_stop(struct tap *tap);

#endif
