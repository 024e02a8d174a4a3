/*
 * tap.h: what Poppler draws on a page, without drawing it. tap.c defines some of cairo's functions;
 * in a program that contains it, Poppler's calls of them end there. While a tap is on they note the
 * paths that are stroked and filled on the page and leave out the work: no pixels, no glyphs, no
 * decoded images. While none is on they are cairo's own.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_MEASURE_TAP_H
#define ERRATA_SERVER_JOBS_PDF_MEASURE_TAP_H

#include "server/jobs/pdf/measure/parts.h"

#include <cairo.h>

enum tap_mode {
    TAP_NOTE, /* notes paths; nothing is drawn */
    TAP_DRAW /* draws, but for images with more pixels than TAP_IMAGE_PIXELS_MAX */
};

/* Above this an image costs more memory (4 bytes a pixel) than a picture of a page is worth. */
#define TAP_IMAGE_PIXELS_MAX ((int64_t)16 << 20)

struct tap {
    enum tap_mode mode;
    cairo_t *page; /* paths on other contexts (patterns, masks) have no place on the page */
    double scale; /* of the page's context: points times scale */
    struct rulings *rulings;
    uint32_t operations_max;
    uint32_t operations; /* strokes, fills and patches of meshes so far */
    /* Called once, when there are more: Poppler can't be stopped within a page. May be NULL. */
    void (*on_cut)(void *user, enum pdf_cut cut);
    void *user;
    bool told; /* on_cut was called */
    bool group_popped; /* a soft mask may come: it needs a real surface */
    struct path_point *points; /* room for one part of a path; the tap's own */
    size_t points_capacity;
};

/* One tap at a time, of the thread that renders. */
void tap_start(struct tap *tap);
/* Frees what the tap holds. */
void tap_stop(struct tap *tap);

#endif
