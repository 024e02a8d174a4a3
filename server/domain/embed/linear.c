/*
 * linear.c: linear layers with float weights, and with int8 weights in plain C and in AVX2. All take
 * six rows and a panel of 16 outputs at a time, so that a weight is read once for six rows.
 */
#include "server/domain/embed/linear.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ROWS 6

/* The sums of a block of rows for the outputs of one panel. */
union sums {
    float floats[ROWS][MODEL_PANEL];
    int32_t integers[ROWS][MODEL_PANEL];
};

enum linear_path linear_best_path(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? LINEAR_AVX2 : LINEAR_PLAIN;
#else
    return LINEAR_PLAIN;
#endif
}

/* Rounds a row to integers of at most LINEAR_INPUT_MAX; returns the value of 1. */
static float round_row(const float *row, size_t count, int16_t *rounded)
{
    float largest = 0;
    float factor = 0;

    for (size_t i = 0; i < count; i++) {
        float size = fabsf(row[i]);

        largest = size > largest ? size : largest;
    }
    factor = largest > 0 ? (float)LINEAR_INPUT_MAX / largest : 0;
    for (size_t i = 0; i < count; i++) {
        rounded[i] = (int16_t)lrintf(row[i] * factor);
    }
    return largest / (float)LINEAR_INPUT_MAX;
}

static void add_floats(const struct model_linear *linear, size_t panel, const float *rows,
                       size_t count, union sums *sums)
{
    const float *weights = (const float *)linear->weights + panel * linear->in * MODEL_PANEL;

    memset(sums, 0, sizeof(*sums));
    for (size_t i = 0; i < linear->in; i++) {
        for (size_t row = 0; row < count; row++) {
            float input = rows[row * linear->in + i];

            for (size_t j = 0; j < MODEL_PANEL; j++) {
                sums->floats[row][j] += input * weights[i * MODEL_PANEL + j];
            }
        }
    }
}

static void add_plain(const struct model_linear *linear, size_t panel, const int16_t *rows,
                      size_t count, union sums *sums)
{
    const int8_t *weights = (const int8_t *)linear->weights + panel * linear->in * MODEL_PANEL;

    memset(sums, 0, sizeof(*sums));
    for (size_t i = 0; i < linear->in; i += 2) {
        for (size_t row = 0; row < count; row++) {
            int32_t first = rows[row * linear->in + i];
            int32_t second = rows[row * linear->in + i + 1];
            const int8_t *pairs = weights + i * MODEL_PANEL;

            for (size_t j = 0; j < MODEL_PANEL; j++) {
                sums->integers[row][j] += first * pairs[2 * j] + second * pairs[2 * j + 1];
            }
        }
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

/* Inlined with a constant number of rows, so that the sums are in registers. */
AVX2 static inline __attribute__((always_inline)) void add_rows_avx2(const int8_t *weights,
                                                                     size_t in, const int16_t *rows,
                                                                     const size_t count,
                                                                     union sums *sums)
{
    __m256i low[ROWS];
    __m256i high[ROWS];

#pragma GCC unroll 6
    for (size_t row = 0; row < count; row++) {
        low[row] = _mm256_setzero_si256();
        high[row] = _mm256_setzero_si256();
    }
    for (size_t i = 0; i < in; i += 2) {
        const int8_t *pairs = weights + i * MODEL_PANEL;
        __m256i first = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i_u *)pairs));
        __m256i second = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i_u *)(pairs + 16)));

#pragma GCC unroll 6
        for (size_t row = 0; row < count; row++) {
            int32_t pair = 0;
            __m256i input;

            memcpy(&pair, rows + row * in + i, sizeof(pair));
            input = _mm256_set1_epi32(pair);
            low[row] = _mm256_add_epi32(low[row], _mm256_madd_epi16(first, input));
            high[row] = _mm256_add_epi32(high[row], _mm256_madd_epi16(second, input));
        }
    }
#pragma GCC unroll 6
    for (size_t row = 0; row < count; row++) {
        _mm256_storeu_si256((__m256i_u *)sums->integers[row], low[row]);
        _mm256_storeu_si256((__m256i_u *)(sums->integers[row] + 8), high[row]);
    }
}

AVX2 static void add_avx2(const struct model_linear *linear, size_t panel, const int16_t *rows,
                          size_t count, union sums *sums)
{
    const int8_t *weights = (const int8_t *)linear->weights + panel * linear->in * MODEL_PANEL;

    switch (count) {
    case 6:
        add_rows_avx2(weights, linear->in, rows, 6, sums);
        return;
    case 5:
        add_rows_avx2(weights, linear->in, rows, 5, sums);
        return;
    case 4:
        add_rows_avx2(weights, linear->in, rows, 4, sums);
        return;
    case 3:
        add_rows_avx2(weights, linear->in, rows, 3, sums);
        return;
    case 2:
        add_rows_avx2(weights, linear->in, rows, 2, sums);
        return;
    default:
        add_rows_avx2(weights, linear->in, rows, 1, sums);
        return;
    }
}
#endif

/* Writes one row of a panel. */
static void finish(const float results[MODEL_PANEL], enum linear_then then, float *output)
{
    for (size_t j = 0; j < MODEL_PANEL; j++) {
        float result = results[j];

        switch (then) {
        case LINEAR_STORE:
            output[j] = result;
            break;
        case LINEAR_STORE_POSITIVE:
            output[j] = result > 0 ? result : 0;
            break;
        case LINEAR_ADD:
            output[j] += result;
            break;
        }
    }
}

static void add_integers(const struct model_linear *linear, enum linear_path path, size_t panel,
                         const int16_t *rows, size_t count, union sums *sums)
{
#if defined(__x86_64__)
    if (path == LINEAR_AVX2) {
        add_avx2(linear, panel, rows, count, sums);
        return;
    }
#endif
    (void)path;
    add_plain(linear, panel, rows, count, sums);
}

static void add_bias(const float bias[MODEL_PANEL], float results[MODEL_PANEL])
{
    for (size_t j = 0; j < MODEL_PANEL; j++) {
        results[j] += bias[j];
    }
}

static void apply_floats(const struct model_linear *linear, const struct linear_input *input,
                         enum linear_then then, float *output)
{
    for (size_t panel = 0; panel < linear->out / MODEL_PANEL; panel++) {
        const float *bias = linear->bias + panel * MODEL_PANEL;

        for (size_t from = 0; from < input->count; from += ROWS) {
            size_t count = input->count - from < ROWS ? input->count - from : ROWS;
            union sums sums;

            add_floats(linear, panel, input->rows + from * linear->in, count, &sums);
            for (size_t row = 0; row < count; row++) {
                add_bias(bias, sums.floats[row]);
                finish(sums.floats[row], then,
                       output + (from + row) * linear->out + panel * MODEL_PANEL);
            }
        }
    }
}

/* Returns the results of a row in `results`. */
static void scale_row(const struct model_linear *linear, size_t panel, float row_scale,
                      const int32_t sums[MODEL_PANEL], float results[MODEL_PANEL])
{
    const float *scales = linear->scales + panel * MODEL_PANEL;
    const float *bias = linear->bias + panel * MODEL_PANEL;

    for (size_t j = 0; j < MODEL_PANEL; j++) {
        results[j] = (float)sums[j] * (row_scale * scales[j]) + bias[j];
    }
}

void linear_apply(const struct model_linear *linear, enum linear_path path,
                  const struct linear_input *input, enum linear_then then, float *output)
{
    if (linear->scales == NULL) {
        apply_floats(linear, input, then, output);
        return;
    }
    for (size_t row = 0; row < input->count; row++) {
        input->row_scales[row] = round_row(input->rows + row * linear->in, linear->in,
                                           input->rounded + row * linear->in);
    }
    for (size_t panel = 0; panel < linear->out / MODEL_PANEL; panel++) {
        for (size_t from = 0; from < input->count; from += ROWS) {
            size_t count = input->count - from < ROWS ? input->count - from : ROWS;
            float results[MODEL_PANEL];
            union sums sums;

            add_integers(linear, path, panel, input->rounded + from * linear->in, count, &sums);
            for (size_t row = 0; row < count; row++) {
                scale_row(linear, panel, input->row_scales[from + row], sums.integers[row],
                          results);
                finish(results, then, output + (from + row) * linear->out + panel * MODEL_PANEL);
            }
        }
    }
}
