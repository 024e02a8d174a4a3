/*
 * search.c: scans the sketches, keeping the best rows of each kind in a heap of fixed size, and
 * compares these exactly.
 */
#include "server/domain/vectors/vectors.h"
#include "store/base/assert.h"

#include <math.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Rows whose products are computed before they are ranked, so that the loop over sketches is tight. */
#define BLOCK_ROWS 1024

/* A row, ranked by its sketch. */
struct rough {
    int32_t product;
    uint32_t row;
};

/* The best rows so far, as a heap with the worst row first. */
struct best {
    size_t count;
    size_t max;
    struct rough *rows;
};

enum vectors_path vectors_best_path(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? VECTORS_AVX2 : VECTORS_PLAIN;
#else
    return VECTORS_PLAIN;
#endif
}

static void multiply_plain(const int8_t *query, const int8_t *sketches, size_t count,
                           int32_t *products)
{
    for (size_t row = 0; row < count; row++) {
        const int8_t *sketch = sketches + row * VECTORS_SKETCH_BYTES;
        int32_t sum = 0;

        for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
            sum += (int32_t)query[i] * sketch[i];
        }
        products[row] = sum;
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static int32_t add_lanes(__m256i lanes)
{
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));

    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
    return _mm_cvtsi128_si32(sum);
}

AVX2 static void multiply_avx2(const int8_t *query, const int8_t *sketches, size_t count,
                               int32_t *products)
{
    __m256i wide[VECTORS_SKETCH_BYTES / 16];

    for (size_t i = 0; i < VECTORS_SKETCH_BYTES / 16; i++) {
        wide[i] = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i_u *)(query + i * 16)));
    }
    for (size_t row = 0; row < count; row++) {
        const int8_t *sketch = sketches + row * VECTORS_SKETCH_BYTES;
        __m256i first = _mm256_setzero_si256();
        __m256i second = _mm256_setzero_si256();

#pragma GCC unroll 8
        for (size_t i = 0; i < VECTORS_SKETCH_BYTES / 16; i += 2) {
            const __m128i_u *at = (const __m128i_u *)(sketch + i * 16);

            first = _mm256_add_epi32(
                first, _mm256_madd_epi16(wide[i], _mm256_cvtepi8_epi16(_mm_loadu_si128(at))));
            second = _mm256_add_epi32(
                second,
                _mm256_madd_epi16(wide[i + 1], _mm256_cvtepi8_epi16(_mm_loadu_si128(at + 1))));
        }
        products[row] = add_lanes(_mm256_add_epi32(first, second));
    }
}
#endif

static void multiply(enum vectors_path path, const int8_t *query, const int8_t *sketches,
                     size_t count, int32_t *products)
{
#if defined(__x86_64__)
    if (path == VECTORS_AVX2) {
        multiply_avx2(query, sketches, count, products);
        return;
    }
#endif
    (void)path;
    multiply_plain(query, sketches, count, products);
}

/* Of equal products the row with the lower number is better, so that the result is unique; see `number`. */
static bool is_worse(struct rough a, struct rough b)
{
    return a.product < b.product || (a.product == b.product && a.row > b.row);
}

/* Moves a row that may be better than its children down. */
static void sink(struct best *best, size_t at)
{
    for (;;) {
        size_t worst = at;
        struct rough moved = best->rows[at];

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < best->count; child++) {
            worst = is_worse(best->rows[child], best->rows[worst]) ? child : worst;
        }
        if (worst == at) {
            return;
        }
        best->rows[at] = best->rows[worst];
        best->rows[worst] = moved;
        at = worst;
    }
}

/* Adds a row if it is better than the worst, which it then replaces. */
static void offer(struct best *best, struct rough row)
{
    if (best->count < best->max) {
        best->rows[best->count++] = row;
        if (best->count == best->max) {
            for (size_t i = best->count / 2; i-- > 0;) {
                sink(best, i);
            }
        }
    } else if (is_worse(best->rows[0], row)) {
        best->rows[0] = row;
        sink(best, 0);
    }
}

/* Makes the heaps of the first kinds, with room for `max` rows each. */
static enum err make_heaps(struct arena *arena, size_t max, struct best *best, size_t kind_count)
{
    for (size_t kind = 0; kind < kind_count; kind++) {
        best[kind] = (struct best){.max = max};
        best[kind].rows = (struct rough *)arena_alloc(arena, max * sizeof(best[kind].rows[0]));
        if (best[kind].rows == NULL) {
            return ERR_MEMORY;
        }
    }
    return OK;
}

/* Returns a row as it is ranked, and the row of a rank: the numbers are reversed if later rows are better. */
static uint32_t number(const struct vectors_rows *rows, uint32_t row)
{
    return rows->prefers_later ? UINT32_MAX - row : row;
}

/* Ranks the rows of the first kinds. */
static void scan(const struct vectors_rows *rows, enum vectors_path path, const float *query,
                 struct best *best, size_t kind_count)
{
    int8_t sketch[VECTORS_SKETCH_BYTES];
    int32_t products[BLOCK_ROWS];

    vectors_sketch(path, query, rows->width, sketch);
    for (size_t from = 0; from < rows->count; from += BLOCK_ROWS) {
        size_t count = rows->count - from < BLOCK_ROWS ? rows->count - from : BLOCK_ROWS;

        multiply(path, sketch, rows->sketches + from * VECTORS_SKETCH_BYTES, count, products);
        for (size_t i = 0; i < count; i++) {
            uint8_t kind = rows->kinds[from + i];

            if (kind < kind_count) {
                offer(&best[kind], (struct rough){products[i], number(rows, (uint32_t)(from + i))});
            }
        }
    }
}

/* Computes the cosine of vectors of length 1, in lanes that the compiler can keep in a register. */
static float multiply_exactly(const float *a, const float *b, size_t width)
{
    float lanes[8] = {0};
    float sum = 0;
    size_t i = 0;

    for (; i + 8 <= width; i += 8) {
        for (size_t lane = 0; lane < 8; lane++) {
            lanes[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (; i < width; i++) {
        sum += a[i] * b[i];
    }
    for (size_t lane = 0; lane < 8; lane++) {
        sum += lanes[lane];
    }
    return sum;
}

static int compare_rows(const void *a, const void *b)
{
    uint32_t left = ((const struct rough *)a)->row;
    uint32_t right = ((const struct rough *)b)->row;

    return (left > right) - (left < right);
}

/* Puts the best rows into the order in which they are stored. */
static void sort_rows(const struct vectors_rows *rows, struct best *best)
{
    for (size_t i = 0; i < best->count; i++) {
        best->rows[i].row = number(rows, best->rows[i].row);
    }
    qsort(best->rows, best->count, sizeof(best->rows[0]), compare_rows);
}

static int compare_matches(const void *a, const void *b)
{
    const struct vectors_match *left = (const struct vectors_match *)a;
    const struct vectors_match *right = (const struct vectors_match *)b;

    if (left->cosine != right->cosine) {
        return left->cosine > right->cosine ? -1 : 1;
    }
    return (left->row > right->row) - (left->row < right->row);
}

/* Reads the rows in the order in which they are stored. */
static enum err compare_exactly(const struct vectors_rows *rows, struct arena *arena,
                                const float *query, float cosine_min, struct best *best,
                                struct vectors_found *found)
{
    found->count = 0;
    found->matches =
        (struct vectors_match *)arena_alloc(arena, (best->count + 1) * sizeof(found->matches[0]));
    if (found->matches == NULL) {
        return ERR_MEMORY;
    }
    sort_rows(rows, best);
    for (size_t i = 0; i < best->count; i++) {
        const float *vector = rows->read(rows->user, best->rows[i].row);
        struct vectors_match match = {.row = best->rows[i].row};

        if (vector == NULL) {
            return ERR_CORRUPT;
        }
        match.cosine = multiply_exactly(query, vector, rows->width);
        if (match.cosine >= cosine_min) {
            found->matches[found->count++] = match;
        }
    }
    qsort(found->matches, found->count, sizeof(found->matches[0]), compare_matches);
    return OK;
}

enum err vectors_search(const struct vectors_rows *rows, enum vectors_path path,
                        struct arena *arena, const float *query, float cosine_min,
                        struct vectors_found ret_found[VECTORS_KINDS])
{
    struct best best[VECTORS_KINDS];
    enum err err = make_heaps(arena, VECTORS_EXACT_ROWS, best, VECTORS_KINDS);

    ASSERT(rows->count <= UINT32_MAX && rows->width <= VECTORS_WIDTH_MAX);
    if (err == OK) {
        scan(rows, path, query, best, VECTORS_KINDS);
    }
    for (size_t kind = 0; kind < VECTORS_KINDS && err == OK; kind++) {
        err = compare_exactly(rows, arena, query, cosine_min, &best[kind], &ret_found[kind]);
    }
    return err;
}

enum err vectors_find_candidates(const struct vectors_rows *rows, enum vectors_path path,
                                 struct arena *arena, const float *query, size_t max,
                                 struct vectors_candidates *ret_found)
{
    struct best best;
    enum err err = make_heaps(arena, max, &best, 1);

    ASSERT(rows->count <= UINT32_MAX && rows->width <= VECTORS_WIDTH_MAX);
    ret_found->count = 0;
    ret_found->rows = (uint32_t *)arena_alloc(arena, max * sizeof(ret_found->rows[0]));
    if (err != OK || ret_found->rows == NULL) {
        return ERR_MEMORY;
    }
    scan(rows, path, query, &best, 1);
    sort_rows(rows, &best);
    for (size_t i = 0; i < best.count; i++) {
        ret_found->rows[ret_found->count++] = best.rows[i].row;
    }
    return OK;
}
