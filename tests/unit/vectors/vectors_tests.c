/*
 * vectors_tests.c: searching vectors, beside an exact scan of random vectors in clusters; sketches;
 * paths; order; kinds; limits.
 */
#include "server/domain/vectors/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WIDTH 192
#define ROWS 4000
#define CLUSTERS 50
#define ARENA_BYTES ((size_t)64 << 20)

static float vectors[ROWS][WIDTH];
static int8_t sketches[ROWS * VECTORS_SKETCH_BYTES];
static uint8_t kinds[ROWS];
static struct arena arena;
static uint64_t seed = 7;

static float draw(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (float)(seed >> 40) / (float)(1 << 24) - 0.5F;
}

static void normalise(float *vector)
{
    double squares = 0;

    for (size_t i = 0; i < WIDTH; i++) {
        squares += (double)vector[i] * (double)vector[i];
    }
    for (size_t i = 0; i < WIDTH; i++) {
        vector[i] = (float)((double)vector[i] / sqrt(squares));
    }
}

static float cosine(const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < WIDTH; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return (float)sum;
}

static const float *read_row(void *user, uint32_t row)
{
    return user != NULL && row == *(const uint32_t *)user ? NULL : vectors[row];
}

static struct vectors_rows rows_of(size_t count)
{
    return (struct vectors_rows){
        .sketches = sketches, .kinds = kinds, .count = count, .width = WIDTH, .read = read_row};
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t i = 0; i < WIDTH; i++) {
            float centre = row < CLUSTERS ? 0 : vectors[row % CLUSTERS][i];

            vectors[row][i] = draw() + centre * 6;
        }
        normalise(vectors[row]);
        vectors_sketch(vectors_best_path(), vectors[row], WIDTH,
                       sketches + row * VECTORS_SKETCH_BYTES);
        kinds[row] = (uint8_t)(row / CLUSTERS % 2);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

/* Returns how many rows of the kind have a higher cosine than `than`. */
static size_t count_better(const float *query, uint8_t kind, float than)
{
    size_t count = 0;

    for (size_t row = 0; row < ROWS; row++) {
        count += kinds[row] == kind && cosine(query, vectors[row]) > than + 1e-5F ? 1 : 0;
    }
    return count;
}

/* Goal: the ten most similar rows of each kind are found, in order, without rows below the limit. Method: 40
 * queries; at least 95 of 100 of the found ten are among the exact ten. */
static void test_most_similar_rows_are_found(void **state)
{
    struct vectors_rows rows = rows_of(ROWS);
    size_t right = 0;
    size_t all = 0;

    (void)state;
    for (size_t query = 0; query < 40; query++) {
        struct vectors_found found[VECTORS_KINDS];

        assert_int_equal(
            vectors_search(&rows, vectors_best_path(), &arena, vectors[query], 0.2F, found), OK);
        assert_int_equal(found[2].count + found[3].count, 0);
        for (uint8_t kind = 0; kind < 2; kind++) {
            for (size_t i = 0; i < found[kind].count; i++) {
                const struct vectors_match *match = &found[kind].matches[i];

                assert_int_equal(kinds[match->row], kind);
                assert_true(match->cosine >= 0.2F);
                assert_true(fabsf(match->cosine - cosine(vectors[query], vectors[match->row])) <
                            1e-5F);
                assert_true(i == 0 || match[-1].cosine >= match->cosine);
                if (i < 10) {
                    all++;
                    right += count_better(vectors[query], kind, match->cosine) < 10 ? 1 : 0;
                }
            }
        }
        assert_int_equal(found[kinds[query]].matches[0].row, query); /* itself */
    }
    assert_true(all >= 700);
    assert_true(right * 100 >= all * 95);
}

/* Goal: every path finds the same rows. Method: both, with numbers of rows around the size of a
 * block. */
static void test_paths_agree(void **state)
{
    const size_t counts[] = {0, 1, 7, 499, 500, 501, 1023, 1024, 1025, 2049, ROWS};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct vectors_rows rows = rows_of(counts[i]);
        struct vectors_found plain[VECTORS_KINDS];
        struct vectors_found best[VECTORS_KINDS];

        assert_int_equal(vectors_search(&rows, VECTORS_PLAIN, &arena, vectors[3], -1, plain), OK);
        assert_int_equal(vectors_search(&rows, vectors_best_path(), &arena, vectors[3], -1, best),
                         OK);
        for (size_t kind = 0; kind < VECTORS_KINDS; kind++) {
            assert_int_equal(plain[kind].count, best[kind].count);
            assert_memory_equal(plain[kind].matches, best[kind].matches,
                                plain[kind].count * sizeof(plain[kind].matches[0]));
        }
        if (counts[i] <= VECTORS_EXACT_ROWS) {
            assert_int_equal(best[0].count + best[1].count, counts[i]);
        }
    }
}

/* Goal: equal rows are returned in the order of their numbers, and rows of unknown kinds are not returned.
 * Method: copies of a row. */
static void test_equal_rows_are_ordered(void **state)
{
    enum {
        COPIES = 900
    };
    static float copy[WIDTH];
    static int8_t copies[COPIES * VECTORS_SKETCH_BYTES];
    static uint8_t copy_kinds[COPIES];
    struct vectors_rows rows = {
        .sketches = copies, .kinds = copy_kinds, .count = COPIES, .width = WIDTH, .read = read_row};
    struct vectors_found found[VECTORS_KINDS];

    (void)state;
    memcpy(copy, vectors[0], sizeof(copy));
    for (size_t i = 0; i < COPIES; i++) {
        vectors_sketch(vectors_best_path(), copy, WIDTH, copies + i * VECTORS_SKETCH_BYTES);
        copy_kinds[i] = i < 100 ? UINT8_MAX : 3;
    }
    assert_int_equal(vectors_search(&rows, vectors_best_path(), &arena, copy, -2, found), OK);
    assert_int_equal(found[3].count, VECTORS_EXACT_ROWS);
    assert_int_equal(found[0].count + found[1].count + found[2].count, 0);
    for (size_t i = 0; i < VECTORS_EXACT_ROWS; i++) {
        assert_in_range(found[3].matches[i].row, 100, 100 + VECTORS_EXACT_ROWS - 1);
    }
}

/* Goal: a row that cannot be read, and lack of memory, end the search. Method: each. */
static void test_failures_are_reported(void **state)
{
    struct vectors_found found[VECTORS_KINDS];
    struct vectors_rows rows = rows_of(100);
    uint32_t damaged = 42;
    struct arena small;

    (void)state;
    rows.user = &damaged;
    assert_int_equal(vectors_search(&rows, VECTORS_PLAIN, &arena, vectors[0], -1, found),
                     ERR_CORRUPT);
    arena_init(&small, 1024);
    assert_int_equal(vectors_search(&rows, VECTORS_PLAIN, &small, vectors[0], -1, found),
                     ERR_MEMORY);
    arena_deinit(&small);
}

/* Goal: sketches of equal vectors are equal in every process, and have the same length regardless of which part of a
 * vector they keep; vectors of any width have a sketch. Method: known numbers of a known vector; the narrowest and the
 * widest; a zero vector. */
static void test_sketches_are_fixed(void **state)
{
    static float wide[VECTORS_WIDTH_MAX];
    int8_t sketch[VECTORS_SKETCH_BYTES];
    int8_t zero[VECTORS_SKETCH_BYTES] = {0};
    const float one = 1;
    uint32_t sum = 0;

    (void)state;
    vectors_sketch(vectors_best_path(), wide, VECTORS_WIDTH_MAX, sketch);
    assert_memory_equal(sketch, zero, sizeof(zero));
    wide[5] = 1;
    wide[6] = 0.5F;
    vectors_sketch(vectors_best_path(), wide, VECTORS_WIDTH_MAX, sketch);
    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        assert_true(abs(sketch[i]) == 18 || abs(sketch[i]) == 54);
        sum = sum * 31 + (uint8_t)sketch[i];
    }
    assert_int_equal(sum, 0xB0D12380U);
    vectors_sketch(vectors_best_path(), &one, 1, sketch);
    for (size_t i = 0; i < VECTORS_SKETCH_BYTES; i++) {
        assert_int_equal(abs(sketch[i]), 40);
    }
}

/* Goal: a sketch is the same on every machine. Method: both paths, for random vectors of widths around those of registers and
 * powers of two; what is after a vector is not a number, and must not be read. */
static void test_paths_have_the_same_sketches(void **state)
{
    static const size_t widths[] = {1, 7, 8, 9, 255, 256, 257, 640, 1152, 4095, 4096};
    static float vector[VECTORS_WIDTH_MAX];
    int8_t plain[VECTORS_SKETCH_BYTES];
    int8_t best[VECTORS_SKETCH_BYTES];
    uint32_t dice = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        for (size_t at = 0; at < VECTORS_WIDTH_MAX; at++) {
            dice = dice * 1664525 + 1013904223;
            vector[at] = at < widths[i] ? (float)(int32_t)dice / 2147483648.0F : NAN;
        }
        vectors_sketch(VECTORS_PLAIN, vector, widths[i], plain);
        vectors_sketch(vectors_best_path(), vector, widths[i], best);
        assert_memory_equal(plain, best, sizeof(best));
    }
}

/* Goal: stored numbers have the same values by both paths. Method: all numbers of 16 bits, in widths around that of a register. */
static void test_values_of_numbers_are_exact(void **state)
{
    static uint8_t stored[VECTORS_WIDTH_MAX * 2];
    static float values[2][VECTORS_WIDTH_MAX];

    (void)state;
    for (uint32_t first = 0; first <= UINT16_MAX; first += VECTORS_WIDTH_MAX - 9) {
        size_t width = VECTORS_WIDTH_MAX - first % 9;

        for (size_t i = 0; i < width; i++) {
            stored[2 * i] = (uint8_t)((first + i) >> 8);
            stored[2 * i + 1] = (uint8_t)(first + i);
        }
        vectors_divide_numbers(VECTORS_PLAIN, stored, width, 8192, values[0]);
        vectors_divide_numbers(vectors_best_path(), stored, width, 8192, values[1]);
        assert_memory_equal(values[0], values[1], width * sizeof(float));
        assert_true(values[0][1] == (float)(int16_t)(uint16_t)(first + 1) / 8192);
    }
}

/* Goal: the product of stored numbers is exact by both paths, for widths around that of a register. */
static void test_products_of_numbers_are_exact(void **state)
{
    int16_t numbers[70];
    uint8_t stored[sizeof(numbers)];

    (void)state;
    for (size_t width = 0; width <= 70; width++) {
        int32_t expected = 0;

        for (size_t i = 0; i < width; i++) {
            int16_t other = (int16_t)(i * 977 % 8001 - 4000);

            numbers[i] = (int16_t)(4000 - (int)(i * 1231 % 8001));
            stored[2 * i] = (uint8_t)((uint16_t)other >> 8);
            stored[2 * i + 1] = (uint8_t)other;
            expected += numbers[i] * other;
        }
        assert_int_equal(vectors_multiply_numbers(VECTORS_PLAIN, numbers, stored, width), expected);
        assert_int_equal(vectors_multiply_numbers(vectors_best_path(), numbers, stored, width),
                         expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_similar_rows_are_found),
        cmocka_unit_test(test_paths_agree),
        cmocka_unit_test(test_equal_rows_are_ordered),
        cmocka_unit_test(test_failures_are_reported),
        cmocka_unit_test(test_sketches_are_fixed),
        cmocka_unit_test(test_paths_have_the_same_sketches),
        cmocka_unit_test(test_values_of_numbers_are_exact),
        cmocka_unit_test(test_products_of_numbers_are_exact),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
