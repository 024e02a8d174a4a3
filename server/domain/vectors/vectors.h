/*
 * vectors.h: finds the most similar of many vectors. Each vector has a sketch of 256 small numbers,
 * which keeps the cosines of unit vectors approximately; a search scans all sketches, which are an
 * eighth or less of the vectors, and compares the best exactly. There is no index, so that nothing
 * has to be maintained, and the same rows give the same result. The caller holds rows and sketches;
 * this module stores nothing.
 */
#ifndef ERRATA_SERVER_DOMAIN_VECTORS_VECTORS_H
#define ERRATA_SERVER_DOMAIN_VECTORS_VECTORS_H

#include "store/base/arena.h"

/* Maximum length of a vector; those of well-known embedders have at most 4,096. */
#define VECTORS_WIDTH_MAX 4096
/* Numbers of a sketch, each an int8_t. */
#define VECTORS_SKETCH_BYTES 256
/* Number of rows of each kind that are compared exactly: with fewer, recall decreases; with more,
 * the exact comparison takes longer than a scan of 100,000 rows. */
#define VECTORS_EXACT_ROWS 500
/* Number of kinds of rows that are ranked separately, such as the status of a turn; rows of other
 * kinds are left out. */
#define VECTORS_KINDS 4

enum vectors_path {
    VECTORS_PLAIN, /* for any machine */
    VECTORS_AVX2
};

/* The rows of one space of one organisation: vectors of one embedder. */
struct vectors_rows {
    const int8_t *sketches; /* VECTORS_SKETCH_BYTES of each row */
    const uint8_t *kinds; /* kinds of each row */
    size_t count; /* at most UINT32_MAX */
    size_t width; /* numbers of a vector */
    bool prefers_later; /* of rows with equal sketches, those with the higher numbers are better */
    /* Returns the vector of a row, valid until the next call; NULL if it cannot be read, which ends
     * the search with ERR_CORRUPT. Not used by vectors_find_candidates. */
    const float *(*read)(void *user, uint32_t row);
    void *user;
};

/* A row of the result. */
struct vectors_match {
    uint32_t row;
    float cosine;
};

/* The rows of a kind, most similar first, equal ones by ascending number. */
struct vectors_found {
    size_t count; /* at most VECTORS_EXACT_ROWS */
    struct vectors_match *matches; /* in the arena */
};

/* The rows with the best sketches, ascending. */
struct vectors_candidates {
    size_t count;
    uint32_t *rows; /* in the arena */
};

/* Returns the fastest path that this machine has. */
enum vectors_path vectors_best_path(void);
/* Computes the sketch of a vector of length 1 with at most VECTORS_WIDTH_MAX numbers. The sketch of a
 * zero vector is zero; every path has the same. */
void vectors_sketch(enum vectors_path path, const float *vector, size_t width, int8_t *ret_sketch);
/* Finds for each kind the rows with a cosine of at least `cosine_min` among the VECTORS_EXACT_ROWS with the best
 * sketches; `query` has length 1. Fails with ERR_MEMORY, or ERR_CORRUPT if a row cannot be read. */
MUST_CHECK enum err vectors_search(const struct vectors_rows *rows, enum vectors_path path,
                                   struct arena *arena, const float *query, float cosine_min,
                                   struct vectors_found ret_found[VECTORS_KINDS]);
/* Finds the rows of kind 0 with the best sketches, at most `max`, for a caller that compares vectors of its own. Fails only
 * with ERR_MEMORY. */
MUST_CHECK enum err vectors_find_candidates(const struct vectors_rows *rows, enum vectors_path path,
                                            struct arena *arena, const float *query, size_t max,
                                            struct vectors_candidates *ret_found);
/* Returns the product of two vectors of numbers, the second as bytes, big-endian. The sum of the absolute products must be
 * below 2^31; otherwise the result is undefined. */
int32_t vectors_multiply_numbers(enum vectors_path path, const int16_t *numbers,
                                 const uint8_t *stored, size_t width);
/* Sets the values to `width` numbers, as bytes likewise, divided by `divisor`. */
void vectors_divide_numbers(enum vectors_path path, const uint8_t *stored, size_t width,
                            float divisor, float *ret_values);

#endif
